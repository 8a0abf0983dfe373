/** Random draws from one sequence, so that the same seed gives the same draws. */
export type Draw = {
  /** A number from 0 to 1. */
  fraction(): number;
  /** An integer from `least` to `most`, both included. */
  whole(least: number, most: number): number;
  chance(probability: number): boolean;
  one<Item>(items: readonly [Item, ...Item[]]): Item;
  /** Up to `count` different items, in the order in which they were drawn. */
  some<Item>(items: readonly Item[], count: number): readonly Item[];
  /** Fractions that add up to 1, each roughly in proportion to its weight. */
  shares(weights: readonly number[]): readonly number[];
  /** A roughly normal number around 0, mostly between -2 and 2. */
  normal(): number;
};

export function createDraw(random: () => number): Draw {
  const whole = (least: number, most: number): number => least + Math.floor(random() * (most - least + 1));
  return {
    fraction: random,
    whole,
    chance: (probability) => random() < probability,
    one: (items) => items[whole(0, items.length - 1)] ?? items[0],
    some(items, count) {
      const left = [...items];
      return Array.from({ length: Math.min(count, left.length) }, () =>
        left.splice(whole(0, left.length - 1), 1),
      ).flat();
    },
    shares(weights) {
      const drawn = weights.map((weight) => weight * (0.2 + random()));
      const sum = drawn.reduce((total, share) => total + share, 0);
      return drawn.map((share) => share / sum);
    },
    normal: () => (random() + random() + random() + random() - 2) * 1.7,
  };
}
