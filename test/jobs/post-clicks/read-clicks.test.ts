import { expect, test } from 'vitest';
import { readClicks } from '../../../jobs/post-clicks/read-clicks.ts';
import { parseCsv } from '../../../src/intake/csv/parse-csv.ts';
import { loadLayout } from '../../../src/intake/layout/load-layout.ts';
import type { ExclusionRule, MoneyFormat } from '../../../src/intake/layout/to-layout.ts';
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

const BOTS: ExclusionRule = {
  reason: 'bot',
  columns: ['type'],
  equals: ['bot'],
  unless: ['link', ''],
  noneOf: null,
  notBlank: false,
  matches: null,
};

/** Reads rows of `kind,clicks`. @returns the clicks that count, and what became of the other rows. */
async function readKinds(rows: readonly string[], exclusions: readonly ExclusionRule[] = [], name = 'type') {
  const text = `day,code,${name},clicks\n${rows.map((row) => `2026-04-10,MIA10,${row}\n`).join('')}`;
  const chunks = parseCsv(inPieces(text, 100), PARSE_OPTIONS);
  const layout = { ...loadLayout('generic-clicks'), exclusions };
  const options = { layout, readFor: 'clicks' } as const;
  const read = readClicks({ name: 'x', dateOrder: null });
  const batches = await Array.fromAsync(mapRows(chunks, { ...options, ...read }));
  return batches.map(({ rows: counted, passedOver, rejected }) => ({
    clicks: counted.map(({ content }) => content.clicks),
    passedOver,
    rejected: rejected.map(({ code, value }) => [code, value]),
  }));
}

test('a file is held if a column tells bots from people and the layout does not read it, and is read by exclusions', async () => {
  for (const name of ['type', 'Bot', 'Is test', 'Traffic type', 'Is valid', 'User agent'])
    await expect(readKinds(['link,3', 'bot,40'], [], name)).rejects.toMatchObject({
      reason: { code: 'column_missing' },
    });
  expect(await readKinds(['link,3', 'bot,40', ',4', 'crawler,5'], [BOTS])).toEqual([
    { clicks: [3, 4], passedOver: { bot: 1 }, rejected: [['unknown_kind', 'crawler']] },
  ]);
  // Whatever the column is called.
  expect(await readKinds(['desktop,3', ' Bot,40', 'Googlebot,5', 'robot vacuum,6'], [], 'device')).toEqual([
    {
      clicks: [3, 6],
      passedOver: {},
      rejected: [
        ['unknown_kind', ' Bot'],
        ['unknown_kind', 'Googlebot'],
      ],
    },
  ]);
  const byDevice = { ...BOTS, columns: ['device'], unless: ['desktop'] };
  expect(await readKinds(['desktop,3', 'bot,40'], [byDevice], 'device')).toMatchObject([
    { clicks: [3], rejected: [] },
  ]);
  // A file may have two of the spellings.
  const both = { ...BOTS, columns: ['type', 'Bot'] };
  expect(await readKinds(['link,bot,3', 'link,,4', ',crawler,5'], [both], 'type,Bot')).toEqual([
    { clicks: [4], passedOver: { bot: 1 }, rejected: [['unknown_kind', 'crawler']] },
  ]);
  await expect(readKinds(['x,3'], [BOTS], 'device type')).rejects.toMatchObject({
    reason: { code: 'column_missing', message: expect.stringContaining('lacks "type"') },
  });
  expect(await readKinds(['x,3'], [], 'device type')).toMatchObject([{ clicks: [3] }]);
});

test('a row that may add up the others, by a column that the layout does not read, is rejected', async () => {
  expect(await readKinds(['mobile,3', 'desktop,4', 'All,7', '(all),7', 'Total:,7'], [], 'device')).toEqual([
    {
      clicks: [3, 4],
      passedOver: {},
      rejected: [
        ['may_be_total', 'All'],
        ['may_be_total', '(all)'],
        ['may_be_total', 'Total:'],
      ],
    },
  ]);
});

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
