/**
 * Maximum number of cached results. A column of statuses or currencies has few different words; if there are
 * many, the cache stays small.
 */
const MAX_REMEMBERED = 512;
const MAX_REMEMBERED_CHARS = 100;

/**
 * Adds a small cache to a function of one text. If few of the texts occur again, as in a column of order ids, nothing
 * is cached: that would cost more than computing each result.
 */
export function remember<Result extends NonNullable<unknown> | null>(
  compute: (text: string) => Result,
): (text: string) => Result {
  const known = new Map<string, Result>();
  let hits = 0;
  let isUseful = true;
  return (text) => {
    if (!isUseful) return compute(text);
    const old = known.get(text);
    if (old !== undefined) {
      hits += 1;
      return old;
    }
    const result = compute(text);
    if (known.size >= MAX_REMEMBERED) {
      isUseful = hits > MAX_REMEMBERED;
      hits = 0;
      known.clear();
    }
    if (text.length <= MAX_REMEMBERED_CHARS) known.set(text, result);
    return result;
  };
}
