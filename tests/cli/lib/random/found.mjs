// What random scenarios found to differ once, each as small as it became. The version that comes last is the latest.

/** A scenario of a name, the packages by `name@version`, the project's files and what is done: commands, and `rm` of a path. */
function scenario(name, packages, files, steps, options = ['--package-lock-only']) {
  const universe = {};
  for (const [id, fields] of Object.entries(packages)) {
    const at = id.indexOf('@', 1);
    const [package_, version] = [id.slice(0, at), id.slice(at + 1)];
    universe[package_] ??= { tags: {}, versions: {} };
    universe[package_].versions[version] = fields;
    universe[package_].tags.latest = version;
  }
  const step = (words) => (words.startsWith('rm ') ? { remove: words.slice(3) } : { run: words.split(' ') });
  return { name, universe, files, options, steps: steps.map(step) };
}

const peers = (peerDependencies) => ({ peerDependencies });

/** Packages that bring w along, or list it, and w, which needs x. */
const BRINGING = {
  'b@1.0.0': { dependencies: { w: '1' }, bundleDependencies: ['w'], carries: { w: { version: '1.0.0' } } },
  's@1.0.0': { dependencies: { w: '1' }, shrinkwrap: { 'node_modules/w': '1.0.0' } },
  'w@1.0.0': { dependencies: { x: '1' } },
  'x@1.0.0': {},
};
/** A project in which w is for development, and comes along with b. */
const DEVELOPING = { 'package.json': { dependencies: { b: '1' }, devDependencies: { w: '1' } } };
/** The same, of workspaces. */
const DEVELOPING_TOGETHER = {
  'package.json': { devDependencies: { w: '1' }, workspaces: ['packages/*'] },
  'packages/l/package.json': { name: 'ws-l', dependencies: { b: '1' } },
  'packages/m/package.json': { name: 'ws-m', dependencies: { x: '1' } },
};

