// Writes the vector files beside this one: inputs and what npm's own packages answer for them. The tests in
// `../vectors.rs` ask this crate the same questions.
//
//   node generate.mjs [--seed 1] [--scale 1] [--out <folder>]
//
// The same seed and the same npm give the same files. A larger scale gives more cases of each kind, for hunting
// differences by hand; the files that are kept are of scale 1.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values: settings } = parseArgs({
  options: { seed: { type: 'string' }, scale: { type: 'string' }, out: { type: 'string' } },
})
const scale = Number(settings.scale ?? 1)
const out = settings.out ?? path.dirname(fileURLToPath(import.meta.url))

const globalRoot = execFileSync('npm', ['root', '-g'], { encoding: 'utf8' }).trim()
const require = createRequire(path.join(globalRoot, 'npm', 'package.json'))
const semver = require('semver')
const npa = require('npm-package-arg')
const validateName = require('validate-npm-package-name')

// --- chance, repeatable ---------------------------------------------------------------------------------------
let state = Number(settings.seed ?? 1) >>> 0
const random = () => {
  state = (state + 0x6d2b79f5) >>> 0
  let mixed = Math.imul(state ^ (state >>> 15), state | 1)
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
}
const below = limit => Math.floor(random() * limit)
const pick = list => list[below(list.length)]
const chance = share => random() < share
const repeat = (least, most, make) => Array.from({ length: least + below(most - least + 1) }, make)
const collect = (fixed, count, make) => {
  const seen = new Set(fixed)
  for (let attempts = 0; seen.size < fixed.length + count * scale && attempts < 50 * count * scale; attempts++) {
    seen.add(make())
  }
  return [...seen]
}
const mutate = (text, alphabet, most = 3) => {
  let changed = text
  for (let left = 1 + below(most); left > 0; left--) {
    const at = below(changed.length + 1)
    const kind = below(3)
    changed = changed.slice(0, at) + (kind === 0 ? '' : pick(alphabet)) + changed.slice(kind === 1 ? at : at + 1)
  }
  return changed
}
const attempt = (action, otherwise = null) => {
  try {
    return action()
  } catch {
    return otherwise
  }
}
const write = (file, value) => {
  // One case per line, so that a change of npm's answers is a readable diff.
  const lines = list => '[\n' + list.map(item => JSON.stringify(item)).join(',\n') + '\n]'
  const text = Array.isArray(value)
    ? lines(value)
    : '{\n' + Object.entries(value).map(([key, list]) => `${JSON.stringify(key)}: ${lines(list)}`).join(',\n') + '\n}'
  writeFileSync(path.join(out, file), text + '\n')
}

// --- versions -------------------------------------------------------------------------------------------------
const MAX = '9007199254740991'
const oddNumbers = ['00', '01', '007', MAX, '9007199254740990', '9007199254740992', '900719925474099', '900719925474100',
  '999999999999999999999', '1000000000000000000000', '99999999999999999999999', '1e3', '', '-1', 'x']
const number = () => (chance(0.9) ? String(chance(0.7) ? below(4) : below(30)) : pick(oddNumbers))
const prereleases = ['-0', '-1', '-alpha', '-alpha.1', '-alpha.2', '-beta', '-rc.1', '-rc.10', '-rc.2', '-rc1', '-x', '-X.1',
  '-01', '-0a', '-00', '-a.b.c', '-1.2.3', '-', '--', '---', '-a-b', '-a.-', '-a..b', '-a.', '-.a', 'alpha', 'a', 'beta2',
  'pre.1', '.5', '.0', '-' + MAX, '-9007199254740990', '-9007199254740992', '-next.20200101', '-canary.0', '-é', '-a_b']
