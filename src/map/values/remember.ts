/**
 * Maximum number of cached results. A column of statuses or currencies has few different words; if there are
 * many, the cache stays small.
 */
const MAX_REMEMBERED = 512;
const MAX_REMEMBERED_CHARS = 100;

/** Adds a small cache to a function of one text. */
export function remember<Result extends NonNullable<unknown> | null>(
  compute: (text: string) => Result,
): (text: string) => Result {
  const known = new Map<string, Result>();
  return (text) => {
    const old = known.get(text);
    if (old !== undefined) return old;
    const result = compute(text);
    if (known.size >= MAX_REMEMBERED) known.clear();
    if (text.length <= MAX_REMEMBERED_CHARS) known.set(text, result);
    return result;
  };
}
