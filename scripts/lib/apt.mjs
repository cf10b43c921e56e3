// Debian's and Ubuntu's packages, for the two things that have no other source everywhere: the compiler whose standard
// library can be built for WebAssembly, and browsers. Only as root or with a sudo that asks nothing.
import { exists, run, say } from './process.mjs';

let updated = false;

/** The words to put before `apt-get`, or undefined where packages cannot be installed. */
export async function privileged() {
  if (!(await exists('apt-get'))) return undefined;
  if (process.getuid?.() === 0) return [];
  try {
    await run('sudo', ['-n', 'true'], { output: 'quiet' });
    return ['sudo', '-n'];
  } catch {
    return undefined;
  }
}

/** Whether what apt says it would install has a package that only fetches a snap, as Ubuntu's browsers are. */
export const bringsSnap = (simulated) => /^Inst (?:snapd |\S+ (?:\[\S+\] )?\(\S*\dsnap\d)/m.test(simulated);

/** Installs packages quietly, none that are snaps. Resolves to whether they are there now. */
export async function aptInstall(area, packages) {
  const prefix = await privileged();
  if (!prefix) return false;
  say(area, `installing ${packages.join(' ')} with apt`);
  const apt = async (...args) => {
    const words = [...prefix, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq', ...args];
    return run(words[0], words.slice(1), { output: 'quiet', seconds: 900 });
  };
  const install = ['install', '-y', '--no-install-recommends', ...packages];
  try {
    if (!updated) await apt('update');
    updated = true;
    if (bringsSnap(await apt('--simulate', ...install))) {
      say(area, 'not done: it would be a snap');
      return false;
    }
    await apt(...install);
    return true;
  } catch (error) {
    say(area, `apt: ${error.output?.trim().split('\n').pop() || error.message}`);
    return false;
  }
}

/** Version of an installed package, or undefined. */
export async function aptVersion(name) {
  try {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg's own placeholders
    const text = await run('dpkg-query', ['-W', '-f', '${db:Status-Status} ${Version}', name], { output: 'quiet' });
    const [status, version] = text.trim().split(' ');
    return status === 'installed' ? version : undefined;
  } catch {
    return undefined;
  }
}
