/** The known word that a misspelt one most likely stands for, or of which it is the beginning; null when none is near. */
export function didYouMean(word: string, known: readonly string[]): string | null {
  const folded = fold(word);
  let best: string | null = null;
  // One letter in three may be wrong, and two of five: `payed`.
  let bestDistance = Math.max(1, Math.floor((folded.length + 1) / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(folded, fold(candidate));
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  if (best !== null || folded.length < MIN_BEGINNING) return best;
  const longer = known.filter((candidate) => fold(candidate).startsWith(folded));
  return longer.length === 1 ? (longer[0] ?? null) : null;
}

/** Fewer letters begin too much by chance. */
const MIN_BEGINNING = 3;

/** `timeZone`, `time-zone` and `time_zone` are the same mistake away from each other: none. */
function fold(word: string): string {
  return word.toLowerCase().replace(/[-_\s]/g, '');
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other (optimal string alignment). */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  let above: readonly number[] = [];
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replace = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      const isSwap = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1];
      const swap = isSwap ? (above[j - 2] ?? 0) + 1 : replace;
      next.push(Math.min(replace, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    above = row;
    row = next;
  }
  return row[to.length] ?? 0;
}
