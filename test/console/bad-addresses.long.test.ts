import { brotliCompressSync } from 'node:zlib';
import { sql } from 'kysely';
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
  'suggest',
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
  for (const { path } of pages.filter((page) => page.path.includes(':'))) {
    for (const value of BAD) await tryAll(path.replaceAll(/:\w+/g, value));
    // Of any length: the answer is a page.
    const { text } = await get(path.replace(/:\w+$/, 'x'.repeat(3_000)).replaceAll(/:\w+/g, '1'));
    if (!text.startsWith('<!DOCTYPE html>')) failed.push(`no page: ${path}`);
  }
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

it('each choice of a filter is found by its word and by its name, in any case', async () => {
  const { shop, paths } = await openConsoleShop({ hasBadFiles: true });
  const { get } = await startTestConsole(shop);
  // The rows and the choice, without the address and the texts that were typed.
  const shownAt = async (path: string, name: string, value: string) => {
    const { status, text } = await get(`${path}?${new URLSearchParams({ [name]: value })}`);
    return [
      status,
      ...(text.match(/<tr data-row|<option value="[^"]*" selected>|class="none">[^<]*/g) ?? []),
    ];
  };
  const differing: string[] = [];
  let choices = 0;
  for (const path of new Set(paths.map((one) => one.split('?')[0] ?? one))) {
    const [form = ''] = /<form[^>]*class="filter"[\s\S]*?<\/form>/.exec((await get(path)).text) ?? [];
    for (const [, name = '', options = ''] of form.matchAll(/<select name="(\w+)">(.*?)<\/select>/gs))
      for (const [, value = '', word = ''] of options.matchAll(/<option value="([^"]+)"[^>]*>([^<]*)/g)) {
        choices += 1;
        const byName = await shownAt(path, name, value);
        for (const other of [word, word.toUpperCase(), value.toUpperCase()])
          if (`${await shownAt(path, name, other)}` !== `${byName}`)
            differing.push(`${path}?${name}=${other}`);
      }
  }
  expect(differing).toEqual([]);
  expect(choices).toBeGreaterThan(50);
});

it('a page is below 60 kB, however many rows its list has', async () => {
  const { shop } = await openConsoleShop();
  const { url } = await startTestConsole(shop);
  // Texts of 200 characters that differ.
  const text = sql`repeat('x', 150) || md5(n::text) || n`;
  const rows = sql`generate_series(1, 10000) n`;
  await sql`insert into intake.code_assignments (job, code, code_folded, influencer_handle, assigned_by) select 'orders', ${text}, ${text}, ${text}, 'ann' from ${rows}`.execute(
    shop.db,
  );
  await sql`insert into reporting.code_days (day_utc, job, source, code_folded, code, carried_as, currency, orders, amount) select '2026-04-10', 'orders', 'shop', upper(${text}), ${text}, 'code', 'EUR', 1, n from ${rows}`.execute(
    shop.db,
  );
  await sql`
    insert into intake.check_findings (source_file_id, source, check_name, subject, verdict, seen, expected, message, line_nos, run_id)
    select 1, 'shop', 'median_value', n::text, 'warn', '4', '40', ${text}, '{2}', 1 from ${rows}`.execute(
    shop.db,
  );
  await sql`
    insert into reporting.order_dispositions select (d.new).* from (select jsonb_populate_record(o, jsonb_build_object('order_id', ${text},
      'matched_value', ${text}, 'influencer_handle', ${text})) as new from (select o from reporting.order_dispositions o limit 1) one(o), ${rows}) d`.execute(
    shop.db,
  );
  const many = [
    '/codes?show=assigned',
    '/codes',
    '/checks',
    '/checks/1',
    '/orders?outcome=no+code',
    '/fix',
    '/fix?all=yes',
  ];
  for (const path of many) {
    const response = await fetch(`${url}${path}`, { headers: { 'accept-encoding': 'br' } });
    expect([path, response.status]).toEqual([path, 200]);
    const bytes = brotliCompressSync(await response.text()).byteLength;
    expect([path, bytes < 60_000, bytes]).toEqual([path, true, bytes]);
  }
});
