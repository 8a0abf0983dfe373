import { expect, test } from 'vitest';
import { FileHeld } from '../../../src/core/held/file-held.ts';
import { loadLayout } from '../../../src/intake/layout/load-layout.ts';
import type { Layout } from '../../../src/intake/layout/to-layout.ts';
import { type DateOrder, watchDates } from '../../../src/intake/values/date-order.ts';
import { mapText } from '../orders/map/map-text.ts';

const GENERIC = loadLayout('generic');
/** Returns a layout with these time patterns. */
function withTimes(...formats: string[]): Layout {
  return { ...GENERIC, times: { ...GENERIC.times, formats } };
}
const EITHER = withTimes('iso', 'M/D/YYYY H:mm', 'D/M/YYYY H:mm');
const MONTH_FIRST = withTimes('MM/DD/YYYY');

/**
 * Returns the result of reading a file with these dates: the code of the hold, or the times that were read.
 */
async function read(layout: Layout, dates: readonly string[], dateOrder: DateOrder | null = null) {
  const source = { name: 'shop', timeZone: 'UTC', currency: 'EUR', dateOrder };
  const watch = watchDates(layout, source);
  const rows = dates.map((date, index) => `${index + 1},10.00,${date}`);
  const { orders, rejected } = await mapText(`order_id,order_revenue,placed_at\n${rows.join('\n')}\n`, {
    layout,
    source,
    dates: watch,
  });
  try {
    watch?.require();
  } catch (error) {
    if (error instanceof FileHeld) return error.reason;
    throw error;
  }
  return [...orders.map(({ placedAt }) => placedAt?.slice(0, 10)), ...rejected.map(({ code }) => code)];
}

test('ambiguous dates hold the file; the reason says how they would be read and asks for the setting', async () => {
  expect(await read(EITHER, ['4/5/2026 10:00', '5/5/2026 9:00', '12/1/2026 0:00'])).toMatchObject({
    code: 'date_order_unknown',
    message: expect.stringMatching(/2 dates.*would read the month first/),
    help: expect.stringContaining('date_order under sources.shop'),
  });
});

test('the setting of the source decides, whichever order the layout lists first', async () => {
  const dates = ['4/5/2026 10:00', '12/1/2026 0:00'];
  expect(await read(EITHER, dates, 'MDY')).toEqual(['2026-04-05', '2026-12-01']);
  expect(await read(EITHER, dates, 'DMY')).toEqual(['2026-05-04', '2026-01-12']);
  expect(await read(MONTH_FIRST, ['04/05/2026'], 'DMY')).toEqual(['2026-05-04']);
  expect(await read(EITHER, ['13/5/2026 10:00'], 'MDY')).toEqual(['bad_time']);
});

test('a day above 12 in the second place proves that the month comes first', async () => {
  expect(await read(EITHER, ['4/5/2026 10:00', '4/13/2026 10:00'])).toEqual(['2026-04-05', '2026-04-13']);
});

test('a day above 12 in the first place holds the file, because the other dates would be read wrongly', async () => {
  const contradicted = { code: 'date_order_contradicted', message: expect.stringContaining('line 3') };
  expect(await read(EITHER, ['4/5/2026 10:00', '13/4/2026 10:00'])).toMatchObject(contradicted);
  const fixed = await read(MONTH_FIRST, ['04/05/2026', '13/04/2026', '04/14/2026']);
  expect(fixed).toMatchObject({
    ...contradicted,
    message: expect.stringMatching(/1 date with the day first .*1 date with the month first \(line 4\)/),
  });
});

test('a layout with a single order leaves no doubt about days up to the 12th', async () => {
  expect(await read(MONTH_FIRST, ['04/05/2026', '04/06/2026'])).toEqual(['2026-04-05', '2026-04-06']);
});

test('ISO times, months as words, and days that equal their month are never ambiguous', async () => {
  const layout = withTimes('iso', 'MMM D, YYYY', 'M/D/YYYY H:mm', 'D/M/YYYY H:mm');
  expect(await read(layout, ['2026-04-05', '"Apr 5, 2026"', '5/5/2026 10:00'])).toEqual([
    '2026-04-05',
    '2026-04-05',
    '2026-05-05',
  ]);
  expect(watchDates(withTimes('iso', 'YYYY/MM/DD'), { name: 'shop', dateOrder: null })).toBeNull();
});

test('layouts of platforms whose shops choose the order list both, and the others list one', () => {
  const isOpen = (name: string): boolean => {
    const watch = watchDates(loadLayout(name), { name: 'shop', dateOrder: null });
    watch?.see('4/5/2026', 2);
    try {
      watch?.require();
      return false;
    } catch {
      return true;
    }
  };
  expect(['woocommerce-orders', 'woocommerce-analytics', 'bigcommerce-orders'].map(isOpen)).toEqual([
    true,
    true,
    true,
  ]);
  expect(['etsy-orders', 'shopify-orders'].map(isOpen)).toEqual([false, false]);
});
