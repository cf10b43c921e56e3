// What a registry may do wrong in a random course of the command, and with which codes a command may fail therefore.

/** Each with the codes that may come of it, of documents and of tarballs. */
const FAULTS = [
  [{ kind: 'reset' }, ['REGISTRY_UNREACHABLE']],
  [{ kind: 'hang' }, ['REGISTRY_TIMEOUT']],
  [{ kind: 'hang in body' }, ['REGISTRY_TIMEOUT']],
  [{ kind: 'corrupt' }, ['ARCHIVE_INTEGRITY']],
  [{ kind: 'cut' }, ['REGISTRY_UNREACHABLE']],
  [{ kind: 'html' }, ['REGISTRY_PACKUMENT', 'ARCHIVE_INTEGRITY']],
  [{ kind: 'empty' }, ['REGISTRY_PACKUMENT', 'ARCHIVE_INTEGRITY']],
  [{ kind: 'half' }, ['REGISTRY_PACKUMENT', 'ARCHIVE_INTEGRITY']],
  [{ kind: 'gzip garbage' }, ['REGISTRY_UNREACHABLE']],
  [{ kind: 'circle' }, ['REGISTRY_UNREACHABLE']],
  [{ kind: 'not modified' }, ['REGISTRY_STATUS']],
  [{ kind: 'status', status: 401 }, ['REGISTRY_UNAUTHORIZED']],
  [{ kind: 'status', status: 403 }, ['REGISTRY_UNAUTHORIZED']],
  [{ kind: 'status', status: 404 }, ['REGISTRY_NOT_FOUND', 'RESOLVE_PACKAGE_NOT_FOUND']],
  [{ kind: 'status', status: 408 }, ['REGISTRY_STATUS']],
  [{ kind: 'status', status: 429 }, ['REGISTRY_STATUS']],
  [{ kind: 'status', status: 429, retryAfter: '3600' }, ['REGISTRY_STATUS']],
  [{ kind: 'status', status: 500 }, ['REGISTRY_STATUS']],
  [{ kind: 'status', status: 503, retryAfter: '0' }, ['REGISTRY_STATUS']],
  [{ kind: 'status', status: 503, retryAfter: 'Fri, 31 Dec 1999 23:59:59 GMT' }, ['REGISTRY_STATUS']],
];

/** A fault with the share of requests that it is played to, and the codes that it explains; none is the most usual. */
export function makeTrouble(dice) {
  if (dice.chance(0.45)) {
    const [fault, codes] = dice.one(FAULTS);
    return { fault, codes, share: dice.one([0.1, 0.5, 1]) };
  }
  if (!dice.chance(0.3)) return undefined;
  return { fault: { kind: 'slow', milliseconds: dice.one([20, 100, 200]) }, codes: [], share: 1 };
}
