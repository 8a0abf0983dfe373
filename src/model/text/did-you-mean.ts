import leven from 'leven';

/** Fewer letters begin too many words by chance. */
const MIN_BEGINNING = 3;

/** The known word that a misspelt one most likely stands for, or of which it is the beginning; null when none is near. */
export function didYouMean(word: string, known: readonly string[]): string | null {
  const folded = fold(word);
  let best: string | null = null;
  // One letter in three may be wrong, and two of five: `payed`.
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

/** Insertions, deletions and replacements. Letters that changed places are one mistake: `piad`. */
function mistakesBetween(one: string, other: string): number {
  const distance = leven(one, other);
  return distance === 2 && sortedLetters(one) === sortedLetters(other) ? 1 : distance;
}

function sortedLetters(word: string): string {
  return [...word].sort().join('');
}

/** `timeZone`, `time-zone` and `time_zone` are the same mistake away from each other: none. */
function fold(word: string): string {
  return word.toLowerCase().replace(/[-_\s]/g, '');
}
