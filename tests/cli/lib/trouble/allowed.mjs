// With which codes a command of a random course may fail, and why; all others are problems.
import { isAsking, isInstall } from './calls.mjs';

/** What an error of these names a package for. */
const OF_PACKAGES = /^(REGISTRY|ARCHIVE|RESOLVE)_/;

/** `calls`: all that ran at the same time. `isDamaged`: whether packages in the store were damaged. */
export function allowedCodes(call, { trouble, calls, isDamaged }) {
  const allowed = new Set();
  const allow = (isAllowed, ...codes) => {
    if (isAllowed) for (const code of codes) allowed.add(code);
  };
  const { project, action, isOffline, isStale, signal } = call;
  const others = calls.filter((other) => other !== call);
  const isShared = others.some((other) => other.project === project);
  allow(signal !== undefined, 'CANCELLED');
  allow(isAsking(call) && trouble !== undefined, ...(trouble?.codes ?? []));
  allow(isAsking(call) && isOffline, 'REGISTRY_NOT_CACHED');
  // What is kept may be of before what was published since.
  allow(isAsking(call) && isStale, 'RESOLVE_NO_MATCHING_VERSION');
  allow(isAsking(call) && isShared, 'PROJECT_BUSY');
  allow(action === 'ci' && (project.lock === undefined || isShared), 'LOCK_MISSING');
  allow(action === 'ci' && (project.isEdited || project.isTorn || isShared), 'LOCK_OUT_OF_SYNC');
  allow(action === 'why' || action === 'explain', 'PACKAGE_UNKNOWN', 'LOCK_MISSING');
  allow(action === 'store verify' && isDamaged, 'STORE_CORRUPT');
  allow(isInstall(call) && isOffline && isDamaged, 'STORE_CORRUPT');
  return { allowed, isOfPackage: (code) => OF_PACKAGES.test(code) };
}
