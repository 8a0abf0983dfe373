/** Chooses some items at random, the same ones for the same seed, in the order of the list. */
export function sampleOf<Item>(
  items: readonly Item[],
  { size, seed }: { readonly size: number; readonly seed: number },
): readonly Item[] {
  const random = randomFrom(seed);
  const drawn = items
    .map((item, at) => ({ item, at, lot: random() }))
    .sort((one, other) => one.lot - other.lot);
  return drawn
    .slice(0, size)
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}

/** Mulberry32: a generator of numbers from 0 to 1 that is good enough for a sample. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
