import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { acknowledgeLeak } from '../../src/decisions/acknowledge-leak.ts';
import { findLeaks } from '../../src/money/leaks/find-leaks.ts';
import { type ActorlessRecord, recordAudit } from '../../src/ops/record-audit.ts';
import { openWorkshop } from '../runs/workshop.ts';
import { reducedExport } from '../support/reduced-export.ts';
import { setup } from '../support/setup.ts';

const FLOW = `
customers: {hash_key: "test-only-0123456789abcdef0123456789abcdef"}
sources:
  shop: {uri: ./exports/, layout: shopify-orders, order_platform: shopify, customer_key: true, missing_columns: ${JSON.stringify(reducedExport('shopify-orders'))}}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
`;
const HEADER = 'Name,Email,Financial Status,Currency,Total,Discount Code,Created at,Note Attributes,Id';
const DAY_MS = 86_400_000;

/**
 * Creates two orders per day with each of two codes, all through the creator's link, and 14 orders of yesterday with each
 * without a link, from customers who had ordered before.
 */
function toCsv(): string {
  const row = (id: number, daysAgo: number, [email, link, code]: readonly string[]): string => {
    const at = new Date(Date.now() - daysAgo * DAY_MS).toISOString().replace('T', ' ').slice(0, 19);
    return `#${id},${email},paid,EUR,10.00,${code},${at} +0000,${link},${id}`;
  };
  const rows = ['MIA10', 'BEN15'].flatMap((code, no) => [
    ...Array.from({ length: 120 }, (_, index) =>
      row(1_000 * no + index + 1, 61 - Math.floor(index / 2), [
        `ann${index % 20}@example.com`,
        'utm_campaign: spring',
        code,
      ]),
    ),
    ...Array.from({ length: 14 }, (_, index) =>
      row(1_000 * no + 500 + index, 1, [`ann${index}@example.com`, '', code]),
    ),
  ]);
  return `${[HEADER, ...rows].join('\n')}\n`;
}

it('leaks lists a code with its evidence, exits with 3 until it is acknowledged, and withholds no credit', async () => {
  const shop = await openWorkshop({ flow: FLOW });
  shop.drop('orders.csv', toCsv());
  const { finished } = await shop.run();
  expect(finished?.counts.entries.accepted).toBe(268);
  const found = await shop.cli('leaks');
  const yesterday = new Date(Date.now() - DAY_MS).toISOString().slice(0, 10);
  expect(found.exitCode).toBe(3);
  expect(found.stdout.replace(/\s+/g, ' ')).toMatch(
    /mia10 \(mia\.test, deal DEALMIA\), since \d{4}-\d\d-\d\d: 14 of 1[46] orders in 2 days without a link; usually \d(?:\.\d)?, and \d+ % of all orders\. Of \d+ known customers, \d+ had ordered before\./,
  );
  // Each code once, with its own owner.
  expect(found.stdout.match(/\w+15 \([^)]*\)|\w+10 \([^)]*\)/g)).toEqual([
    'ben15 (ben.test, deal DEALBEN)',
    'mia10 (mia.test, deal DEALMIA)',
  ]);
  // The 14 orders are the leak, and each earns nothing from then on: a deal's rate is that of the service here, so unknown.
  expect(found.stdout.replace(/\s+/g, ' ')).toContain(`It began on ${yesterday}.`);
  const preview = await shop.cli('leaks', 'void', 'MIA10', '--dry-run');
  expect([preview.exitCode, preview.stdout.replace(/\s+/g, ' ')]).toEqual([
    0,
    expect.stringContaining(
      `If mia10 earns nothing from ${yesterday} A void takes the commission of every order by the code, with or without a link`,
    ),
  ]);
  expect(preview.stdout.replace(/\s+/g, ' ')).toMatch(
    /14 orders with the code since then: 0 with a link of the creator, 14 without\..* Usually the code has 2 orders a day\. /,
  );
  const refused = await shop.cli('leaks', 'void', 'MIA10', '--reason', 'a coupon site');
  expect([refused.exitCode, refused.stderr.replace(/\s+/g, ' ')]).toEqual([
    2,
    expect.stringContaining(`mia10,0,${yesterday},a coupon site`),
  ]);
  expect((await shop.cli('leaks', 'void', 'MIA11', '--from', yesterday, '--dry-run')).exitCode).toBe(2);
  const next = async () => (await shop.cli('run', 'orders')).stdout.replace(/\s+/g, ' ');
  expect(await next()).toContain('14 of 1');
  const reason = 'jane@example.com told us: a podcast';
  expect((await shop.cli('leaks', 'acknowledge', 'NOBODY', '--reason', reason)).exitCode).toBe(2);
  expect((await shop.cli('leaks', 'acknowledge', 'mia10', '--reason', reason)).exitCode).toBe(0);
  expect((await shop.cli('leaks')).exitCode).toBe(3);
  expect((await shop.cli('leaks', 'acknowledge', 'BEN15', '--reason', 'the same')).exitCode).toBe(0);
  expect(await next()).not.toContain('without a link');
  const seen = await shop.cli('leaks');
  expect([seen.exitCode, seen.stdout.replace(/\s+/g, ' ')]).toEqual([
    0,
    expect.stringContaining('j***@*** told us: a podcast'),
  ]);
  const audit = await shop.db.selectFrom('ops.audit').select(['action', 'subject_kind', 'subject']).execute();
  expect(audit).toEqual([
    { action: 'acknowledge_leak', subject_kind: 'code', subject: expect.stringMatching(/mia10/i) },
    { action: 'acknowledge_leak', subject_kind: 'code', subject: expect.stringMatching(/ben15/i) },
  ]);
});

