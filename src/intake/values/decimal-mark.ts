import type { SourceSettings } from '../../config/source-fields.ts';
import { FileHeld } from '../../core/held/file-held.ts';
import { maxDecimals } from '../../core/money.ts';
import type { Layout, MoneyFormat } from '../layout/to-layout.ts';

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

type Given = Pick<SourceSettings, 'name' | 'decimalMark'>;

/** Matches an amount with one mark: the digits before and after it. */
const ONE_MARK = /^\D*(\d+)([.,])(\d+)\D*$/;
/** Digits of a group of thousands. */
const GROUP = 3;

/** Changes the layout's format of amounts to the decimal mark that the source specifies. */
export function withDecimalMark(layout: Layout, mark: MoneyFormat['decimal'] | null): Layout {
  const { money } = layout;
  if (mark === null || mark === money.decimal) return layout;
  const thousands = money.thousands === mark || money.thousands === null ? money.decimal : money.thousands;
  return { ...layout, money: { ...money, decimal: mark, thousands } };
}

/** Creates the check. @returns null if the source specifies the mark. */
export function watchMarks({ name, money }: Pick<Layout, 'name' | 'money'>, source: Given): MarkWatch | null {
  if (source.decimalMark !== null) return null;
  let first: { readonly text: string; readonly line: number } | null = null;
  let either = 0;
  /** An amount has three decimals that cannot be a group of thousands: `0.500`, `1234.500`. */
  let hasThreeDecimals = false;

  return {
    see(text, line, currency) {
      const [, whole = '', mark, digits = ''] = ONE_MARK.exec(text) ?? [];
      if (mark === undefined || digits.length !== GROUP) return;
      const isDecimal = mark === money.decimal;
      if (whole.length > GROUP || whole.startsWith('0')) {
        hasThreeDecimals ||= isDecimal;
        return;
      }
      // No amount in euros has three decimals, so `1,250` in a file with decimal points can only be 1250.
      const canBeDecimals = currency !== null && maxDecimals(currency) >= GROUP;
      if (!isDecimal && !canBeDecimals) return;
      first ??= { text, line };
      either += 1;
    },
    require() {
      if (first === null || hasThreeDecimals) return;
      const { text, line } = first;
      const [, whole, , digits] = ONE_MARK.exec(text) ?? [];
      throw new FileHeld({
        code: 'decimal_mark_unknown',
        message: `${either === 1 ? 'One amount' : `${either} amounts`} of the file can be read in two ways (the first on line ${line}): as ${whole}${digits}, or as ${whole} and decimals. No amount of the file shows which. The layout ${name} has "${money.decimal}" as its decimal mark.`,
        help: `Set decimal_mark under sources.${source.name} to "." or ",": the mark before the decimals in this shop's exports. The tool does not guess.`,
      });
    },
  };
}