const builds = ['+build', '+1', '+001', '+a.b', '+sha.5114f85', '+', '+a+b', '+a.', '+-', '+é', '+10', '+2']
const prefixes = ['v', '=', 'V', '=v', 'v=', '==', ' ', 'v ', '= ', '\t', '\ufeff', '\u00a0', '\u0085', 'vv', ' v']
const triple = () => `${number()}.${number()}.${number()}`
const tail = share => (chance(share) ? pick(prereleases) : '') + (chance(share / 3) ? pick(builds) : '')
const version = () => triple() + tail(0.4)
const versionAlphabet = [...'0123456789.-+vx=a Z*\t', '..', '-rc', MAX]
const fixedVersions = ['', ' ', '1.2.3', 'v1.2.3', '=1.2.3', ' 1.2.3 ', '1.2.34.5', '1.2.3.4', '1.2.30.5-a', '1.2.34.5+b', '1.2.3-',
  `${MAX}.${MAX}.${MAX}`, '9007199254740992.0.0', '0.0.0', '1.2', '1', '1.2.3-0', '1.2.3-00', '1.2.3+b', '1.2.3-a+b',
  '1.2.3' + ' '.repeat(251), '1.2.3' + ' '.repeat(252), '1.2.3-' + 'a'.repeat(250), '1.2.3-' + 'a'.repeat(251),
  '1.2.3-1' + 'a'.repeat(249), '1.2.3+' + 'a'.repeat(250), '0.'.repeat(2) + '1'.repeat(252), '1.2.3-' + '1'.repeat(250),
  '1.2.3-' + '9'.repeat(60), '1.2.3\n', 'é1.2.3', '1.2.3é', '１.2.3', '1.2.3-é']
const makeVersion = () => {
  const text = (chance(0.15) ? pick(prefixes) : '') + version() + (chance(0.05) ? pick([' ', '\n', '.', 'x']) : '')
  return chance(0.2) ? mutate(text, versionAlphabet) : text
}
const versionTexts = collect(fixedVersions, 700, makeVersion)
const versionCases = versionTexts.map(text => {
  const parsed = semver.parse(text, true)
  return parsed ? [text, parsed.version, parsed.prerelease.length, parsed.build.join('.'), semver.valid(text) !== null] : [text, null]
})
const goodVersions = versionTexts.filter(text => semver.valid(text, true))
const comparisons = Array.from({ length: 1000 * scale }, () => {
  const left = pick(goodVersions)
  const right = chance(0.5) ? pick(goodVersions) : semver.valid(left, true).replace(/-.*/, '') + tail(0.9)
  return [left, right]
}).filter(([, right]) => semver.valid(right, true))
  .map(([left, right]) => [left, right, semver.compare(left, right, true), semver.compareBuild(left, right, true)])
write('versions.json', { versions: versionCases, comparisons })

// --- ranges ---------------------------------------------------------------------------------------------------
const part = () => (chance(0.15) ? pick(['x', 'X', '*']) : number())
const partial = () => {
  const parts = repeat(1, 3, part)
  return parts.join('.') + (chance(0.2) ? tail(0.8) : '')
}
const operators = ['', '', '', '^', '^', '~', '~', '>', '>=', '<', '<=', '=', '~>', 'v', '=v', '==', '>v', '^v', '~v', '^=', '~=', '~>=',
  '> ', '>= ', '< ', '<= ', '= ', '^ ', '~ ', '~> ', '>=v', '> v ', '<>', '=>', '=<', '><', '!', '>==', '>= =', '^^', '~~', '~^', 'v ']
