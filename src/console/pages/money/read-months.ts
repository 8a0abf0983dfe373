import { isMonth } from '../../../earnings/statement.ts';
import { findNewestMonth } from '../../../report/money/list-returns.ts';
import type { Visit } from '../../console-page.ts';
import { textOf } from '../../read-query.ts';

export type Months = { readonly from: string | null; readonly to: string | null; readonly said: string };

/** A month of the query such as 2026-10. */
export function monthOf(visit: Visit, name: string): string | null {
  const month = textOf(visit, name);
  return month !== null && isMonth(month) ? month : null;
}

/**
 * Months of the query, both included. Without any: the newest `count` with orders, because more are not added up while a person waits.
 *
 * @param options.count how many months a page shows by itself.
 */
export async function readMonths(visit: Visit, { count }: { readonly count: number }): Promise<Months> {
  const [from, to] = [monthOf(visit, 'from'), monthOf(visit, 'to')];
  if (from !== null || to !== null) return say({ from, to });
  const newest = await findNewestMonth(visit.db);
  if (newest === null) return { from: null, to: null, said: 'all months' };
  const first = new Date(`${newest}-01T00:00:00Z`);
  first.setUTCMonth(first.getUTCMonth() - count + 1);
  return say({ from: first.toISOString().slice(0, 7), to: newest });
}

function say({ from, to }: Omit<Months, 'said'>): Months {
  const said = from === to ? `${from}` : `${from ?? 'the first month'} to ${to ?? 'the newest month'}`;
  return { from, to, said };
}
