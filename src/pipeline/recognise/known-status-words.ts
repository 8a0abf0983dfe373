import { foldWord } from '../../map/values/clean-text.ts';
import type { Layout } from '../../model/layout.ts';

/** Words for the state of an order that exports are known to use. */
export type StatusWords = {
  readonly all: ReadonlySet<string>;
  readonly credited: ReadonlySet<string>;
  /** To the word that is used here. */
  readonly translations: ReadonlyMap<string, string>;
};

/** Words of shops of one's own, beside those that layouts know. */
const MORE_WORDS: Readonly<Record<string, string>> = {
  bezahlt: 'paid',
  betaald: 'paid',
  voldaan: 'paid',
  payée: 'paid',
  payé: 'paid',
  pagado: 'paid',
  pagato: 'paid',
  versandt: 'shipped',
  geliefert: 'delivered',
  zurückgegeben: 'returned',
  retour: 'returned',
  returned: 'returned',
  storniert: 'cancelled',
  cancelled: 'cancelled',
  canceled: 'cancelled',
  open: 'open',
  offen: 'open',
  fulfilled: 'fulfilled',
};
const CREDITED = [
  'paid',
  'completed',
  'complete',
  'shipped',
  'delivered',
  'fulfilled',
  'processing',
  'partially_refunded',
];

/** Those that layouts name, and some more. */
export function statusWordsOf(layouts: readonly Layout[]): StatusWords {
  const credited = new Set(
    [...CREDITED, ...layouts.flatMap(({ status }) => status.credited ?? [])].map(foldWord),
  );
  const translations = new Map(
    [...layouts.flatMap(({ status }) => Object.entries(status.words)), ...Object.entries(MORE_WORDS)].map(
      ([from, to]) => [foldWord(from), foldWord(to)] as const,
    ),
  );
  const known = layouts.flatMap(({ status }) => status.known.map(foldWord));
  return { all: new Set([...credited, ...known, ...translations.keys()]), credited, translations };
}
