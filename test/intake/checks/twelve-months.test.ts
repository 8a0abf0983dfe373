import { describe, expect, it } from 'vitest';
import type { FileStatistics } from '../../../src/core/checks/file-statistics.ts';
import type { DatedFile } from '../../../src/intake/checks/check.ts';
import { judgeFile } from '../../../src/intake/checks/judge-file.ts';
import { ANNOUNCED, place, replayYear } from './replay-year.ts';
import { EXPECTATIONS, exportsOf, SHOPS, type Shop } from './synthetic-shop.ts';

describe('twelve months of a shop without faults', () => {
  it.each(SHOPS.filter(({ exports: files }) => files !== 'hourly'))(
    '$name: causes at most one notice a month if its sales are announced',
    (shop) => {
      const { months, files } = replayYear(shop, { expectedDates: ANNOUNCED });
      expect(files).toBeGreaterThanOrEqual(365);
      expect([...months].filter(([, notices]) => notices > 1)).toEqual([]);
    },
  );

  it('an unannounced sale causes a notice', () => {
    const [large] = SHOPS;
    if (large === undefined) throw new Error('there is no shop');
    expect(replayYear(large, { expectedDates: [] }).months.get('2026-11')).toBe(1);
  });
});

/** Returns the last day of a half-year without faults and the files before it. */
function lastDayOf(shop: Shop): { seen: FileStatistics; earlier: readonly DatedFile[] } {
  const all = [...exportsOf(shop)].slice(0, 200);
  const seen = all.at(-1);
  if (seen === undefined) throw new Error('there is no file');
  return { seen, earlier: all.slice(0, -1).map(place) };
}

const DAILY = SHOPS.filter(({ exports: files, ordersADay }) => files === 'daily' && ordersADay >= 100);

/** How each fault changes a file, and the check that must find it. */
const FAULTS: readonly {
  readonly fault: string;
  readonly check: string;
  readonly change: (file: FileStatistics) => FileStatistics;
}[] = [
  {
    fault: 'a doubled export',
    check: 'overlap',
    change: (file) => withOrders(file, ({ new: fresh, known }) => ({ new: 0, known: fresh + known })),
  },
  {
    fault: 'a stale export',
    check: 'newest_order',
    change: (file) =>
      withOrders(file, () => ({ newestAt: new Date(file.arrivedAt.getTime() - 30 * 86_400_000) })),
  },
  {
    fault: 'a column that has moved into that of the codes',
    check: 'blank_codes',
    change: (file) => withOrders(file, () => ({ blankCodes: 0 })),
  },
  {
    fault: 'codes that nobody owns',
    check: 'unattributed',
    change: (file) => withOrders(file, ({ coded }) => ({ unowned: coded })),
  },
  {
    fault: 'amounts times 100',
    check: 'median_value',
    change: (file) => withOrders(file, () => ({ amounts: { EUR: { orders: 100, median: '4800.0000' } } })),
  },
  {
    fault: 'rows that cannot be used',
    check: 'rejected',
    change: (file) => ({ ...file, rejectedRows: Math.round(file.rows / 10) }),
  },
  {
    fault: 'another currency',
    check: 'currencies',
    change: (file) => withOrders(file, ({ judged }) => ({ currencies: { CHF: judged } })),
  },
  {
    fault: 'statuses that are no statuses',
    check: 'statuses',
    change: (file) => withOrders(file, ({ judged }) => ({ statuses: { '(other)': judged } })),
  },
];

function withOrders(
  file: FileStatistics,
  change: (orders: NonNullable<FileStatistics['orders']>) => Partial<NonNullable<FileStatistics['orders']>>,
): FileStatistics {
  return file.orders === null ? file : { ...file, orders: { ...file.orders, ...change(file.orders) } };
}

describe.each(DAILY)('a fault after half a year of $name', (shop) => {
  const { seen, earlier } = lastDayOf(shop);

  it('a file without the fault causes no warning', () => {
    const results = judgeFile({ seen: place(seen), earlier, expectations: EXPECTATIONS, expectedDates: [] });
    expect(results.filter(({ verdict }) => verdict === 'warn')).toEqual([]);
  });

  it.each(FAULTS)('$fault is detected by $check', ({ check, change }) => {
    const faulty = place(change(seen));
    const results = judgeFile({ seen: faulty, earlier, expectations: EXPECTATIONS, expectedDates: [] });
    expect(results.filter(({ verdict }) => verdict === 'warn').map((one) => one.check)).toContain(check);
  });
});

/** Returns the share of a shop's days, from its hundredth day on, on which a half file would be detected. */
function shareOfHalvesSeen(shop: Shop): number {
  const all = [...exportsOf(shop)].map(place);
  const halves = all.slice(100, 300).map((file, day) => {
    const half = withOrders(file, ({ new: fresh, known }) => ({ new: fresh >> 1, known: known >> 1 }));
    const seen = { ...file, ...half, rows: file.rows >> 1 };
    const earlier = all.slice(0, 100 + day);
    return judgeFile({ seen, earlier, expectations: EXPECTATIONS, expectedDates: [] });
  });
  const isSeen = (results: (typeof halves)[number]) => results.some(({ verdict }) => verdict === 'warn');
  return halves.filter(isSeen).length / halves.length;
}

describe('a truncated file', () => {
  it.each([
    [0, 0.9],
    [1, 0.6],
  ])('of shop %i is detected on a share of at least %d of all days', (index, least) => {
    const shop = SHOPS[index];
    if (shop === undefined) throw new Error('there is no such shop');
    expect(shareOfHalvesSeen(shop)).toBeGreaterThanOrEqual(least);
  });
});
