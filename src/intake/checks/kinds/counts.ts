import type { FileStatistics } from '../../../core/checks/file-statistics.ts';
import { type Check, type CheckInput, formatNumber, type Judgement, judged, learning } from '../check.ts';
import { countRange, isWithin } from '../expected-range.ts';
import { alikeFiles, comparableFiles, MIN_DAYS } from '../past-files.ts';

/** Detects half a file, or a file with every row twice. */
export const rows: Check = {
  name: 'rows',
  isOfCalendar: true,
  judge: (input) =>
    judgeCount(input, {
      count: (file) => file.rows,
      noun: 'rows',
      alike: comparableFiles,
      cluster: rowsPerOrder(input),
    }),
};

export const orders: Check = {
  name: 'orders',
  isOfCalendar: true,
  judge: (input) =>
    judgeCount(input, {
      count: ({ orders: counts }) => (counts?.new ?? 0) + (counts?.known ?? 0),
      noun: 'orders',
      alike: comparableFiles,
    }),
};

/**
 * Detects an old export in a source whose files repeat all orders: only the number of new orders shows it.
 */
export const newOrders: Check = {
  name: 'new_orders',
  isOfCalendar: true,
  isOfNewFiles: true,
  judge: (input) =>
    judgeCount(input, { count: (file) => file.orders?.new ?? 0, noun: 'new orders', alike: alikeFiles }),
};

type Counted = {
  readonly count: (file: FileStatistics) => number;
  readonly noun: string;
  readonly alike: typeof alikeFiles;
  /** As in `countRange`. */
  readonly cluster?: number;
};

/**
 * Returns the usual number of rows for each order. In a file with a row for each item, the number of rows
 * varies by whole orders.
 */
function rowsPerOrder({ history }: CheckInput): number {
  let rowCount = 0;
  let orderCount = 0;
  for (const { rows: ofFile, orders: counts } of history) {
    rowCount += ofFile;
    orderCount += (counts?.new ?? 0) + (counts?.known ?? 0);
  }
  return orderCount === 0 ? 1 : Math.max(1, rowCount / orderCount);
}

function judgeCount(input: CheckInput, { count, noun, alike, cluster = 1 }: Counted): readonly Judgement[] {
  const { seen, expectations } = input;
  const { files, what, have, deviations } = alike(input);
  const value = count(seen);
  const text = formatNumber(value);
  if (have < MIN_DAYS) return [learning(text, { have, need: MIN_DAYS })];
  const range = countRange(files().map(count), { floor: expectations.floor, cluster, deviations });
  const expected = `${formatNumber(range.low)} to ${formatNumber(range.high)}`;
  const message = `The file has ${text} ${noun}; usual ${what} are ${expected}.`;
  return [judged(text, expected, isWithin(value, range) ? null : { message })];
}
