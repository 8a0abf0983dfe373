import type { SourceSettings } from '../../config/source-fields.ts';
import { FileHeld } from '../../core/held/file-held.ts';
import { maxDecimals } from '../../core/money.ts';
import type { Layout, MoneyFormat } from '../layout/to-layout.ts';
import { DASHES, isPlain } from './parse-money.ts';

/**
 * Checks that the amounts of a file are read with the decimal mark with which they were written. `1.250` is 1250 where
 * the point separates thousands, and 1.25 where it separates decimals. The layout says which, but shops, plugins and
 * spreadsheets follow the settings of their country. If nothing in the file contradicts the other reading, the source
 * must say which mark it is.
 */
export type MarkWatch = {
  /**
   * Checks an amount.
   *
   * @param currency of the amount. Null if it is not known yet.
   */
  readonly see: (text: string, line: number, currency: string | null) => void;
  /** Call once the whole file was read. @throws FileHeld `decimal_mark_unknown`. */
  readonly require: () => void;
};

type Given = Pick<SourceSettings, 'name' | 'decimalMark'> & Partial<Pick<SourceSettings, 'currency'>>;

/** Digits of a group of thousands. */
const GROUP = 3;

/** Changes the layout's format of amounts to the decimal mark that the source specifies. */
export function withDecimalMark(layout: Layout, mark: MoneyFormat['decimal'] | null): Layout {
  const { money } = layout;
  if (mark === null || mark === money.decimal) return layout;
  const thousands = money.thousands === mark || money.thousands === null ? money.decimal : money.thousands;
  return { ...layout, money: { ...money, decimal: mark, thousands } };
}

/** Amounts that can be read in two ways, and whether others show which one is right. */
type Open = {
  first: { readonly text: string; readonly line: number } | null;
  count: number;
  isShown: boolean;
};

/** Creates the check. @returns null if the source specifies the mark. */
export function watchMarks(
  { name, money, currency: own = null }: Pick<Layout, 'name' | 'money'> & Partial<Pick<Layout, 'currency'>>,
  source: Given,
): MarkWatch | null {
  if (source.decimalMark !== null) return null;
  /** Of currencies with three decimals, and of all others. Only in the first are three decimals usual. */
  const ofThree: Open = { first: null, count: 0, isShown: false };
  const ofOthers: Open = { first: null, count: 0, isShown: false };
  const fallback = own ?? source.currency ?? null;

  return {
    see(text, line, stated) {
      if (isPlain(text)) {
        ofThree.isShown ||= money.decimal === '.';
        return;
      }
      const last = lastMark(text.replace(DASHES, '$100'));
      if (last === null) return;
      const { whole, mark, digits, hasGroups } = last;
      const isDecimal = mark === money.decimal;
      const isGroup =
        digits.length === GROUP && whole.length <= GROUP && !whole.startsWith('0') && !hasGroups;
      const currency = stated ?? fallback;
      const canHaveThree = currency !== null && maxDecimals(currency) >= GROUP;
      if (isGroup) {
        // No amount in euros has three decimals, so `1,250` in a file with decimal points can only be 1250.
        if (!isDecimal && !canHaveThree) return;
        const open = canHaveThree ? ofThree : ofOthers;
        open.first ??= { text, line };
        open.count += 1;
      } else if (isDecimal) {
        ofThree.isShown = true;
        // Three decimals that cannot be a group of thousands: `0.500`, `1234.500`.
        if (digits.length === GROUP && !canHaveThree) ofOthers.isShown = true;
      }
    },
    require() {
      const open = [ofOthers, ofThree].find(({ first, isShown }) => first !== null && !isShown);
      if (open === undefined || open.first === null) return;
      const { text, line } = open.first;
      const { whole, digits } = lastMark(text) ?? { whole: text, digits: '' };
      const which =
        open === ofThree
          ? 'No amount of the file shows which mark is before the decimals.'
          : 'No amount of the file has three decimals for certain, as 0.500 has.';
      throw new FileHeld({
        code: 'decimal_mark_unknown',
        message: `${open.count === 1 ? 'One amount' : `${open.count} amounts`} of the file can be read in two ways (the first on line ${line}): as ${whole}${digits}, or as ${whole} and decimals. ${which} The layout ${name} has "${money.decimal}" as its decimal mark.`,
        help: `Set decimal_mark under sources.${source.name} to "." or ",": the mark before the decimals in this shop's exports. The tool does not guess.`,
      });
    },
  };
}

/** The last mark of an amount, with the digits around it. Null if there is none between digits. */
function lastMark(text: string) {
  const last = [...text.matchAll(/[.,]\d+/g)].at(-1);
  const before = text.slice(0, last?.index ?? 0);
  const [whole = ''] = /(?<!\d)\d+$/.exec(before) ?? [];
  if (last === undefined || whole === '') return null;
  const hasGroups = /\d/.test(before.slice(0, -whole.length));
  return { whole, mark: last[0].charAt(0), digits: last[0].slice(1), hasGroups };
}
