import type { Layout } from '../../../core/layout.ts';
import { foldWord } from '../../../intake/values/clean-text.ts';

/** Words for the state of an order that are known from exports. */
export type StatusWords = {
  readonly all: ReadonlySet<string>;
  readonly credited: ReadonlySet<string>;
  /** Maps a word to the word that this program uses. */
  readonly translations: ReadonlyMap<string, string>;
};

/** Words used by custom-built shops, in addition to those that layouts know. */
const MORE_WORDS: Readonly<Record<string, string>> = {
  bezahlt: 'paid',
  betaald: 'paid',
  voldaan: 'paid',
  payée: 'paid',
  payé: 'paid',
  pagado: 'paid',
  pago: 'paid',
  recibido: 'paid',
  pagato: 'paid',
  entregado: 'delivered',
  entregue: 'delivered',
  enviado: 'shipped',
  completado: 'completed',
  concluído: 'completed',
  cancelado: 'cancelled',
  cancelada: 'cancelled',
  annulé: 'cancelled',
  annulée: 'cancelled',
  annullato: 'cancelled',
  geannuleerd: 'cancelled',
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
/**
 * Words that mean that an order is paid or completed, in every shop. A word of one layout, such as WooCommerce's
 * `processing`, may mean something else in an unknown export.
 */
const CREDITED = ['paid', 'completed', 'complete', 'fulfilled', 'delivered'];

/** Collects the words that layouts define, and adds the words above. */
export function statusWordsOf(layouts: readonly Layout[]): StatusWords {
  const credited = new Set(CREDITED.map(foldWord));
  const translations = new Map(
    [...layouts.flatMap(({ status }) => Object.entries(status.words)), ...Object.entries(MORE_WORDS)].map(
      ([from, to]) => [foldWord(from), foldWord(to)] as const,
    ),
  );
  const known = layouts.flatMap(({ status }) => [...status.known, ...(status.credited ?? [])].map(foldWord));
  return { all: new Set([...credited, ...known, ...translations.keys()]), credited, translations };
}