const simple = () => pick(operators) + (chance(0.6) ? version() : partial())
const rangeSeparators = [' ', ' ', ' ', ' ', '  ', '\t', ', ', ',', ' , ', ' && ', '', '\n']
const hyphens = [' - ', ' - ', ' - ', '  -  ', ' -', '- ', '-', ' \t- ', ' – ']
const alternative = () => {
  if (chance(0.15)) {
    const end = () => (chance(0.1) ? pick(['v', '= ', 'v ', '=', '^', '>']) : '') + (chance(0.5) ? version() : partial())
    return end() + pick(hyphens) + end() + (chance(0.05) ? ' ' + simple() : '')
  }
  if (chance(0.15)) {
    return pick(['>', '>=']) + version() + ' ' + pick(['<', '<=']) + version()
  }
  return repeat(1, chance(0.3) ? 3 : 1, simple).join(pick(rangeSeparators))
}
const orSeparators = ['||', ' || ', ' || ', '|', '|| ', ' ||', '||||', ' or ']
const makeRange = () => {
  const text = repeat(1, chance(0.3) ? 3 : 1, alternative).join(pick(orSeparators))
  return chance(0.25) ? mutate(text, rangeAlphabet) : text
}
const rangeAlphabet = [...'0123x*X.-+^~<>=|va \t', '||', ' - ', '>=', '\u00a0', '\ufeff', 'latest', '=*', MAX]
const fixedRanges = ['', ' ', '*', 'x', 'X', '||', ' || ', '* || 1', '1 || *', 'latest', '^', '~', '~>', '>', '<', '>=', '=', '-', ' - ', 'v',
  '^0', '^0.0', '^0.0.0', '^0.0.1', '^0.1.2', '^1', '^1.2', '^1.2.3', '^1.2.3-beta.2', '^0.0.3-beta', '^x', '^1.x', '^1.x.3', '^00.1.2', '^00',
  '^0.00.1', '^0.1.x', '^0.x', '~1', '~1.2', '~1.2.3', '~0', '~0.0.1', '~> 1.2', '~>1.2.3', '~1.2.3-beta.2', '~x', '~0.0.0', '~00.0.0',
  '>1', '>1.2', '>=1', '>=1.2', '<1', '<1.2', '<=1', '<=1.2', '>x', '<x', '>=x', '<=x', '=x', '>*', '<*', '>=*', '=1.2', '=1', '>1.x.3',
  '1.*.3', '*.1', 'x.1.2', '1.2.3*', '*1.2.3', '>*1.2.3', '**', '* *', 'foo *', '* foo', 'foo * bar', 'foo >=0.0.0 bar', '1.2.3 * 2',
  '>=0.0.0', '>= 0.0.0', '>=0.0.0-0', '>=00.0.0', '>=v0.0.0', '<0.0.0', '<0.0.0-0', '<0.0.0-alpha', '<=0.0.0', '<0', '<0.0 || 1', '<0 || <0',
  '1.2.3 - 2.3.4', '1.2 - 2.3', '1 - 2', '1.2.3 - 2', 'x - 2', '1 - x', '* - *', 'v1.2.3 - v2', 'v 1.2.3 - v 2.0.0', '= 1.2.3 - 2',
  '1.2.3-a - 2.0.0-b', '1.2.34.5 - 2', '1 - 2 - 3', '1 - 2 3', '1 -2', '1- 2', '> v 1.2.3', '> =1.2.3', '>= = 1.2.3', 'v= 1.2.3', '1.2.3= 4',
  '1.2.3-alpha.v= 1.2.3', '1.2.34.5', '^1.2.34.5', '1.2.x.5', '1.2.x-alpha', '1.2.3.4', '>1.2.3 <1.0.0', '>=1.0.0 <2.0.0 || >=3.0.0',
  '>=1.0.0-0 <2.0.0', '1.2.3+build', '^1.2.3+build', '>=0.0.0+b', '1.2.3++a+b', '1.2.3+', '1.2.3 || foo', 'foo || bar', '1.2.3 foo', '1.0.0 1.0.0',
  '>=1.0.0 >=1.0.0', '>=1.0.0,<2.0.0', `^${MAX}.0.0`, `~${MAX}`, `<=${MAX}`, `>${MAX}`, `>=${MAX}.0.0`, `1.0.0 - ${MAX}`, '<=9999999999999999999999',
  '<=9999999999999999999999 1.2.3', '>9999999999999999999999 1', '>1.9999999999999999999999 1', '<=999999999999999999999 1', '<=99999999999999999999 1',
  '1 - 99999999999999999999999', '1 - 2.99999999999999999999999', '<=' + '9'.repeat(310) + ' 1', '1.2.3-' + 'a'.repeat(251), '1.2.3-' + 'a'.repeat(252),
  '1.2.3-' + 'a'.repeat(252) + ' 2', '>=1.2.3-' + 'a'.repeat(250), '>= 0.10.x', '>= 4.0.0 <5 || >= 6', '>=4.0.0 node', '0.10 || 0.12 || 4', 'node >= 4',
  '>=14.0.0-', '^14 || >=16', '1.2.3 ||', '|| 1.2.3', '1 |2', '1\u00a0||\u00a02', '^1 ^2', '>=1 <3 >2', '=1.0.0 =2.0.0', '>x 1', '1 <x', '>2 <1 || 3',
  '>=0', '>=0.0', '>= 0', '<=0', '^0.0.0-0', '~0.0.0-0', '0.0.0-0 - 1', '0 - 1', '0.0.0 - 1.0.0', '^1.2.3--', '^1.2.3-', '1.2.3 -2.0.0', 'v1', 'v1.x', '=v1.2',
  '= = 1', '===1', '1.', '.1', '1..2', '1.2.', '^1.', '-1', '+1', '1 +b', '> 1 < 2', '>=1 || >=0.0.0', '>=0.0.0 || 1',
  '1 - 2 +b', '+b 1 - 2', '1 +b - 2', '1 - +b 2', '1 - 2 +a +b', 'foo +b']
