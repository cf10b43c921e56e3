// The types of dice.mjs, for the tests of the browser.

export declare class Dice {
  constructor(seed: number);
  /** Whether something of this probability happens. */
  chance(probability: number): boolean;
  /** A whole number, both ends included. */
  between(least: number, most: number): number;
  /** One of these. */
  one<T>(choices: readonly T[]): T;
  /** So many of these, or all, in a random order. */
  some<T>(choices: readonly T[], count: number): T[];
  /** One of the keys, each as often as its value says. */
  weighted<K extends string>(weights: Readonly<Partial<Record<K, number>>>): K;
}
