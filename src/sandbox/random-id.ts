import { createHash } from 'node:crypto';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const CHARACTERS = `${LETTERS}0123456789`;

/**
 * Derives an id of ten characters, such as `ETUNQ6ZTW1`, from a seed and parts. It begins with a letter, so
 * that no reader takes it for a number.
 */
export function idFrom(seed: string, ...parts: readonly (string | number)[]): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([seed, ...parts]))
    .digest();
  const [first = 0, ...rest] = digest.subarray(0, 10);
  return LETTERS.charAt(first % LETTERS.length) + rest.map((byte) => CHARACTERS.charAt(byte % 36)).join('');
}

/** Creates a generator of numbers from 0 to 1, with the same sequence for the same seed (mulberry32). */
export function seededRandom(seed: string): () => number {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
