import type { DecimalText } from '../core/order.ts';
import { type ReadSheet, readSheet } from '../core/text/read-sheet.ts';
import { isDay } from '../core/time/day.ts';

/** Columns of fx.csv, in any order. */
const RATE_COLUMNS = ['day', 'from', 'to', 'rate'] as const;
type RateColumn = (typeof RATE_COLUMNS)[number];

/** The value of one unit of a currency on a day, in the reporting currency. */
export type ExchangeRate = {
  readonly currency: string;
  /** `2026-10-01`, in the time zone of the statements. */
  readonly day: string;
  readonly rate: DecimalText;
};

/** Maximum number of decimals, as stored. Published rates have fewer. */
const RATE = /^\d{1,11}(\.\d{1,12})?$/;
const CURRENCY = /^[A-Z]{3}$/;

/**
 * Parses fx.csv. Rates are used exactly as given: never inverted, never for another day, and never combined
 * through a third currency. If one row cannot be used, the file is not used at all.
 *
 * @param to the reporting currency. Rows for other target currencies are left out.
 */
export function parseRates(text: string, to: string): ReadSheet<ExchangeRate> {
  return readSheet<RateColumn, ExchangeRate>(text, {
    columns: RATE_COLUMNS,
    required: RATE_COLUMNS.map((column) => [column]),
    mayHaveOthers: true,
    mayBePadded: false,
    insteadOfAddress: null,
    readRow({ cell, refuse, isRepeated }) {
      const [day, currency, target, rate] = [
        cell('day'),
        cell('from').toUpperCase(),
        cell('to').toUpperCase(),
        cell('rate'),
      ];
      if (!isDay(day)) return refuse('day', 'This is not a day.', 'Write 2026-04-30.');
      for (const column of ['from', 'to'] as const)
        if (!CURRENCY.test(cell(column).toUpperCase()))
          return refuse(column, 'This is not a currency.', 'Write three letters, for example EUR.');
      if (currency === target)
        return refuse('to', 'Both currencies are the same.', 'Remove the row: no rate is needed.');
      if (!RATE.test(rate) || !/[1-9]/.test(rate))
        return refuse(
          'rate',
          'This is not a rate.',
          'Write what 1 of the first currency is worth in the second, with a point: 0.9215',
        );
      if (target !== to || isRepeated('day', `${currency} ${day}`, `a rate of ${currency} for this day`))
        return null;
      return { currency, day, rate };
    },
  });
}
