// How a command has to say that it failed.

/** Exit statuses by what a code begins with. */
const STATUSES = [
  [/^CANCELLED$/, [129, 130, 143]],
  [/^ARCHIVE_/, [5]],
  [/^(REGISTRY|HTTP|PACKUMENT)_/, [3]],
  [/^(DISK|STORE|TASK|PROJECT)_/, [4]],
  [/./, [1]],
];

/** What only programmers understand. */
const RAW = /\bOs \{|Error \{|\bkind: |\bSome\(|\bErr\(|Custom \{/;

/** What is wrong with how a command failed; nothing if it is as it should be. `folder`: where all files are. */
export function checkFailure({ status, error, stderr }, folder) {
  const problems = [];
  const [, statuses] = STATUSES.find(([pattern]) => pattern.test(error.code));
  if (!statuses.includes(status)) problems.push(`exit status ${status} for ${error.code}`);
  if (RAW.test(error.message) || RAW.test(stderr)) problems.push('raw output');
  if (/^(DISK|STORE|PROJECT)_/.test(error.code) && !error.message.includes(folder)) problems.push('no file is named');
  if (/^(DISK|STORE|PROJECT|CANCELLED)/.test(error.code) && !error.hint) problems.push('it does not say what to do');
  return problems;
}