export const FOUND = [
  scenario(
    'an empty range stays where the prerelease that was installed is not in it',
    { 'c@2.0.0-rc.1': {} },
    { 'package.json': { peerDependencies: { c: '' } } },
    ['install c'],
  ),
  scenario(
    'what is optional and for development is saved as for development',
    { 'n@2.1.0': {} },
    { 'package.json': { devDependencies: { n: '>=2.1.0' }, optionalDependencies: { n: '2.1.0' } } },
    ['install n@2.1.0'],
  ),
  scenario(
    'a workspace whose dependency another workspace is not is looked at before others',
    {
      'm@2.0.0': peers({ x: '^2.1.0' }),
      'p@2.0.0-rc.1': {},
      'x@2.1.0': {},
      'x@2.0.0': {},
    },
    {
      'package.json': { workspaces: ['packages/*'] },
      'packages/m/package.json': { name: 'p', dependencies: { x: '2.0.0' } },
      'packages/z/package.json': { devDependencies: { p: 'latest', m: '2' } },
    },
    ['install'],
  ),
  scenario(
    'an optional package that lacks something that it needs is in the lock, and not in the tree',
    { 'j@3.1.0': { dependencies: { nowhere: '2.x' } }, 'y@1.0.0': {} },
    { 'package.json': { dependencies: { y: '1' }, optionalDependencies: { j: '3' } } },
    ['install', 'update', 'install'],
    [],
  ),
  scenario(
    'overrides that contradict the project have its dependency stay as well',
    { 'p@2.0.0': {} },
    { 'package.json': { dependencies: { p: '~2.0.0' }, overrides: { p: '2' } } },
    ['install', 'uninstall p', 'install p@2', 'update'],
  ),
  scenario(
    'what a tarball brings along has no integrity in a lock of version 1, also where that was brought up to date',
    {
      'f@2.2.0': { dependencies: { t: '2' }, bundleDependencies: ['t'], carries: { t: { version: '2.0.0' } } },
      't@2.0.0': {},
    },
    { 'package.json': { dependencies: { f: '2' } } },
    ['install', 'install'],
    ['--package-lock-only', '--lockfile-version=1'],
  ),
  scenario(
    'an optional folder that lacks something stays where it is',
    { 'y@1.0.0': {} },
    {
      'package.json': { optionalDependencies: { folder: 'file:folder' } },
      'folder/package.json': { name: 'folder', version: '1.0.0', dependencies: { y: '3.1.0' } },
    },
    ['install'],
    [],
  ),
  scenario(
    'an optional folder for other machines has no link',
    {},
    {
      'package.json': { optionalDependencies: { folder: 'file:folder' } },
      'folder/package.json': { name: 'folder', version: '1.0.0', os: ['win32'] },
    },
    ['install'],
    [],
  ),
  scenario(
    'a package that bundles, wanted for development and as an optional one, is marked as both',
    {
      'd@1.0.0': { dependencies: { u: '1' } },
      'u@1.0.0': { dependencies: { w: '1' }, bundleDependencies: ['w'], carries: { w: { version: '1.0.0' } } },
      'w@1.0.0': {},
    },
    { 'package.json': { devDependencies: { d: '1' }, optionalDependencies: { u: '1' } } },
    ['install'],
  ),
  scenario(
    'an optional package is noted among the ordinary ones as it is saved, or as it was asked for',
    { 'c@2.0.0': {}, 'd@1.0.0': {} },
    { 'package.json': { optionalDependencies: { c: '^2.0.0' } } },
    ['install c@latest', 'install c', 'install c@2', 'install d@1 --save-optional', 'install c d'],
  ),
  scenario(
    'what a package lists in a shrinkwrap is taken over as it is listed, and what it does not list stays missing',
    {
      'r@2.0.0': { dependencies: { x: '2', y: '1' }, shrinkwrap: { 'node_modules/y': '1.0.0' } },
      'x@2.1.0': {},
      'y@1.0.0': {},
    },
    { 'package.json': { dependencies: { r: '2' } } },
    ['install', 'ci', 'install'],
    [],
  ),
  scenario(
    'a lock alone says nothing of what the licenses in a shrinkwrap are',
    { 'r@2.0.0': { dependencies: { y: '1' }, shrinkwrap: { 'node_modules/y': '1.0.0' } }, 'y@1.0.0': {} },
    { 'package.json': { dependencies: { r: '2' } } },
    ['install', 'install'],
  ),
  scenario(
    'prune looks into no package where it makes a lock alone',
    { 'r@2.0.0': { dependencies: { y: '1' }, shrinkwrap: { 'node_modules/y': '1.0.0' } }, 'y@1.0.0': {} },
    { 'package.json': { dependencies: { r: '2' } } },
    ['prune'],
  ),
  scenario(
    'what a package for development brings along or lists is not known where it is left out',
    {
      's@1.0.0': { dependencies: { w: '1' }, shrinkwrap: { 'node_modules/w': '1.0.0' } },
      't@1.0.0': { dependencies: { w: '1' }, bundleDependencies: ['w'], carries: { w: { version: '1.0.0' } } },
      'w@1.0.0': {},
    },
    { 'package.json': { devDependencies: { s: '1', t: '1' } } },
    ['install --omit=dev', 'install'],
    [],
  ),
  scenario(
    'what a package of another workspace brings along is not known where only one is installed',
    {
      't@1.0.0': { dependencies: { w: '1' }, bundleDependencies: ['w'], carries: { w: { version: '1.0.0' } } },
      'w@1.0.0': {},
    },
    {
      'package.json': { workspaces: ['packages/*'] },
      'packages/l/package.json': { name: 'ws-l', dependencies: { t: '1' } },
      'packages/m/package.json': { name: 'ws-m' },
    },
    ['install --workspace=ws-m', 'install'],
    [],
  ),
  scenario(
    'what is for development below a linked folder is for this machine also where it is left out',
    { 'a@1.0.0': { cpu: ['arm64'] }, 'a@1.1.0': {} },
    {
      'package.json': { devDependencies: { a: '1.1.0', folder: 'file:folder' } },
      'folder/package.json': { name: 'folder', devDependencies: { a: '1.0.0' } },
    },
    ['install --omit=dev'],
  ),
  scenario(
    'dedupe leaves an optional peer alone where nothing is there twice',
    {
      'b@1.0.0': { ...peers({ w: '1' }), peerDependenciesMeta: { w: { optional: true } } },
      'w@1.0.0': {},
      'w@3.0.0': {},
    },
    { 'package.json': { dependencies: { b: '1', w: '3' } } },
    ['dedupe'],
  ),
  scenario(
    'update --save leaves peers alone that are ignored',
    { 'q@1.1.0': {}, 'u@3.0.0': { dependencies: { q: '>=1.1.0' } } },
    { 'package.json': { dependencies: { u: '3' }, peerDependencies: { q: 'latest' } } },
    ['update --save'],
    ['--package-lock-only', '--legacy-peer-deps'],
  ),
  scenario(
    'yarn.lock is of the workspaces that are installed',
    { 'b@3.0.0': {}, 'c@1.0.0': {} },
    {
      'package.json': { devDependencies: { b: '*' }, workspaces: ['packages/*'] },
      'packages/l/package.json': { name: 'ws-l', dependencies: { c: '1' } },
      'yarn.lock': [{ specs: ['c@1'], fields: { version: '1.0.0' } }],
    },
    ['install --workspace=ws-l'],
    [],
  ),
  scenario(
    'what is for development and comes along with another package is not known to be until the next install',
    BRINGING,
    DEVELOPING,
    ['install', 'install', 'ci', 'install s', 'uninstall b', 'install b', 'update', 'update x'],
    [],
  ),
  scenario(
    'what is for development and comes along with another package is installed where the first install omits it',
    BRINGING,
    DEVELOPING,
    ['install --omit=dev', 'install --omit=dev', 'install'],
    [],
  ),
  scenario(
    'what is for development and listed by another package is not known to be until the next install',
    BRINGING,
    { 'package.json': { dependencies: { s: '1' }, devDependencies: { w: '1' } } },
    ['install', 'ci', 'install'],
    [],
  ),
  scenario(
    'what a package for development brings along says nothing where it is omitted',
    BRINGING,
    { 'package.json': { devDependencies: { b: '1', s: '1' }, optionalDependencies: { w: '1' } } },
    ['install --omit=dev', 'install', 'install'],
    [],
  ),
  scenario('prune knows nothing of what packages bring along where it makes a lock alone', BRINGING, DEVELOPING, [
    'prune',
    'install',
  ]),
  scenario(
    'what the tree says its packages are there for is believed where there is no lock',
    BRINGING,
    DEVELOPING,
    ['install', 'rm package-lock.json', 'install', 'install', 'rm package-lock.json', 'install'],
    [],
  ),
  scenario(
    'what the tree says its packages are there for is not believed where the project asks for one in two ways',
    BRINGING,
    { 'package.json': { dependencies: { b: '1' }, devDependencies: { w: '1' }, peerDependencies: { w: '1' } } },
    ['install', 'rm package-lock.json', 'install'],
    [],
  ),
  scenario(
    'what another package brings along is not installed twice for a workspace that was not installed before',
    BRINGING,
    DEVELOPING_TOGETHER,
    ['install --workspace=ws-m', 'install --workspace=ws-l', 'install'],
    [],
  ),
  scenario(
    'the hidden lock of a part of the project says what the whole lock says that packages are there for',
    BRINGING,
    DEVELOPING_TOGETHER,
    ['install --no-workspaces', 'install --workspace=ws-l', 'install --workspace=ws-l --include-workspace-root'],
    [],
  ),
  scenario(
    'what a package brings along has no say in where others go where it is unpacked',
    {
      'a@2.0.0': {},
      'a@3.0.0': { dependencies: { h: '1' }, bundleDependencies: ['h'], carries: { h: { version: '2.0.0' } } },
      'g@1.0.1': { optionalDependencies: { x: '2', a: '3' } },
      'h@1.2.0': peers({ a: '2' }),
      'q@2.2.0-beta.1': peers({ g: '1.0.1' }),
      'q@1.2.0': { optionalDependencies: { x: 'npm:q@^2.2.0-beta.1' } },
      'x@2.0.0': peers({ h: '1' }),
    },
    { 'package.json': { peerDependencies: { q: 'v1.2.0' } } },
    ['install', 'install'],
    [],
  ),
  scenario(
    'what is in a tarball without a version is not noted where that is unpacked',
    { 'a@1.0.0': { dependencies: { h: '1' }, bundleDependencies: ['h'], carries: { h: {} } }, 'h@1.0.0': {} },
    { 'package.json': { dependencies: { a: '1' } } },
    ['install', 'ci'],
    [],
  ),
  scenario(
    'what a shrinkwrap listed without a license has none when what it needs is installed anew',
    {
      'b@2.2.0-beta.1': { dependencies: { d: '1' } },
      'b@2.1.0': { shrinkwrap: { 'node_modules/d': '1.0.1' } },
      'd@1.0.1': {},
      'e@1.0.1': { dependencies: { b: '2' } },
    },
    { 'package.json': { workspaces: ['packages/*'] }, 'packages/l/package.json': { dependencies: { e: '1' } } },
    ['install', 'install b@2.2.0-beta.1'],
    [],
  ),
  scenario(
    'update --save leaves a workspace alone of which another one asks for exactly one version',
    {},
    {
      'package.json': { workspaces: ['packages/*'] },
      'packages/m/package.json': { devDependencies: { 'ws-z': '2.0.0' } },
      'packages/z/package.json': { name: 'ws-z', version: '2.0.0' },
    },
    ['update --save'],
    [],
  ),
  scenario(
    'the dependencies of an old lock are there for what its packages are there for',
    {
      'c@1.2.0': {},
      'c@2.0.0': {},
      'y@1.2.0': { ...peers({ c: '1.2.0' }), shrinkwrap: { 'node_modules/c': '2.0.0' } },
    },
    { 'package.json': { devDependencies: { y: '1' } } },
    ['install'],
    ['--lockfile-version=2'],
  ),
  scenario(
    'yarn.lock has what is for other machines where it would have nothing else',
    { 'u@1.0.0': { os: ['win32'] } },
    { 'package.json': { optionalDependencies: { u: '1' } }, 'yarn.lock': [] },
    ['install'],
  ),
  scenario(
    'commands of what a workspace has for itself go with it',
    { 'n@1.0.0': {}, 'n@2.0.0': { bin: { tool: 'cli.js' } } },
    {
      'package.json': { dependencies: { n: '1' }, workspaces: ['packages/*'] },
      'packages/l/package.json': { name: 'ws-l', dependencies: { n: '2' } },
    },
    ['install', 'uninstall n --workspace=ws-l'],
    [],
  ),
  {
    ...scenario(
      'what a workspace had for itself goes also where no hidden lock tells of it',
      { 'n@1.0.0': {}, 'n@2.0.0': { bin: { tool: 'cli.js' } } },
      {
        'package.json': { dependencies: { n: '1' }, workspaces: ['packages/*'] },
        'packages/l/package.json': { name: 'ws-l', dependencies: { n: '2' } },
      },
      [],
      [],
    ),
    steps: [
      { run: ['install'] },
      { remove: 'node_modules/.package-lock.json' },
      { run: ['uninstall', 'n', '--workspace=ws-l'] },
    ],
  },
  scenario(
    'what a workspace adds and the project has by an alias is saved by that',
    { 'y@2.0.0': {}, 'c@1.0.1': {} },
    {
      'package.json': { dependencies: { c: 'npm:y@^2.0.0' }, workspaces: ['packages/*'] },
      'packages/l/package.json': {},
    },
    ['install c --save-peer --workspace=packages'],
  ),
  scenario(
    'what a shrinkwrap does not list and somebody in it needs has a license in the lock',
    {
      'a@1.0.0': { dependencies: { x: '1' } },
      'k@2.0.0': { dependencies: { b: '1' }, shrinkwrap: { 'node_modules/b': '1.0.0', 'node_modules/x': '1.0.0' } },
      'k@1.0.0': {},
      'b@1.0.0': { dependencies: { x: '1' } },
      'n@1.0.0': { dependencies: { k: '2' } },
      'x@1.0.0': { dependencies: { k: '1', n: '1' } },
    },
    { 'package.json': {} },
    ['install a', 'install'],
    [],
  ),
  scenario(
    'what the project asks for under the name of a workspace does not keep it from being saved anew',
    {},
    {
      'package.json': { optionalDependencies: { c: '2.0.0' }, workspaces: ['packages/*'] },
      'packages/l/package.json': { name: 'c', version: '2.0.0' },
    },
    ['update --save'],
  ),
];
