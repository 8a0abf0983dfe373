export type AskedPrefix = {
  readonly prefix: string;
  readonly results: number;
  readonly answerHash: string;
  /** The answer said itself that it was cut off. */
  readonly saysMore: boolean;
  readonly isSplit: boolean;
};

/** An answer with fewer results than this does not count as cut off. */
const SMALLEST_CUT = 5;

/** This number of one-character answers must be identical before the service counts as ignoring the query. */
const SAME_ANSWERS = 5;

/** Handles of the three platforms are never longer. */
const MAX_PREFIX_LENGTH = 30;

/** Characters of handles on all three platforms. */
const HANDLE_CHARACTERS = 'abcdefghijklmnopqrstuvwxyz0123456789_.-';

/** The first characters, for a tree that is still empty. */
export function firstPrefixes(): readonly string[] {
  return [...HANDLE_CHARACTERS.slice(0, -2)];
}

/**
 * Infers the size at which the service cuts off its answers. It is the size of the largest answer, if several
 * different answers have exactly that size or if it is a round number. Null while nothing indicates a cut.
 */
export function cutSize(asked: readonly AskedPrefix[]): number | null {
  const largest = Math.max(0, ...asked.map(({ results }) => results));
  if (largest < SMALLEST_CUT) return null;
  const answers = asked.filter(({ results }) => results === largest).map(({ answerHash }) => answerHash);
  const isRound = largest % 10 === 0 || largest % 25 === 0;
  return new Set(answers).size > 1 || isRound ? largest : null;
}

/**
 * Returns true if every one-character query gets the same answer. The service then ignores the query, and
 * longer queries are useless.
 */
export function ignoresQuestion(asked: readonly AskedPrefix[]): boolean {
  const letters = asked.filter(({ prefix }) => prefix.length === 1);
  return letters.length >= SAME_ANSWERS && new Set(letters.map(({ answerHash }) => answerHash)).size === 1;
}

/**
 * Prefixes whose answers appear to be cut off, each with the longer prefixes to request instead.
 *
 * @param asked all prefixes that were requested so far.
 */
export function splitPrefixes(asked: readonly AskedPrefix[]): ReadonlyMap<string, readonly string[]> {
  const cut = cutSize(asked) ?? Number.POSITIVE_INFINITY;
  if (ignoresQuestion(asked)) return new Map();
  const split = new Map<string, readonly string[]>();
  const taken = asked.filter(({ isSplit }) => isSplit);
  for (const candidate of asked.toSorted((one, other) => one.prefix.length - other.prefix.length)) {
    const { prefix, results, isSplit, saysMore } = candidate;
    if (isSplit || (results < cut && !saysMore) || prefix.length >= MAX_PREFIX_LENGTH) continue;
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
 * Says which deals longer prefixes cannot find: the service gives the same, full answer whatever it is asked, or the
 * longest prefix still has a full answer. Null if there are none.
 *
 * @param asked all prefixes that were requested so far.
 */
export function findUncovered(asked: readonly AskedPrefix[]): string | null {
  const cut = cutSize(asked) ?? Number.POSITIVE_INFINITY;
  const full = asked.filter(({ results, saysMore, isSplit }) => !isSplit && (saysMore || results >= cut));
  const first = full[0];
  if (first !== undefined && ignoresQuestion(asked))
    return `Autocomplete gives the same ${first.results} results for every letter, so it cannot find other deals. They may exist.`;
  const long = full.filter(({ prefix }) => prefix.length >= MAX_PREFIX_LENGTH).length;
  return long === 0
    ? null
    : `${long} of the longest prefixes still have an answer that is cut off, so other deals may exist.`;
}

/**
 * Returns true if two queries have the same answer although neither continues the other. The service then
 * searches anywhere in a handle, both queries found a text that the handles have in common, and splitting one
 * of them is enough.
 */
function sayTheSame(one: AskedPrefix, other: AskedPrefix): boolean {
  const continues = one.prefix.startsWith(other.prefix) || other.prefix.startsWith(one.prefix);
  return !continues && one.answerHash === other.answerHash;
}
