import type { SourceSettings } from '../../config/source-fields.ts';
import { FileHeld } from '../../core/held/file-held.ts';
import { plural } from '../../core/text/plural.ts';
import type { Layout } from '../layout/to-layout.ts';

/**
 * Whether the day or the month comes first in numeric dates: 4/5/2026 is the 5th of April (MDY) or the 4th of
 * May (DMY).
 */
export type DateOrder = 'MDY' | 'DMY';

/**
 * Checks that the dates of a file are read in the order in which they were written. If the layout's patterns
 * have one order, that order is used. If they have both (plugins follow the settings of the shop), the file
 * decides by a first or second number above 12; otherwise the source must specify the order. A date that
 * proves the other order always holds the file, because its dates up to the 12th would be read wrongly
 * without a fault.
 */
export type DateWatch = {
  /** Checks a date. */
  readonly see: (text: string, line: number) => void;
  /** Call once the whole file was read. @throws FileHeld `date_order_unknown`, `date_order_contradicted`. */
  readonly require: () => void;
};

type Given = Pick<SourceSettings, 'name' | 'dateOrder'>;

/** Changes the layout's patterns to the order that the source specifies. */
export function withDateOrder(layout: Layout, dateOrder: DateOrder | null): Layout {
  if (dateOrder === null) return layout;
  const formats = layout.times.formats.map((format) => {
    const order = orderOf(format);
    return order === null || order === dateOrder ? format : swap(format);
  });
  return { ...layout, times: { ...layout.times, formats: [...new Set(formats)] } };
}

/** True if the layout has numeric dates that begin with the day or the month, so that their order matters. */
export function hasDateOrder({ times }: Layout): boolean {
  return times.formats.some((format) => orderOf(format) !== null);
}

/**
 * Creates the check. @returns null if no date can be misread: the layout has no numeric dates that begin with
 * day or month, or the source specifies the order.
 */
export function watchDates(layout: Layout, source: Given): DateWatch | null {
  const orders = layout.times.formats.map(orderOf).filter((order) => order !== null);
  const [used] = orders;
  if (used === undefined || source.dateOrder !== null) return null;
  const proofs: Record<DateOrder, Proof> = { MDY: { dates: 0, line: 0 }, DMY: { dates: 0, line: 0 } };
  let either = 0;

  function see(text: string, line: number): void {
    const [, first, second] = DIGITS_FIRST.exec(text) ?? [];
    if (first === undefined || second === undefined) return;
    const [one, other] = [Number(first), Number(second)];
    if (one <= 12 && other <= 12) {
      if (one !== other) either += 1;
      return;
    }
    if (one > 12 && other > 12) return; // Not a date: its row is rejected.
    const proof = proofs[one > 12 ? 'DMY' : 'MDY'];
    if (proof.dates === 0) proof.line = line;
    proof.dates += 1;
  }

  return {
    see,
    require() {
      const other = used === 'MDY' ? 'DMY' : 'MDY';
      const setting = `date_order under sources.${source.name}`;
      if (proofs[other].dates > 0) {
        throw new FileHeld({
          code: 'date_order_contradicted',
          message: `${plural(proofs[other].dates, 'date')} with ${FIRST[other]} first (the first on line ${proofs[other].line})${proofs[used].dates > 0 ? `, and ${plural(proofs[used].dates, 'date')} with ${FIRST[used]} first (line ${proofs[used].line})` : ''}. The layout ${layout.name} reads ${FIRST[used]} first, so dates up to the 12th would be read wrongly.`,
          help: `If the file has ${FIRST[other]} first, set ${setting} to ${other}. If a spreadsheet has rewritten some of its dates, export it again. With ${setting} set to ${used}, rows with other dates are rejected one by one.`,
        });
      }
      if (either === 0 || proofs[used].dates > 0 || !orders.includes(other)) return;
      throw new FileHeld({
        code: 'date_order_unknown',
        message: `Every date of the file is the 12th of a month or earlier, so they do not show whether ${FIRST.DMY} or ${FIRST.MDY} is first (${plural(either, 'date')}). The layout ${layout.name} would read ${FIRST[used]} first.`,
        help: `Set ${setting} to MDY (4/5/2026 is the 5th of April) or DMY (the 4th of May). The tool does not guess.`,
      });
    },
  };
}

type Proof = { dates: number; line: number };

const FIRST = { MDY: 'the month', DMY: 'the day' } as const;
const DIGITS_FIRST = /^\s*'?(\d{1,2})[/.\- ](\d{1,2})[/.\- ]\d/;

/**
 * Returns the order of a pattern that begins with day or month in digits; null for others, such as iso or
 * `MMM D, YYYY`.
 */
function orderOf(format: string): DateOrder | null {
  if (/^\s*(?:MM?(?!M))[^A-Za-z]+DD?(?!D)/.test(format)) return 'MDY';
  return /^\s*DD?[^A-Za-z]+MM?(?!M)/.test(format) ? 'DMY' : null;
}

function swap(format: string): string {
  return format.replace(/^(\s*)(MM?|DD?)([^A-Za-z]+)(MM?|DD?)/, '$1$4$3$2');
}
