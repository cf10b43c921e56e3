// Where the suite's files are: what is committed, what is only kept in the user's cache, and the programs that run.
import { homedir } from 'node:os';
import { join } from 'node:path';
import { inRoot } from '../../../scripts/lib/paths.mjs';

const suite = inRoot('tests', 'conformance');

/** One folder for each project. */
export const projectsFolder = join(suite, 'projects');
/** The pruned recording, npm's locks and what is known of both. */
export const dataFolder = join(suite, 'data');
/** Dated tables. */
export const runsFolder = join(suite, 'runs');
/** What each project is expected to reach, and why it does not reach more. */
export const expectationsFile = join(suite, 'expected.json');
export const explanationsFile = join(suite, 'explanations.json');

const cache =
  process.env.GANTRY_CONFORMANCE_CACHE ||
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'gantry', 'conformance');
/** The recording as it came, which only recording needs: never in git. */
export const rawRecording = join(cache, 'recording');
/** npm's locks from it. */
export const rawLocks = join(cache, 'locks');

/** The npm of package-lock.json: it is the judge, whatever npm the user has. */
export const npmScript = inRoot('node_modules', 'npm', 'bin', 'npm-cli.js');

/** What stands for the registry's address in everything that is kept; the replay registry uses the same. */
export const PLACEHOLDER = 'http://recording.invalid/';
