// The types of packages.mjs, for the tests of the browser.
import type { Dice } from './dice.mjs';
import type { Universe } from './registry.mjs';

/** A random universe whose every install can succeed. */
export declare function makePackages(dice: Dice): Universe;
/** What a project may ask for of a package. */
export declare function rangeOf(dice: Dice, universe: Universe, name: string): string;
