/** The known word that a misspelt one most likely stands for; null when none is near. */
export function didYouMean(word: string, known: readonly string[]): string | null {
  const folded = fold(word);
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.floor(folded.length / 3)) + 1;
  for (const candidate of known) {
    const distance = editDistance(folded, fold(candidate));
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

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