const rangeTexts = collect(fixedRanges, 1200, makeRange)
const probes = ['0.0.0', '0.0.0-0', '0.0.0-alpha', '0.0.1', '0.0.1-0', '0.1.0', '0.1.2', '0.1.3-beta', '0.2.0-0', '1.0.0', '1.0.0-0', '1.0.0-rc.1',
  '1.0.1', '1.2.0', '1.2.2', '1.2.3', '1.2.3-0', '1.2.3-alpha', '1.2.3-alpha.2', '1.2.3-beta', '1.2.3-4.5', '1.2.4', '1.2.4-rc.2', '1.3.0-0', '1.3.0', '1.9.9',
  '2.0.0-0', '2.0.0-alpha', '2.0.0', '2.0.0-rc.1', '2.1.0', '2.2.2', '2.3.4', '2.3.5', '3.0.0-0', '3.0.0', '3.1.1-x', '3.3.3', '4.0.0', '10.0.0', '12.3.4',
  '20.0.0-rc.1', '29.29.29', `${MAX}.0.0`, `${MAX}.${MAX}.${MAX}`, `1.${MAX}.0`]
const bits = (text, options) => {
  const range = attempt(() => new semver.Range(text, options))
  return range === null ? '' : probes.map(probe => (range.test(probe) ? '1' : '0')).join('').replace(/.{1,4}/g, four =>
    parseInt(four.padEnd(4, '0'), 2).toString(16))
}
const LOOSE = { loose: true }
const LOOSE_ALL = { loose: true, includePrerelease: true }
const STRICT = {}
const STRICT_ALL = { includePrerelease: true }
// For each way of reading: the canonical text and one bit for each probe, as hex. Strict repeats are left out (0).
const rangeCases = rangeTexts.map(text => {
  const loose = [semver.validRange(text, LOOSE), bits(text, LOOSE), semver.validRange(text, LOOSE_ALL), bits(text, LOOSE_ALL)]
  const strict = [semver.validRange(text, STRICT), bits(text, STRICT), semver.validRange(text, STRICT_ALL), bits(text, STRICT_ALL)]
  return [text, ...loose, ...(JSON.stringify(loose) === JSON.stringify(strict) ? [0] : strict)]
})
write('ranges.json', { probes, ranges: rangeCases })

const small = () => {
  const numbers = () => `${below(3)}.${below(3)}.${below(3)}${chance(0.2) ? pick(['-0', '-alpha', '-1', '-beta.1']) : ''}`
  const one = () => (chance(0.08) ? pick(['*', 'x', '', '1', '0.x', '<0.0.0-0', '<0.0.0', '>=0.0.0']) : pick(['', '^', '~', '>', '>=', '<', '<=']) + numbers())
  const both = () => (chance(0.3) ? `${pick(['>', '>='])}${numbers()} ${pick(['<', '<='])}${numbers()}` : repeat(1, chance(0.3) ? 2 : 1, one).join(' '))
  return repeat(1, chance(0.25) ? 2 : 1, both).join(' || ')
}
const relationTexts = Array.from({ length: 1800 * scale }, () => {
  const left = chance(0.1) ? pick(rangeTexts) : small()
  return [left, chance(0.05) ? left : chance(0.1) ? pick(rangeTexts) : small()]
}).filter(pair => pair.every(text => semver.validRange(text, LOOSE) && semver.validRange(text, LOOSE_ALL)))
// intersects, subset, and the same two with prereleases; 2 = npm throws.
const relations = relationTexts.map(([left, right]) => [left, right, [LOOSE, LOOSE_ALL].map(options =>
  [semver.intersects, semver.subset].map(ask => attempt(() => Number(ask(left, right, options)), 2)).join('')).join('')])
