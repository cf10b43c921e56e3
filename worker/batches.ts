/**
 * Messages between the pool and its workers, several in one.
 *
 * A message costs a browser the same whatever it carries, and wakes the thread that it is for. What is said without anything
 * being waited for in between, as by jobs that ended together, goes together.
 */

/** What is given to the function that comes back is given to `post` when the present task has run as far as it gets. */
export function batched<Message>(post: (messages: Message[]) => void): (message: Message) => void {
  let waiting: Message[] = [];
  return (message) => {
    if (waiting.push(message) > 1) return;
    queueMicrotask(() => {
      const messages = waiting;
      waiting = [];
      post(messages);
    });
  };
}
