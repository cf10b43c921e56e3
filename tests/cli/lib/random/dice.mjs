// Random choices that a seed repeats.

/** A source of numbers below 1 (mulberry32). */
function numbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export class Dice {
  #next;

  constructor(seed) {
    this.#next = numbers(Math.imul(seed + 1, 0x9e3779b1));
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
