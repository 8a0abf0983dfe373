import { expect, it } from 'vitest';
import { pages } from '../../src/console/pages/index.ts';
import { startTestConsole, textOf } from './console-server.ts';
import { openConsoleShop } from './console-shop.ts';

/** Values that are no date, number, id, zone or key of a row, each as it stands in an address. */
const BAD = ['a%00b', '%ED%A0%80', '-1', '1e999', '99999999999999999999', '2026-02-31', '%5B%5D', "'%22%5C"];

/** Keys of rows after which a next page begins: of no row, or of none that can exist. */
const KEYS = [
  ...[
    '%5B%22a%22%5D',
    '%5B%22a%22%2C%22b%22%5D',
    '%5B%22a%22%2C%22b%22%2C%22c%22%5D',
    '%5B%22%5Cu0000%22%2C%22b%22%5D',
  ],
  ...['%5B%222026-02-31%22%2C%2299999999999999999999%22%5D', '%5B%221e999%22%5D'],
];

/** Every name that some page reads. */
const DAYS = ['from', 'to'];
const NAMES = [
  'actor',
  'after',
  'brand',
  'bulk',
  'by',
  'code',
  'currency',
  'deal',
  'disposition',
  'done',
  'download',
  'effect',
  'entry',
  'file',
  'handle',
  'in',
  'job',
  'kind',
  'layout',
  'month',
  'older',
  'order',
  'outcome',
  'problem',
  'reason',
  'run',
  'show',
  'source',
  'state',
  'status',
  'subject',
  'until',
  'why',
  'zone',
];

it('no address of a page makes it fail: it shows something, or says what is wrong with the address', async () => {
  const { shop, paths } = await openConsoleShop();
  const errors: unknown[] = [];
  const { get } = await startTestConsole(shop, {}, { errors });
  const failed: string[] = [];
  const tryAll = async (address: string) => {
    const { status } = await get(address);
    if (status >= 500) failed.push(`${status} ${address}`);
  };
  for (const path of new Set(paths.map((one) => one.split('?')[0] ?? one))) {
    for (const value of BAD) await tryAll(`${path}?${NAMES.map((name) => `${name}=${value}`).join('&')}`);
    for (const key of KEYS)
      await tryAll(`${path}?after=${key}&${DAYS.map((name) => `${name}=2026-04-10`).join('&')}`);
  }
  for (const { path } of pages.filter((page) => page.path.includes(':')))
    for (const value of BAD) await tryAll(path.replaceAll(/:\w+/g, value));
  expect(failed).toEqual([]);
  expect(errors).toEqual([]);
});

it.each([
  ['/orders?from=2026-02-31', 'The value of "from" in the address cannot be used. Write a day that exists'],
  [
    '/money?from=Oktober',
    'The value of "from" in the address cannot be used. Write a month such as 2026-10.',
  ],
  [
    '/deals?state=dead',
    'The value of "state" in the address cannot be used. Write one of these: active, inactive',
  ],
  ['/audit?bulk=some', 'The value of "bulk" in the address cannot be used. Write a number.'],
  ['/orders?to=tomorrow', 'The value of "to" in the address cannot be used.'],
  ['/orders?q=a%00b', 'The value of "q" in the address cannot be used. It contains a NUL character'],
  ['/deals/a%00b', 'It contains a NUL character (%00)'],
])('%s is a bad request, and the page says why', async (address, why) => {
  const { shop } = await openConsoleShop();
  const { get } = await startTestConsole(shop);
  const { status, text } = await get(address);
  expect(status).toBe(400);
  expect(textOf(text)).toContain(why);
});
