// Random choices that a seed repeats.

import { seeded } from '../../../../scripts/lib/seeded.mjs';

export class Dice {
  #next;

  constructor(seed) {
    this.#next = seeded(Math.imul(seed + 1, 0x9e3779b1));
  }

  /** Whether something of this probability happens. */
  chance(probability) {
    return this.#next() < probability;
  }

  /** A whole number, both ends included. */
  between(least, most) {
    return least + Math.floor(this.#next() * (most - least + 1));
  }

  /** One of these. */
  one(choices) {
    return choices[this.between(0, choices.length - 1)];
  }

  /** So many of these, or all, in a random order. */
  some(choices, count) {
    const left = [...choices];
    const taken = [];
    while (taken.length < count && left.length > 0) taken.push(left.splice(this.between(0, left.length - 1), 1)[0]);
    return taken;
  }

  /** One of the keys, each as often as its value says. */
  weighted(weights) {
    const entries = Object.entries(weights);
    let left = this.#next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      left -= weight;
      if (left < 0) return key;
    }
    return entries.at(-1)[0];
  }
}
