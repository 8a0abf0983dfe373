/** A prefix that has been asked for. */
export type AskedPrefix = {
  readonly prefix: string;
  readonly results: number;
  readonly answerHash: string;
  readonly isSplit: boolean;
};

/** Fewer results than this are no sign of a cut. */
const SMALLEST_CUT = 5;

/** As many one-letter answers must be the same before it counts as a service that ignores the question. */
const SAME_ANSWERS = 5;

/** No handle of the three platforms is longer. */
const MAX_PREFIX_LENGTH = 30;

/** What handles are made of on all three platforms. */
const HANDLE_CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789_.-';

/** The first letters, for a tree that has none yet. */
export function firstPrefixes(): readonly string[] {
  return [...HANDLE_CHARACTERS.slice(0, -2)];
}

/**
 * The size at which the service cuts its answers off, learned from the answers themselves: none is larger than the cut, and different ones
 * are exactly as large. Null while nothing looks like a cut.
 */
export function cutSize(asked: readonly AskedPrefix[]): number | null {
  const largest = Math.max(0, ...asked.map(({ results }) => results));
  if (largest < SMALLEST_CUT) return null;
  const answers = asked.filter(({ results }) => results === largest).map(({ answerHash }) => answerHash);
  const isRound = largest % 10 === 0 || largest % 25 === 0;
  return new Set(answers).size > 1 || isRound ? largest : null;
}

/** Whether every letter gets the same answer: then the service looks at none of them, and longer questions are a waste. */
export function ignoresQuestion(asked: readonly AskedPrefix[]): boolean {
  const letters = asked.filter(({ prefix }) => prefix.length === 1);
  return letters.length >= SAME_ANSWERS && new Set(letters.map(({ answerHash }) => answerHash)).size === 1;
}

/**
 * Prefixes whose answers look cut off, each with the longer ones to ask for instead.
 *
 * @param asked all that were asked for so far.
 */
export function splitPrefixes(asked: readonly AskedPrefix[]): ReadonlyMap<string, readonly string[]> {
  const cut = cutSize(asked);
  if (cut === null || ignoresQuestion(asked)) return new Map();
  const split = new Map<string, readonly string[]>();
  const taken = asked.filter(({ isSplit }) => isSplit);
  for (const candidate of asked.toSorted((one, other) => one.prefix.length - other.prefix.length)) {
    const { prefix, results, isSplit } = candidate;
    if (isSplit || results < cut || prefix.length >= MAX_PREFIX_LENGTH) continue;
    if (taken.some((other) => sayTheSame(candidate, other))) continue;
    taken.push(candidate);
    split.set(
      prefix,
      [...HANDLE_CHARACTERS].map((character) => prefix + character),
    );
  }
  return split;
}

/**
 * Whether two questions of which none continues the other have the same answer: then the service looks for the text anywhere in a handle,
 * both found what all handles have in common, and one of them is enough.
 */
function sayTheSame(one: AskedPrefix, other: AskedPrefix): boolean {
  const continues = one.prefix.startsWith(other.prefix) || other.prefix.startsWith(one.prefix);
  return !continues && one.answerHash === other.answerHash;
}