write('relations.json', relations)

// --- names ----------------------------------------------------------------------------------------------------
const words = ['left-pad', 'node', 'http', 'React', 'a', 'A_b', 'x.js', 'some.name', '_x', '.x', '-x', 'é', 'a b', 'node_modules', 'favicon.ico', 'NODE_MODULES',
  'a~b', "it's", 'a(b)', 'a*', '!', 'a:b', 'a%20b', 'a+b', 'a@b', '', ' a', 'a ', '1', '1.2.3', 'x'.repeat(215), 'a\u00a0', '@', '^1', 'a?b', 'a#b', 'a\\b']
const makeName = () => {
  const base = chance(0.5) ? pick(words) : `${pick(['@', '@', '@', '', '@@'])}${pick(words)}/${pick(words)}`
  return chance(0.3) ? mutate(base, [...'@/._-aB~ %:é', 'node_modules']) : base
}
const names = collect([...words, '@a/b', '@a/b/c', '@/b', '@a/', '@a', '@a/.b', '@.a/b', '@_a/_b', '@-a/-b', '@a/node_modules', 'a/b', '@a/favicon.ico'], 400, makeName)
  .map(name => [name, validateName(name).validForOldPackages])
write('names.json', names)

// --- specifiers -----------------------------------------------------------------------------------------------
const where = '/' + Array.from({ length: 14 }, (_, index) => `folder${index}`).join('/')
const describe = result => {
  switch (result.type) {
    case 'version': return { type: 'version', value: semver.valid(result.fetchSpec, true) }
    case 'range': return { type: 'range', value: semver.validRange(result.fetchSpec, true) }
    case 'tag': return { type: 'tag', value: result.fetchSpec }
    case 'alias': return { type: 'alias', name: result.subSpec.name, raw: result.subSpec.rawSpec, target: describe(result.subSpec) }
    case 'remote': return { type: 'remote', value: result.fetchSpec }
    case 'file':
    case 'directory': return { type: result.type, value: result.saveSpec.slice('file:'.length) || '.' }
    case 'git': return {
      type: 'git',
      // A shortcut has no URL of its own; https is what npm tries first.
      url: result.fetchSpec ?? result.hosted.https({ noCommittish: true, noGitPlus: true }),
      saved: result.saveSpec,
      committish: result.gitCommittish || null,
      range: result.gitRange || null,
      path: result.gitSubdir?.slice(1) ?? null,
      hosted: result.hosted ? describeHosted(result.hosted) : null,
    }
  }
}
const describeHosted = hosted => {
  const asked = committish => ({ noCommittish: false, noGitPlus: true, committish })
  return {
    host: hosted.type,
    user: hosted.user,
    project: hosted.project,
    auth: hosted.auth,
    // The rule for the lock file is arborist's: https keeps user and password, else ssh.
    resolved: `git+${hosted.auth ? hosted.https(asked('abc')) : hosted.sshurl(asked('abc'))}`,
    tarball: hosted.tarball(asked('a/b')),
  }
}
const codes = [
  [/Invalid package name/, 'SPEC_INVALID_NAME'], [/Invalid tag name/, 'SPEC_INVALID_TAG'], [/Unsupported URL Type/, 'SPEC_UNSUPPORTED_PROTOCOL'],
  [/Invalid URL/, 'SPEC_INVALID_URL'], [/alias/, 'SPEC_ALIAS'], [/cannot override|URI malformed/, 'SPEC_GIT_REFERENCE'],
]
const ask = (name, raw) => {
  try {
    return describe(npa.resolve(name, raw, where))
  } catch (error) {
    return { error: codes.find(([pattern]) => pattern.test(error.message))?.[1] ?? error.message }
  }
}
const hosts = ['github', 'gitlab', 'bitbucket', 'gist', 'sourcehut']
const domains = ['github.com', 'gitlab.com', 'bitbucket.org', 'gist.github.com', 'git.sr.ht', 'www.github.com', 'git.example', 'GitHub.com', 'git.example:8080']
const schemes = ['git', 'git+ssh', 'git+https', 'git+http', 'git+file', 'git+rsync', 'git+ftp', 'ssh', 'http', 'https', 'GIT+SSH', 'Https', 'svn', 'ftp', 'git+git']
const users = ['', 'git@', 'user:secret@', 'user@', ':secret@', 'us%20er@']
const repositories = ['user/repo', 'user/repo.git', 'group/sub/repo', 'repo', 'user/repo/tree/main', 'user/repo/tree', 'user/repo/blob/x', 'us%20er/re%2fpo', 'user/%ff',
  'user/repo/', '~user/repo', 'user/repo.tgz', 'user/repo/get/x', 'user/repo/archive/x', 'user/repo/-/x', 'user', '', 'user/repo/raw/x', 'user/a b', 'user/é']
