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