it('an acknowledgement is about the leak that was seen: not about one that doubled, or a code of another deal', async () => {
  const { db } = await setup();
  await sql`
    insert into reporting.code_use_days (day_utc, code_folded, orders, without_link)
    select date '2026-11-25' - n, 'mia10', case when n < 2 then 12 else 2 end, case when n < 2 then 10 else 0 end
    from generate_series(0, 80) n`.execute(db);
  await sql`
    insert into intake.codes (job, line_no, code, code_folded, influencer_handle, deal_id, target)
    values ('orders', 2, 'MIA10', 'mia10', 'mia.test', 'DEALMIA', 'deal:DEALMIA')`.execute(db);
  const now = new Date('2026-11-25T12:00:00Z');
  const reasons = async () => (await findLeaks(db, { now })).map(({ acknowledged }) => acknowledged?.reason);
  const acknowledge = (reason: string, change: Partial<ActorlessRecord> = {}) =>
    db
      .transaction()
      .execute((trx) =>
        acknowledgeLeak(trx, {
          ...{ code: 'mia10', reason, now },
          audit: (record) => recordAudit(trx, { ...record, ...change, actor: 'ada', via: 'command' }),
        }),
      );
  await acknowledge('a podcast');
  expect(await reasons()).toEqual(['a podcast']);
  const use = (withoutLink: number) =>
    sql`update reporting.code_use_days set orders = ${withoutLink} + 2, without_link = ${withoutLink}
      where day_utc > '2026-11-23'`.execute(db);
  await use(20);
  expect(await reasons()).toEqual(['a podcast']);
  await use(21);
  expect(await reasons()).toEqual([undefined]);
  await acknowledge('still the podcast');
  expect(await reasons()).toEqual(['still the podcast']);
  await sql`update intake.codes set deal_id = 'DEALBEN'`.execute(db);
  expect(await reasons()).toEqual([undefined]);
  await acknowledge('as an earlier version recorded it', { after: { without_link: 1 } });
  expect(await reasons()).toEqual(['as an earlier version recorded it']);
});

it('what is usual is that of the time before a leak, however long it has lasted', async () => {
  const { db } = await setup();
  // Two orders a day with a link, and in the last 20 days ten others without.
  await sql`
    insert into reporting.code_use_days (day_utc, code_folded, orders, without_link)
    select date '2026-11-25' - n, 'mia10', case when n < 20 then 12 else 2 end, case when n < 20 then 10 else 0 end
    from generate_series(0, 80) n`.execute(db);
  await sql`
    insert into intake.codes (job, line_no, code, code_folded, influencer_handle, deal_id, target)
    values ('orders', 2, 'MIA10', 'mia10', 'mia.test', 'DEALMIA', 'deal:DEALMIA')`.execute(db);
  expect(await findLeaks(db, { now: new Date('2026-11-25T12:00:00Z') })).toMatchObject([
    {
      since: '2026-11-05',
      began: { from: '2026-11-06', to: '2026-11-06' },
      days: 2,
      orders: 24,
      withoutLink: 20,
      usualOrders: 4,
      usualWithoutLink: 0,
      usualShare: 0,
    },
  ]);
});
