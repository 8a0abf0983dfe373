import { expect, test } from 'vitest';
import { readClicks } from '../../../jobs/post-clicks/read-clicks.ts';
import { parseCsv } from '../../../src/intake/csv/parse-csv.ts';
import { loadLayout } from '../../../src/intake/layout/load-layout.ts';
import type { MoneyFormat } from '../../../src/intake/layout/to-layout.ts';
import { mapRows } from '../../../src/intake/map/map-rows.ts';
import { inPieces, PARSE_OPTIONS } from '../../intake/csv/parse-text.ts';

/** Reads a cell as a number of clicks. @returns null if the row is rejected. */
async function countOf(cell: string, thousands: MoneyFormat['thousands']): Promise<number | null> {
  const layout = loadLayout('generic-clicks');
  const chunks = parseCsv(inPieces(`day,code,clicks\n2026-04-10,MIA10,"${cell}"\n`, 100), PARSE_OPTIONS);
  const options = {
    layout: { ...layout, money: { ...layout.money, thousands } },
    readFor: 'clicks',
  } as const;
  for await (const { rows } of mapRows(chunks, { ...options, ...readClicks({ name: 'x', dateOrder: null }) }))
    for (const { content } of rows) return content.clicks;
  return null;
}

test.each([
  ['1,234', 1_234],
  ['12,345,678', 12_345_678],
  ['0', 0],
  ['1234', 1_234],
  ['1,5', null],
  ['12,34', null],
  ['1234,567', null],
  [',123', null],
  ['1.5', null],
  ['-3', null],
])('%s is read as %s clicks', async (cell, clicks) => {
  expect(await countOf(cell, ',')).toBe(clicks);
});

test('a separator of another country is no number of clicks', async () => {
  expect(await countOf('1.234', '.')).toBe(1_234);
  expect(await countOf('1,234', '.')).toBe(null);
  expect(await countOf('1,234', null)).toBe(null);
});
