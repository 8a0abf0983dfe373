import leven from 'leven';

/** Minimum number of letters for a match by beginning. Shorter beginnings match too many words by chance. */
const MIN_BEGINNING = 3;

/**
 * Finds the known word that a misspelt word most likely means, or that it is the beginning of. Returns null
 * if none is close.
 */
export function didYouMean(word: string, known: readonly string[]): string | null {
  const folded = fold(word);
  let best: string | null = null;
  // One wrong letter in three is allowed, and two in five: `payed`.
  let bestDistance = Math.max(1, Math.floor((folded.length + 1) / 3)) + 1;
  for (const candidate of known) {
    const distance = mistakesBetween(folded, fold(candidate));
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  if (best !== null || folded.length < MIN_BEGINNING) return best;
  const longer = known.filter((candidate) => fold(candidate).startsWith(folded));
  return longer.length === 1 ? (longer[0] ?? null) : null;
}

/** Counts insertions, deletions and replacements. Two transposed letters count as one mistake: `piad`. */
function mistakesBetween(one: string, other: string): number {
  const distance = leven(one, other);
  return distance === 2 && sortedLetters(one) === sortedLetters(other) ? 1 : distance;
}

function sortedLetters(word: string): string {
  return [...word].sort().join('');
}

/** Folds `timeZone`, `time-zone` and `time_zone` to the same word. */
function fold(word: string): string {
  return word.toLowerCase().replace(/[-_\s]/g, '');
}
