import { monthBefore, monthsUntil } from '../../../core/time/month.ts';
import type { Database } from '../../../db/connect.ts';
import { findNewestMonth, type ReturnFilter } from '../../../reports/money/list-returns.ts';
import { describeMonths } from '../../../reports/money/returns.ts';
import type { Visit } from '../../console-page.ts';
import type { FilterField } from '../../markup/parts.ts';
import { monthOf, textOf } from '../../read-query.ts';

/** Fields of the form that filters sums. */
export const RETURN_FIELDS: readonly FilterField[] = [
  { name: 'from', label: 'From month' },
  { name: 'to', label: 'To month' },
  { name: 'deal', label: 'Deal' },
  { name: 'handle', label: 'Creator' },
  { name: 'brand', label: 'Brand id' },
  { name: 'currency', label: 'Currency' },
];

/**
 * Reads the filter from the query. If it names no month, the filter covers `count` months up to the newest
 * one with orders, because summing up more would take too long for a page.
 *
 * @param options.count number of months that the page shows by default.
 * @param options.isOver whether they end with the last month that is over, if there are orders until then.
 */
export async function readReturnFilter(
  visit: Visit,
  { count, isOver = false }: { readonly count: number; readonly isOver?: boolean },
): Promise<{ readonly filter: ReturnFilter; readonly months: string }> {
  const until = isOver ? monthBefore(visit.now, visit.config.statements.timeZone) : null;
  const months = await readMonths(visit, { count, findNewest: (db) => findNewestMonth(db, until) });
  const filter = {
    ...months,
    ...{ dealId: textOf(visit, 'deal'), brandId: textOf(visit, 'brand') },
    ...{ handle: textOf(visit, 'handle'), currency: textOf(visit, 'currency') },
  };
  return { filter, months: describeMonths(months) };
}

/**
 * Reads the months from the query. If it names none, returns `count` months up to the newest one.
 *
 * @param options.findNewest returns the newest month that has anything to show, as `2026-10`, or null.
 */
export async function readMonths(
  visit: Visit,
  {
    count,
    findNewest,
  }: { readonly count: number; readonly findNewest: (db: Database) => Promise<string | null> },
): Promise<{ readonly from: string | null; readonly to: string | null }> {
  const [from, to] = [monthOf(visit, 'from'), monthOf(visit, 'to')];
  if (from !== null || to !== null) return { from, to };
  const newest = await findNewest(visit.db);
  return { from: newest === null ? null : (monthsUntil(newest, count)[0] ?? null), to: newest };
}
