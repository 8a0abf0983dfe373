import type { ExpectedDate } from '../../../src/core/checks/expectations.ts';
import type { DatedFile } from '../../../src/intake/checks/check.ts';
import { createDater, judgeFile } from '../../../src/intake/checks/judge-file.ts';
import { EXPECTATIONS, exportsOf, SALES, type Shop } from './synthetic-shop.ts';

export const place = createDater(EXPECTATIONS.timeZone);

/** Sales are announced by the shop; holidays are not. */
export const ANNOUNCED: readonly ExpectedDate[] = Object.keys(SALES).map((day) => ({
  day,
  name: 'a sale',
  source: null,
}));

/** Enough for more than eight weeks of hourly files. */
const KEPT = 1_400;

type Year = {
  /** Problems that began in each month. Consecutive files with an anomaly count as one problem. */
  readonly months: ReadonlyMap<string, number>;
  readonly files: number;
};

/** Runs the checks on each file of a year, in order. */
export function replayYear(shop: Shop, { expectedDates }: { expectedDates: readonly ExpectedDate[] }): Year {
  const months = new Map<string, number>();
  let earlier: DatedFile[] = [];
  let isOpen = false;
  let files = 0;
  for (const file of exportsOf(shop)) {
    const seen = place(file);
    const results = judgeFile({ seen, earlier, expectations: EXPECTATIONS, expectedDates });
    const isUnusual = results.some(({ verdict }) => verdict === 'warn');
    const month = file.arrivedAt.toISOString().slice(0, 7);
    if (isUnusual && !isOpen) months.set(month, (months.get(month) ?? 0) + 1);
    isOpen = isUnusual;
    files += 1;
    earlier = [...earlier.slice(-KEPT), seen];
  }
  return { months, files };
}
