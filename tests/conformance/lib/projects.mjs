// The projects: a folder each, with a `conformance.json` that says why it is there.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PLACEHOLDER, projectsFolder } from './places.mjs';

/**
 * `habit` is what sets the project apart from the others; with `subset` it is part of the short run.
 * @typedef {{ name: string, habit: string, subset: boolean }} Project
 */

/** All projects by name, or those that are named. @param {string[]} [names] @returns {Project[]} */
export function readProjects(names = []) {
  const all = readdirSync(projectsFolder).sort();
  const unknown = names.filter((name) => !all.includes(name));
  if (unknown.length > 0) throw new Error(`no such project: ${unknown.join(', ')}`);
  return all
    .filter((name) => names.length === 0 || names.includes(name))
    .map((name) => {
      const about = JSON.parse(readFileSync(join(projectsFolder, name, 'conformance.json'), 'utf8'));
      return { name, habit: about.habit, subset: about.subset === true };
    });
}

/**
 * Puts a fresh copy of a project into a folder, with the registry's address in its lock if it has one.
 * @param {Project} project @param {string} folder @param {string} registry address, ending with a slash
 */
export function copyProject(project, folder, registry) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(join(projectsFolder, project.name), folder, {
    recursive: true,
    filter: (path) => !path.endsWith('conformance.json'),
  });
  const lock = join(folder, 'package-lock.json');
  if (existsSync(lock)) writeFileSync(lock, withAddress(readFileSync(lock, 'utf8'), registry));
}

/** @param {string} text @param {string} registry */
export const withAddress = (text, registry) => text.replaceAll(PLACEHOLDER, registry);
/** @param {string} text @param {string} registry */
export const withoutAddress = (text, registry) => text.replaceAll(registry, PLACEHOLDER);
