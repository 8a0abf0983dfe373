import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openWorkshop, type Workshop } from '../../runs/workshop.ts';
import { reducedExport } from '../../support/reduced-export.ts';

const DAY_MS = 86_400_000;
/** A Thursday. */
const TODAY = Date.UTC(2026, 3, 30);
/** One file per day for five weeks: four Thursdays before the day that is checked. */
const LEARNT_DAYS = 35;
const ORDERS_A_DAY = 80;
const HEADER = [
  'Name',
  'Id',
  'Total',
  'Currency',
  'Discount Code',
  'Financial Status',
  'Created at',
  'Tags',
] as const;

type Order = Readonly<Record<(typeof HEADER)[number], string>>;

/** Returns the orders of one day: the same number every day, some with a code. */
function ordersOf(day: number): readonly Order[] {
  const date = new Date(TODAY + (day - 1) * DAY_MS).toISOString().slice(0, 10);
  return Array.from({ length: ORDERS_A_DAY }, (_, index) => ({
    Name: `#${day + 1_000}-${index}`,
    Id: `${(day + 1_000) * 1_000 + index}`,
    Total: `${20 + ((index * 7) % 60)}.50`,
    Currency: 'EUR',
    'Discount Code': index % 4 === 0 ? 'MIA10' : '',
    'Financial Status': index % 10 === 9 ? 'pending' : 'paid',
    'Created at': `${date} 10:00:${String(index % 60).padStart(2, '0')} +0000`,
    Tags: '',
  }));
}

function toCsv(orders: readonly Order[], header: readonly string[] = HEADER): string {
  const lines = orders.map((order) => HEADER.map((column) => order[column]).join(','));
  return `${[header.join(','), ...lines].join('\n')}\n`;
}

const flow = (expectations: string) => `
sources:
  shop: {uri: ./exports/, layout: shopify-orders, order_platform: shopify, time_zone: UTC, missing_columns: ${JSON.stringify(reducedExport('shopify-orders'))}, expect: ${expectations}}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv}
`;

/** Creates a file as if it had arrived at 05:00 on the given day. */
function arrive(shop: Workshop, name: string, { day, text }: { day: number; text: string }): void {
  shop.drop(name, text);
  const at = new Date(TODAY + day * DAY_MS + 5 * 3_600_000);
  utimesSync(join(shop.folder, 'exports', name), at, at);
}

const nameOf = (day: number) => `orders-${new Date(TODAY + day * DAY_MS).toISOString().slice(0, 10)}.csv`;

/** Opens a shop whose files of the past five weeks have been read and posted. */
async function openShop(expectations = '{}'): Promise<Workshop> {
  const shop = await openWorkshop({ flow: flow(expectations) });
  for (let day = -LEARNT_DAYS; day < 0; day += 1)
    arrive(shop, nameOf(day), { day, text: toCsv(ordersOf(day)) });
  const learnt = await shop.run();
  expect(learnt, learnt.stdout + learnt.stderr).toMatchObject({
    exitCode: 0,
    finished: { held_files: 0, check_warnings: 0 },
  });
  return shop;
}

type Found = { check: string; subject: string | null; verdict: string };

async function findings(shop: Workshop): Promise<readonly Found[]> {
  const { rows } = await sql<Found>`
    select check_name as check, subject, verdict from intake.check_findings order by finding_id`.execute(
    shop.db,
  );
  return rows;
}

const HOLD_ALL = `{${[
  'rows: hold, orders: hold, new_orders: hold, rejected: hold, blank_codes: hold, unattributed: hold, currencies: hold, statuses: hold',
  'median_value: hold, overlap: hold, newest_order: hold',
  'header: {new: hold, gone: hold, renamed: hold, reordered: hold}',
].join(', ')}}`;

const good = ordersOf(0);

/** A fault in an export, as shops and their tools cause it, and the check that must find it. */
const FAULTS: readonly { fault: string; text: string; check: string }[] = [
  { fault: 'half a file', text: toCsv(good.slice(0, ORDERS_A_DAY / 2 - 2)), check: 'orders' },
  {
    fault: 'a column that has moved into another',
    text: toCsv(good.map((order) => ({ ...order, 'Discount Code': order['Financial Status'] }))),
    check: 'blank_codes',
  },
  {
    fault: 'another column under the name of the status',
    text: toCsv(
      good.map((order, index) => ({ ...order, 'Financial Status': index % 2 === 0 ? 'paid' : 'manual' })),
    ),
    check: 'statuses',
  },
  { fault: 'a column that has another name', text: toCsv(good).replace('Tags', 'Labels'), check: 'header' },
  {
    fault: 'a stale export: orders of a month ago that no file had',
    text: toCsv(
      ordersOf(0).map((order, index) => ({
        ...order,
        'Created at': `2026-03-01 10:00:${String(index % 60).padStart(2, '0')} +0000`,
      })),
    ),
    check: 'newest_order',
  },
  {
    fault: 'a doubled export: yesterday’s once more, in another order',
    text: toCsv(ordersOf(-1).toReversed()),
    check: 'overlap',
  },
  {
    fault: 'codes that nobody owns',
    text: toCsv(good).replaceAll('MIA10', 'OTHER10'),
    check: 'unattributed',
  },
  {
    fault: 'amounts times 100',
    text: toCsv(good.map((order) => ({ ...order, Total: order.Total.replace('.', '') }))),
    check: 'median_value',
  },
];