const fragments = ['', '', '', '#main', '#v1.2.3', '#semver:^1.2', '#semver:1%20-%202', '#semver:%5E1', '#path:packages/a', '#main::path:a/b', '#semver:^1::path:x', '#a::b',
  '#semver:1::semver:2', '#main::semver:1', '#semver:1::main', '#path:a::path:b', '#what:ever', '#', '#%', '#a%20b', '#semver:1:2', '#::', '#0123456789abcdef0123456789abcdef01234567',
  '#a#b', '#a@b', '#a b', '#feature/x', '#semver:', '#é']
const paths = ['./a', '../a', '../../a/b', './a/../b', '/abs/a', '/abs/../b', '~/a', '~/../a', '.', '..', './', '../', 'a/b', 'a/b/c', './a b', './a%20b', './a#b', './a?b', './é',
  './a.tgz', '../a.TAR.GZ', './a.tar', 'a.tgz', 'a/b.tgz', 'a.tar.gz', '/a.tgz', './/a//b', './a/', '/', '//a', '///a', './a\\b', 'C:/a', 'c:a', 'C:\\a', './a/./b', './[a]', '.a', './^a|b', './a~b']
const filePrefixes = ['file:', 'file:/', 'file://', 'file:///', 'FILE:', 'file:////']
const registrySpecs = () => (chance(0.5) ? small() : chance(0.5) ? pick(rangeTexts) : pick(['latest', 'next', 'beta-1', 'a b', 'ta/g', 'x.y', 'né', 'tag@1', '@', '1.0.0 ', ' ^1', 'v2-latest', "it's", '~', '^', '']))
const makeSpec = () => {
  const kind = below(12)
  const text = kind < 2 ? registrySpecs()
    : kind < 4 ? pick(filePrefixes) + pick(paths)
      : kind < 5 ? pick(paths)
        : kind < 6 ? pick(['npm:', 'NPM:']) + pick(['', ...words, '@a/b', '@types/node', 'foo', 'foo']) + pick(['', '@']) + (chance(0.7) ? registrySpecs() : makeSpec())
          : kind < 8 ? pick([...hosts.map(host => host + ':'), '', '']) + pick(['', '', '', 'user:secret@', 'git@']) + pick(repositories) + pick(fragments)
            : kind < 11 ? pick(schemes) + pick(['://', '://', '://', ':', ':/']) + pick(users) + pick(domains) + pick(['/', '/', '/', ':']) + pick(repositories) + pick(fragments)
              : pick(['git@', 'user@', '']) + pick(domains) + pick([':', '/']) + pick(repositories) + pick(fragments)
  return chance(0.2) ? mutate(text, [...':/@#.~ %-aB1', '//', '..', 'git+', 'npm:', '.git'], 2) : text
}
const fixedSpecs = ['', '*', 'latest', '1.2.3', 'v1.2.3', '=1.2.3', ' 1.2.3 ', '^1', 'workspace:*', 'workspace:^1.2.3', 'workspace:../x', 'catalog:', 'catalog:react18', 'jsr:@a/b@1', 'link:../x',
  'portal:../x', 'patch:a@npm%3A1#./x.patch', 'npm:a', 'npm:a@', 'npm:a@^1', 'npm:@a/b@^1', 'npm:@a/b', 'npm:^1', 'npm:', 'npm:a@npm:b@1', 'npm:a@file:x', 'npm:user/repo', 'npm:a@user/repo', 'npm:a b@1',
  'npm:a@workspace:*', 'npm:https://x.example/a.tgz', 'npm:1.2.3', 'user/repo', 'user/repo#main', 'user/repo#semver:^1', 'github:user/repo', 'gist:0123456789', 'gist:user/0123', 'gitlab:a/b/c',
  'git@github.com:user/repo.git', 'git+ssh://git@github.com:user/repo.git#main', 'git+ssh://git@git.example:user/repo.git#semver:^2', 'git+ssh://git@git.example:22/user/repo.git',
  'https://x.example/a.tgz', 'http://x.example/a.tgz?x#y', 'https://github.com/user/repo/archive/main.tar.gz', 'https://github.com/user/repo', 'https://user:secret@github.com/user/repo.git',
  'git://github.com/user/repo', 'ssh://git@github.com/user/repo', 'git+file:///a/b', 'git+file://c:/a/b', 'file:../a', 'file:a', 'file:./a.tgz', 'file:', 'file:.', 'file:~/a', 'file:/../a', 'file:///../a', 'file://a/b',
  'git://user@gist.github.com/user/repo', 'C:/a/../b', 'file:///a', './a', '/a', '~/a', '@a/b', '@a/b/c', 'a\nb', 'https://', 'http:', 'git+https://x.example', 'x:', 'a:b', 'http://[', 'https://x.example/a b.tgz', './a\tb']
