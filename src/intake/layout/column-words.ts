import { foldHeader } from '../../core/text/fold.ts';

/**
 * What names of columns contain, as lists of words. `=text` is a name's text as whole words, `^text` at the beginning of a
 * word, other texts anywhere. Case, accents and punctuation do not count.
 */
export type Terms = readonly string[];

/**
 * What names of columns of refunds and of cancellations contain, in the languages of most exports. A run and `init` read
 * them; the words that only `init` needs are in config/words.yaml, which takes longer to parse than a layout.
 */
export const LOWERING_WORDS: Readonly<Record<'refunded' | 'cancelled', Terms>> = {
  refunded:
    termsIn(`refund, money back, moneyback, charge back, chargeback, reversed, erstatt, gutschrift, rembours, reembols,
    rimbors, devol, estorn, terug, ^retour, =return, =returns, =returned, zwrot, zwroc, vracen, vratk, aterbetal,
    tilbagebetal, palautet, palautus, 返金, 返品, مسترد, استرداد, مرتجع`),
  cancelled: termsIn('cancel, storn, annul, anul, ^void, makuler, avbrut, perut, キャンセル'),
};

function termsIn(text: string): Terms {
  return text.split(',').map((term) => term.trim());
}

/** True if a name contains one of the terms. @param name as `headerWords` returns it. */
export function says(name: string, terms: Terms): boolean {
  return terms.some((term) =>
    term.startsWith('=')
      ? ` ${name} `.includes(` ${term.slice(1)} `)
      : ` ${name}`.includes(term.replace('^', ' ')),
  );
}

/**
 * Normalises a header to words, so that `Order-No.` equals `order_no` and `Bestellnr.` equals `Bestellnummer`. Accents
 * are removed: `Número` equals `numero`. `OrderNo` is two words.
 */
export function headerWords(name: string): string {
  return foldHeader(name.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2'))
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .replace(/[#№]/g, ' no ')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .replace(/(?:nummer|numer|nr|number|numero|cislo)\b/gu, ' no')
    .replace(/\bnum\b/gu, 'no')
    .replace(/\s+/g, ' ')
    .trim();
}
