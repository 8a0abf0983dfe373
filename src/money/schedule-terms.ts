import type { DecimalText } from '../core/money.ts';
import { DAY_MS } from '../core/time/day.ts';
import { isChosen } from './conditions.ts';
import type { Terms } from './statement.ts';

/**
 * What a deal or a code earns over time, or everybody if it has neither: from `since[i]` until the day before
 * `since[i + 1]`, the rate is `rates[i]`, and the products `skus[i]` earn nothing.
 */
export type TermsSchedule = {
  readonly dealId: string | null;
  readonly code: string | null;
  /** Days, in order. The first is `-infinity`, so that every day has its part. */
  readonly since: readonly string[];
  /** Null: the terms state no rate. */
  readonly rates: readonly (DecimalText | null)[];
  /** Line of terms.csv that states the rate. Of several codes of an order, the first line applies. */
  readonly lines: readonly (number | null)[];
  readonly skus: readonly (readonly string[])[];
};

/** Many write the last day that a calendar has for "for ever". */
export const LAST_DAY = '9999-12-31';

/**
 * Sorts terms by whom they are for and by day, without the rates that `chosenRows` decides about. A query then finds
 * the terms of an order by binary search. If it compared each order with each row, a thousand rows of terms would take
 * minutes.
 */
export function scheduleTerms(terms: readonly Terms[]): readonly TermsSchedule[] {
  const rows = Map.groupBy(terms, ({ dealId, codeFolded }) => JSON.stringify([dealId, codeFolded]));
  return [...rows.values()].map((of) => {
    const sorted = of.toSorted((one, other) => one.line - other.line);
    const changes = sorted.flatMap(({ validFrom, validTo }) => [
      ...(validFrom === null ? [] : [validFrom]),
      ...(validTo === null || validTo === LAST_DAY ? [] : [dayAfter(validTo)]),
    ]);
    const since = ['-infinity', ...new Set(changes.toSorted())];
    const parts = since.map((day) => {
      const valid = sorted.filter(({ validFrom, validTo }) =>
        day === '-infinity'
          ? validFrom === null
          : (validFrom === null || validFrom <= day) && (validTo === null || day <= validTo),
      );
      const rated = valid.find((row) => row.ratePercent !== null && !isChosen(row));
      const skus = [...new Set(valid.flatMap(({ excludedSkus }) => excludedSkus))];
      return { rate: rated?.ratePercent ?? null, line: rated?.line ?? null, skus };
    });
    return {
      dealId: sorted[0]?.dealId ?? null,
      code: sorted[0]?.codeFolded ?? null,
      since,
      rates: parts.map(({ rate }) => rate),
      lines: parts.map(({ line }) => line),
      skus: parts.map(({ skus }) => skus),
    };
  });
}

/** The day after one such as `2026-10-31`. */
function dayAfter(day: string): string {
  return new Date(Date.parse(day) + DAY_MS).toISOString().slice(0, 10);
}