describe('checks of a file before its orders are posted', () => {
  it('detect each fault with the right check and hold the file if the source says so, but not a correct file', async () => {
    const shop = await openShop(HOLD_ALL);
    const before = await shop.posted();
    for (const { fault, text, check } of FAULTS) {
      arrive(shop, nameOf(0), { day: 0, text });
      const { exitCode, finished } = await shop.run();
      expect({ fault, exitCode, held: finished?.held_files }).toEqual({ fault, exitCode: 3, held: 1 });
      const { rows } = await sql<{ code: string; checks: string[] }>`
        select f.hold_code as code, array_agg(g.check_name) as checks
        from intake.source_files f join intake.check_findings g using (source_file_id)
        where f.state = 'held' group by f.source_file_id order by f.source_file_id desc limit 1`.execute(
        shop.db,
      );
      expect({ fault, code: rows[0]?.code, isFound: rows[0]?.checks.includes(check) }).toEqual({
        fault,
        code: 'unusual_content',
        isFound: true,
      });
      expect(await shop.posted(), fault).toEqual(before);
    }
    arrive(shop, nameOf(0), { day: 0, text: toCsv(good) });
    expect(await shop.run()).toMatchObject({ exitCode: 0, finished: { held_files: 0, check_warnings: 0 } });
    expect((await shop.posted()).length).toBe(before.length + ORDERS_A_DAY / 4);
  });

  it('let a held file be read once a person acknowledges the findings, and record who did', async () => {
    const shop = await openShop(HOLD_ALL);
    const [half] = FAULTS;
    arrive(shop, nameOf(0), { day: 0, text: half?.text ?? '' });
    await shop.run();
    const before = (await shop.posted()).length;
    const { rows } = await sql<{
      id: string;
    }>`select finding_id as id from intake.check_findings order by 1`.execute(shop.db);
    const ids = rows.map(({ id }) => id);

    const one = await shop.cli('checks', 'acknowledge', ids[0] ?? '', '--reason', 'a strike');
    expect(one.stdout).toContain('still held');
    expect(await shop.run()).toMatchObject({ exitCode: 3 });
    expect((await shop.posted()).length).toBe(before);

    const rest = await shop.cli('checks', 'acknowledge', ...ids.slice(1), '--reason', 'a strike');
    expect(rest.stdout).toContain('The next run reads 1 held file.');
    expect(await shop.run()).toMatchObject({ exitCode: 0, finished: { held_files: 0, check_warnings: 0 } });
    expect((await shop.posted()).length).toBe(before + 10);
    const { rows: audited } = await sql<{ subject: string; reason: string }>`
      select subject, reason from ops.audit where action = 'acknowledge_check' order by audit_id`.execute(
      shop.db,
    );
    expect(audited).toEqual(ids.map((subject) => ({ subject, reason: 'a strike' })));
  });
});

describe('checks that only warn', () => {
  it('count the file, mention the finding in a run that exits with 0, and list it until it is acknowledged', async () => {
    const shop = await openShop();
    const [half] = FAULTS;
    arrive(shop, nameOf(0), { day: 0, text: half?.text ?? '' });
    const { exitCode, events, finished } = await shop.run();
    expect({ exitCode, status: finished?.status, warnings: finished?.check_warnings }).toEqual({
      exitCode: 0,
      status: 'ok',
      warnings: 3,
    });
    expect(events.filter(({ event }) => event === 'check_finding')).toHaveLength(3);
    expect((await shop.cli('status')).stdout).toContain('Unusual files (3)');
    const listed = (await shop.cli('checks')).stdout;
    expect(listed).toMatch(/orders +warn +38 +45 to 152/);
    const { rows } = await sql<{ id: string }>`select finding_id as id from intake.check_findings`.execute(
      shop.db,
    );
    await shop.cli('checks', 'acknowledge', ...rows.map(({ id }) => id), '--reason', 'a strike');
    expect((await shop.cli('checks')).stdout).toContain('Nothing is unusual.');
    expect((await shop.cli('status')).stdout).not.toContain('Unusual files');
  });

  it('ignore unusual amounts on an expected date, but still detect a decimal error', async () => {
    const shop = await openShop();
    const said = await shop.cli('checks', 'expect-date', '2026-04-30', 'a sale');
    expect(said.stdout).toContain('2026-04-30 is expected: a sale.');
    const many = Array.from({ length: 5 }, (_, copy) =>
      good.map((order) => ({ ...order, Name: `${order.Name}-${copy}`, Id: `${copy}${order.Id}` })),
    ).flat();
    arrive(shop, nameOf(0), {
      day: 0,
      text: toCsv(many.map((order) => ({ ...order, Total: order.Total.replace('.', '') }))),
    });
    await shop.run('--limit', '1');
    expect((await findings(shop)).map(({ check }) => check)).toEqual(['median_value']);
  });

  it('learn from the first files and report it', async () => {
    const shop = await openWorkshop({ flow: flow('{}') });
    arrive(shop, nameOf(0), { day: 0, text: toCsv(good) });
    await shop.run();
    const { stdout } = await shop.cli('checks');
    expect(stdout).toContain('learning: 0 of 4 days');
  });

  it('save no findings from a plan, so that the next run finds them', async () => {
    const shop = await openShop(HOLD_ALL);
    arrive(shop, nameOf(0), { day: 0, text: FAULTS[0]?.text ?? '' });
    const plan = await shop.cli('plan', 'orders');
    expect(plan.stdout).toContain('The file has 38 orders');
    expect(await findings(shop)).toEqual([]);
    expect(await shop.run()).toMatchObject({ exitCode: 3 });
  });
});
