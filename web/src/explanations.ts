/** Why a tree is what it is: who depends on whom, and which wishes do not go together. */

/** Why a package is in the tree: who depends on it, who depends on those, up to the project. As in npm's JSON. */
export interface PackageExplanation {
  /** Missing for the project itself, which nobody depends on. */
  name?: string;
  version?: string;
  /** `node_modules/a`, or a folder of the project. */
  location: string;
  isWorkspace?: boolean;
  dependents?: DependencyExplanation[];
  /** For a folder of the project: the links that lead to it. */
  linksIn?: PackageExplanation[];
  /** The explanation is too large, and ends here. */
  truncated?: true;
  /** Nothing asks for it. */
  extraneous?: true;
  dev?: boolean;
  optional?: boolean;
  devOptional?: boolean;
  peer?: boolean;
  bundled?: boolean;
}

export interface DependencyExplanation {
  type: 'prod' | 'dev' | 'optional' | 'peer' | 'peerOptional' | 'workspace';
  name: string;
  spec: string;
  /** What was asked for before an override took its place. */
  rawSpec?: string;
  overridden?: true;
  bundled?: true;
  error?: string;
  from: PackageExplanation;
}

/** Two wishes for one place that no version fulfils. */
export interface PeerConflict {
  /** Whether an install fails of it; else it is accepted, with a warning. */
  stops: boolean;
  /** All of this in words. */
  message: string;
  /** The wish that could not be fulfilled. */
  wanted: ConflictingDependency;
  /** What would have fulfilled it. */
  candidate?: ConflictingPackage;
  /** What is there instead, or what the conflict comes down to. */
  found?: ConflictingPackage;
  /** The peer dependency at the bottom of it. */
  conflicting?: ConflictingPackage;
  /** Whether it is about the project's own dependencies. */
  concernsProject: boolean;
  /** Changes that would each end it, of a conflict that stops an install. */
  remedies: string[];
}

export interface ConflictingPackage {
  /** `name@version`, or `the root project`. */
  package: string;
  /** Empty for the project, and for what was only tried out. */
  location: string;
  dependents: ConflictingDependency[];
}

export interface ConflictingDependency {
  type: 'prod' | 'dev' | 'optional' | 'peer' | 'peerOptional' | 'workspace';
  name: string;
  spec: string;
  /** What was asked for before an override took its place. */
  rawSpec?: string;
  overridden?: true;
  error?: string;
  from: ConflictingPackage;
}

/** A dependency for which the registry has something newer than what is installed, or for which nothing is installed. */
export interface OutdatedDependency {
  /** Its name; of one that stands for another package with what that is: `alias:name@range`. */
  name: string;
  /** The version that is installed, if one is. */
  current?: string;
  /** The version that what is asked for means now: an update brings it. */
  wanted: string;
  /** The version that the default tag means, `latest` unless `npmrc` sets another one. */
  latest: string;
  /** Its folder. */
  location?: string;
  /** Who asks for it: the name of a package; of the project that under which it is kept. */
  dependent: string;
  /** The folder of who asks; empty for the project. */
  dependentLocation: string;
  /** `name@version` of who asks, if that is a workspace. */
  workspace?: string;
  /** The field of `package.json` in which it is asked for. */
  type: 'dependencies' | 'devDependencies' | 'optionalDependencies' | 'peerDependencies';
}
