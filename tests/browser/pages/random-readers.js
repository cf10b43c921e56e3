// The worker of a tab of the random test that reads a project by itself (random-tab.js, random-worker.js).

/** The browser's: random-tab.js, which runs after this, puts one in its place that notes the workers of the store. */
const Worker = globalThis.Worker;
let reader;
let nextQuestion = 1;
const questions = new Map();

function ask(action, argument) {
  reader ??= startReader();
  const id = nextQuestion++;
  return new Promise((resolve, reject) => {
    questions.set(id, { resolve, reject });
    reader.postMessage({ id, action, argument });
  });
}

function startReader() {
  const worker = new Worker('/pages/random-worker.js', { type: 'module' });
  worker.onmessage = ({ data: { id, result, error } }) => {
    const question = questions.get(id);
    questions.delete(id);
    if (error) question?.reject(error);
    else question?.resolve(result);
  };
  return worker;
}

export const readers = {
  openReader: ({ project }) => ask('open', project),
  refreshReader: () => (reader ? ask('refresh') : undefined),
  readReader: () => (reader ? ask('read') : undefined),
  closeReader: () => (reader ? ask('close') : undefined),
  endReader() {
    reader?.terminate();
    reader = undefined;
    for (const { reject } of questions.values()) reject({ code: 'ENDED', message: 'The worker was ended' });
    questions.clear();
  },
};