const specTexts = collect(fixedSpecs, 900, makeSpec)
const specs = specTexts.map((raw, index) => {
  const name = index % 50 === 49 ? pick(['', '@a/b', '.bad', 'a b']) : 'x'
  return [name, raw, ask(name, raw)]
// Left out: a path that leaves and enters the asking folder again, and drive letters, which npm takes for folders of the
// root where it does not run on Windows.
}).filter(([, , answer]) => !/folder|\.\.\/[A-Za-z]:/.test(JSON.stringify(answer)))
write('specs.json', specs)

// --- order ----------------------------------------------------------------------------------------------------
const printable = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index))
const latin = [...'àáâãäåçèéêëìíîïñòóôõöùúûüýÿÀÁÂÃÄÅÇÈÉÊËÌÍÎÏÑÒÓÔÕÖÙÚÛÜÝāăąćĉċčďēėęěĝğġģĥĩīįĵķĺļľńņňōőŕŗřśŝşšţťũūůűųŵŷźżžĀČĎĒŁłŠŽ']
const segments = ['a', 'b', 'c', 'B', 'A', 'ab', 'a-b', 'a_b', 'a.b', 'lodash', 'lodash.get', 'Lodash', 'react', 'react-dom', 'react_dom', '@a/b', '@a/B', '@types/node', '@babel/core', 'a1', 'a10', 'a2', 'x~', 'e', 'E']
const makePath = () => repeat(1, 3, () => `node_modules/${pick(segments)}`).join('/')
const makeText = () => {
  const kind = below(6)
  return kind < 2 ? makePath()
    : kind < 3 ? pick(segments)
      : kind < 4 ? repeat(0, 6, () => pick(printable)).join('')
        : kind < 5 ? repeat(0, 4, () => pick(['a', 'A', 'b', 'B', '-', '_', '/', '1'])).join('')
          : repeat(1, 4, () => pick(chance(0.5) ? [...latin] : ['e', 'E', 'a', 'n', 'z', '-'])).join('')
}
const texts = collect([...printable, ...latin, '\t', '\n', 'a\tb', 'a\u0001b', '\u0001', '\u007f', 'ab'], 500, makeText)
const compare = (left, right) => Math.sign(left.localeCompare(right, 'en'))
const pairs = Array.from({ length: 1400 * scale }, () => {
  const left = pick(texts)
  return [left, chance(0.3) ? mutate(left, printable, 2) : chance(0.2) ? left.toUpperCase() : pick(texts)]
}).map(([left, right]) => [left, right, compare(left, right)])
const sorted = [...texts].sort((left, right) => compare(left, right) || (left < right ? -1 : 1))
write('locale.json', { pairs, sorted })
