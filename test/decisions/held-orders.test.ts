import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { jobKinds, loadConfig } from '../../jobs/index.ts';
import { inTransaction } from '../../src/db/in-transaction.ts';
import { decideHeld, describeDecision } from '../../src/decisions/decide-held.ts';
import { observeProblems } from '../../src/monitoring/notify/observe-problems.ts';
import { problemFinders } from '../../src/monitoring/notify/problems/index.ts';
import { digestHeld, listHeldGroups } from '../../src/reports/held/held-orders.ts';
import { openWorkshop, toCsv, type Workshop } from '../runs/workshop.ts';

/** The layout lists no statuses, so the job does. */
const flowOf = (source = 'shop', platform = 'shopify') => `
sources:
  ${source}: {uri: ./exports/, layout: generic, order_platform: ${platform}, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: ${source}, brand_id: 4819, codes: ./codes.csv, revenue: total, include: [paid]}
`;

/** The held orders as `review --held --json` lists them: `source reason status: orders amount`. */
async function heldOf(shop: Workshop): Promise<readonly string[]> {
  const { stdout } = await shop.cli('review', '--held', '--json');
  return stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ event }) => event === 'held_orders')
    .map(({ source, reason, status, orders, amount, currency }) =>
      [source, reason, ...(status === null ? [] : [JSON.stringify(status)]), orders, amount, currency].join(
        ' ',
      ),
    )
    .toSorted();
}

it('an order with a status that nobody knows is held with its amount, and one decision settles all with that status', async () => {
  const shop = await openWorkshop({ flow: flowOf() });
  shop.drop(
    'orders.csv',
    toCsv([
      { id: '101' },
      { id: '102', status: 'wc-shipped', revenue: '20.00' },
      { id: '103', status: 'wc-shipped', revenue: '30.00' },
      { id: '104', status: '', revenue: '40.00' },
      { id: '105', status: '-', revenue: '50.00' },
      { id: '106', status: 'cancelled', revenue: '60.00' },
    ]),
  );
  const first = await shop.run();
  expect(first.exitCode).toBe(3);
  expect(await shop.posted()).toEqual(['101']);
  expect(await heldOf(shop)).toEqual([
    'shop unknown_status "" 1 40.0000 EUR',
    'shop unknown_status "-" 1 50.0000 EUR',
    'shop unknown_status "wc-shipped" 2 50.0000 EUR',
  ]);
  expect((await shop.cli('status')).stdout).toContain('Held orders (4)');
  expect((await shop.cli('review')).exitCode).toBe(3);

  // What is suggested about one order is about that order, and can be pasted.
  const one = (await shop.cli('review', '--held', '--order', '103', '--job', 'orders')).stdout;
  expect(one).toContain('--why unknown_status --status wc-shipped --job orders --order 103 --credit');

  // Nothing is decided if any amount was another when it was shown, even if the sums are the same.
  const shown = await digestHeld(shop.db, {});
  const move = async (by: number) =>
    await sql`update intake.attributions set amount = amount + case order_id when '102' then ${by}::numeric else -${by}::numeric end
      where order_id in ('102', '103')`.execute(shop.db);
  await move(10);
  const late = { decision: 'exclude', reason: 'late', decidedBy: 'ann', audit: async () => '1' } as const;
  expect(await inTransaction(shop.db, (trx) => decideHeld(trx, { filter: {}, shown, ...late }))).toEqual({
    kind: 'changed',
    groups: await listHeldGroups(shop.db),
  });
  await move(-10);

  // An order that is held only after they were compared is not decided about.
  const named = { orderIds: ['102', '104'] };
  const hold = async (outcome: string) =>
    await sql`update intake.attributions set outcome = ${outcome} where order_id = '104'`.execute(shop.db);
  await hold('excluded');
  const before = await digestHeld(shop.db, named);
  const undo = new Error('undo');
  const race = inTransaction(shop.db, async (trx) => {
    const meanwhile = trx.withPlugin({
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        if (result.rows.some((row) => 'digest' in row)) await hold('held');
        return result;
      },
    });
    await decideHeld(meanwhile, { filter: named, shown: before, ...late });
    expect(await trx.selectFrom('intake.rulings').select('order_id').execute()).toEqual([
      { order_id: '102' },
    ]);
    throw undo;
  });
  await expect(race).rejects.toBe(undo);

  // What a person confirms of one word holds for no other, so each is asked for by itself, before the confirmation.
  const why = ['--reason', 'they are paid'];
  for (const more of [['--yes'], ['--dry-run'], ['--source', 'shop', '--why', 'unknown_status']]) {
    const several = await shop.cli('review', '--held', '--credit', ...why, ...more);
    expect([several.exitCode, several.stderr.replace(/\s+/g, ' ')]).toEqual([
      2,
      expect.stringContaining(
        "Choose one of them: --source shop --why unknown_status --status wc-shipped; --source shop --why unknown_status --status ''; --source shop --why unknown_status --status -. Or name orders with --order.",
      ),
    ]);
  }
  expect(await shop.db.selectFrom('intake.rulings').select('order_id').execute()).toEqual([]);

  const which = ['--source', 'shop', '--status', 'wc-shipped'];
  const unsure = await shop.cli('review', '--held', ...which, '--credit', '--yes');
  expect(unsure.exitCode).toBe(2);
  const counted = await shop.cli(
    'review',
    '--held',
    ...which,
    '--credit',
    '--reason',
    'they are paid',
    '--yes',
  );
  expect(counted.stderr + counted.stdout).toContain('2 held orders (50.00 EUR) may be credited.');
  await shop.cli('review', '--held', '--status', '', '--exclude', '--reason', 'not paid', '--yes');
  expect((await shop.run()).exitCode).toBe(3);
  expect(await shop.posted()).toEqual(['101', '102', '103']);
  expect(await heldOf(shop)).toEqual(['shop unknown_status "-" 1 50.0000 EUR']);

  // The decision holds for orders that come later.
  shop.drop(
    'more.csv',
    toCsv([
      { id: '201', status: 'wc-shipped' },
      { id: '202', status: '' },
      { id: '203', status: 'none', code: '' },
    ]),
  );
  await shop.run();
  expect(await shop.posted()).toEqual(['101', '102', '103', '201']);
  // What a file states is shown, even if the word is the one for nothing.
  const { stdout } = await shop.cli('explain', 'order', '203');
  expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(/status none.*no code/);
});

it('an id that looks like one that was posted is held, until a person says that it is another order', async () => {
  const shop = await openWorkshop({ flow: flowOf() });
  shop.drop('day1.csv', toCsv([{ id: '101' }, { id: '1001' }]));
  expect((await shop.run()).exitCode).toBe(0);
  shop.drop('day2.csv', toCsv([{ id: '00101' }, { id: '#1001', revenue: '12.00' }, { id: '102' }]));
  expect((await shop.run()).exitCode).toBe(3);
  expect(await shop.posted()).toEqual(['1001', '101', '102']);
  expect(await heldOf(shop)).toEqual(['shop similar_id 2 22.0000 EUR']);
  const decide = (order: string, decision: string) =>
    shop.cli('review', '--held', '--order', order, decision, '--reason', 'compared', '--yes');
  expect((await decide('00101', '--exclude')).exitCode).toBe(0);
  expect((await decide('#1001', '--credit')).exitCode).toBe(0);
  expect((await shop.run()).exitCode).toBe(0);
  expect(await shop.posted()).toEqual(['#1001', '1001', '101', '102']);
  expect(await heldOf(shop)).toEqual([]);
});

it('the same orders under another source and platform are held, because they may be the same', async () => {
  const shop = await openWorkshop({ flow: flowOf() });
  shop.drop('orders.csv', toCsv([{ id: '1' }, { id: '2', revenue: '20.00' }]));
  expect((await shop.run()).exitCode).toBe(0);
  const text = (source: string, platform: string) => `api:
  url: \${INFLUENCER_API_URL:-}
  key: \${INFLUENCER_API_KEY:-}
  requests_per_second: 0
database: {url: "\${DATABASE_URL:-}"}
${flowOf(source, platform)}`;
  shop.write('pipeline.yaml', text('nl-shop', 'woocommerce'));
  expect((await shop.run()).exitCode).toBe(3);
  expect(await shop.posted()).toEqual(['1', '2']);
  expect(await heldOf(shop)).toEqual(['nl-shop similar_order 2 30.0000 EUR']);
});

it('an order of a channel that also stands in the export of the shop is credited once', async () => {
  const shop = await openWorkshop({
    flow: `
sources:
  shop: {uri: ./exports/shop*.csv, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
  channel: {uri: ./exports/channel*.csv, layout: generic, order_platform: tiktok, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: [shop, channel], brand_id: 4819, codes: ./codes.csv, revenue: total}
`,
  });
  const placedAt = '2026-04-10T11:11:26Z';
  shop.drop(
    'shop.csv',
    toCsv([
      { id: '1', revenue: '20.00', placedAt },
      { id: '2', revenue: '21.00' },
    ]),
  );
  shop.drop(
    'channel.csv',
    toCsv([
      { id: '577', revenue: '20.00', placedAt },
      { id: '578', revenue: '22.00' },
    ]),
  );
  expect((await shop.run()).exitCode).toBe(3);
  expect(await shop.posted()).toEqual(['1', '2', '578']);
  expect(await heldOf(shop)).toEqual(['channel similar_order 1 20.0000 EUR']);
});

it('what was posted stays posted when its status is no longer known, and is said', async () => {
  const shop = await openWorkshop({ flow: flowOf() });
  shop.drop('orders.csv', toCsv([{ id: '1' }]));
  await shop.run();
  shop.drop('later.csv', toCsv([{ id: '1', status: 'mystery' }]));
  const later = await shop.run();
  expect(later.exitCode).toBe(3);
  expect(later.finished?.counts.entries).toMatchObject({ already: 1, held: 0 });
  // The record says that the order is held, which leaves what it earns as it is.
  const adjustments = await shop.db.selectFrom('ledger.adjustments').select('kind').execute();
  expect(adjustments).toEqual([{ kind: 'held' }]);
  const life = (await shop.cli('explain', 'order', '1')).stdout.replace(/\s+/g, ' ');
  expect(life).toContain('held in run 2, still 10.00 EUR');
  expect((await shop.cli('status')).stdout).toContain('Posted, and held by the rules of today (1)');
  expect(describeDecision({ decision: 'exclude', groups: await listHeldGroups(shop.db) })).toBe(
    '1 order posted before (10.00 EUR) is never credited. What was posted stays posted.',
  );
});

it('the notice of held and of posted orders gives each their own reason', async () => {
  const shop = await openWorkshop({ flow: flowOf() });
  shop.drop('orders.csv', toCsv([{ id: '1' }]));
  await shop.run();
  shop.drop(
    'later.csv',
    toCsv([
      { id: '1', status: 'mystery' },
      { id: '2', status: 'puzzle' },
    ]),
  );
  await shop.run();
  const config = loadConfig(join(shop.folder, 'pipeline.yaml'), shop.env);
  const finders = problemFinders.filter(({ kind }) => kind === 'orders_held');
  const onTrouble = (_: unknown, error: unknown) => {
    throw error;
  };
  const observed = await observeProblems(shop.db, { config, kinds: jobKinds, onTrouble }, finders);
  const [held = '', posted = ''] = observed.problems[0]?.summary.split(' settles it. ') ?? [];
  expect([held.includes('puzzle'), held.includes('mystery')]).toEqual([true, false]);
  expect([posted.includes('puzzle'), posted.includes('mystery')]).toEqual([false, true]);
});

it('an order with a word that no list of its column has is held with column, word, amount and the setting to write', async () => {
  const shop = await openWorkshop({ flow: flowOf().replace('layout: generic', 'layout: own') });
  mkdirSync(join(shop.folder, 'layouts'));
  shop.write(
    'layouts/own.yaml',
    `title: Own
lacks: [consent]
currency: EUR
columns: { order_id: [id], status: [status], total: [revenue], codes: [code], placed_at: [placed_at] }
required: [order_id, status, total]
status: { credited: [paid] }
exclusions:
  - { reason: other_status, columns: [Delivered on], equals: ["no"], unless: ["yes"] }
`,
  );
  const rows = [
    '1,paid,10.00,MIA10,2026-05-01T10:00:00Z,yes',
    '2,paid,20.00,MIA10,2026-05-02T10:00:00Z,On  its way',
    '3,paid,30.00,MIA10,2026-05-03T10:00:00Z,on its way',
    '4,paid,40.00,MIA10,2026-05-04T10:00:00Z,',
    '5,paid,50.00,MIA10,2026-05-05T10:00:00Z,no',
    '6,paid,60.00,MIA10,2026-05-06T10:00:00Z,see ann@example.com',
  ];
  shop.drop('orders.csv', ['id,status,revenue,code,placed_at,Delivered on', ...rows, ''].join('\n'));
  const run = await shop.run();
  expect([run.exitCode, await shop.posted()]).toEqual([3, ['1']]);
  expect((await shop.cli('status')).stdout.replace(/\s+/g, ' ')).toContain(
    '2 orders of shop, 50.00 EUR: The column "delivered on" says "on_its_way", which is not known (unknown other status)',
  );
  expect(await heldOf(shop)).toEqual([
    'shop unknown_other_status "delivered on=" 1 40.0000 EUR',
    'shop unknown_other_status "delivered on=on_its_way" 2 50.0000 EUR',
    'shop unknown_other_status "delivered on=s***@***" 1 60.0000 EUR',
  ]);
  const explained = (await shop.cli('explain', 'order', '3')).stdout.replace(/\s+/g, ' ');
  expect(explained).toContain(
    'The column "delivered on" says "on_its_way", a word that the layout does not know, so it is not known whether it excludes the order: other_status. If such orders count, add "on_its_way" to `unless` of the rule `reason: other_status` under `exclusions` of the layout, else to its `equals`.',
  );
  // The command that is suggested is about all orders with the word, however it is written.
  const select = ['review', '--held', '--why', 'unknown_other_status', '--status', 'Delivered on=on its way'];
  expect((await shop.cli(...select, '--credit', '--reason', 'they were paid', '--yes')).stdout).toContain(
    '2 held orders (50.00 EUR)',
  );
  await shop.run();
  expect(await shop.posted()).toEqual(['1', '2', '3']);
  const reasons = await sql<{ reason: string }>`
    select distinct exclusion_reason as reason from bi.orders where order_id > '1' order by 1`.execute(
    shop.db,
  );
  expect(reasons.rows.map(({ reason }) => reason)).toEqual(['other_status', 'unknown_other_status']);
});

it('of a column with another text for each order, the most frequent words are groups, and all others are one that is decided as a whole', async () => {
  const shop = await openWorkshop({ flow: flowOf() });
  const words = Array.from({ length: 40 }, (_, at) => `At depot ${at}`);
  const cells = ['Lost = gone', 'lost =  GONE', ...words];
  const rows = cells.map((cell, at) => `${at},paid,10.00,EUR,MIA10,2026-05-01T10:00:00Z,${cell}`);
  const HEADER = 'order_id,status,order_revenue,currency,discount_code,placed_at,Delivery_Status';
  shop.drop('orders.csv', [HEADER, ...rows, ''].join('\n'));
  expect((await shop.run()).exitCode).toBe(3);
  const groups = await listHeldGroups(shop.db);
  expect(groups).toHaveLength(21);
  expect(groups.slice(0, 2).map(({ status, orders, amount }) => [status, orders, amount])).toEqual([
    ['other words', 21, '210.0000'],
    ['delivery_status=lost_=_gone', 2, '20.0000'],
  ]);
  const select = ['review', '--held', '--source', 'shop', '--why', 'unknown_returned'];
  const shown = (await shop.cli(...select)).stdout.replace(/\s+/g, ' ');
  expect(shown).toContain(
    '21 orders of shop, 210.00 EUR: many other words that are not known (unknown returned)',
  );
  expect(shown).toContain('add "lost_=_gone" to `unless`');
  expect(shown).toContain("--status 'other words' --credit");
  const decide = [...select, '--status', 'other words', '--credit', '--reason', 'they were sent', '--yes'];
  expect((await shop.cli(...decide)).stdout).toContain('21 held orders (210.00 EUR) may be credited.');
  const lost = [
    ...select,
    '--status',
    'Delivery_Status=LOST = gone',
    '--exclude',
    '--reason',
    'lost',
    '--yes',
  ];
  expect((await shop.cli(...lost)).stdout).toContain('2 held orders (20.00 EUR) are never credited.');
  await shop.run();
  expect(await shop.posted()).toHaveLength(21);
  expect((await listHeldGroups(shop.db, { isDecided: false })).map(({ orders }) => orders)).toEqual(
    Array.from({ length: 19 }, () => 1),
  );

  // The same word written in another way is the same state; another word is not what a person decided about.
  const left = (await listHeldGroups(shop.db, { isDecided: false })).map(({ status }) => status ?? '');
  const [one = '', other = ''] = left.map((status) => String(Number(status.split('_').at(-1)) + 2));
  await shop.cli(...select, '--order', one, other, '--credit', '--reason', 'sent', '--yes');
  const row = (id: string, cell: string) => `${id},paid,10.00,EUR,MIA10,2026-05-01T10:00:00Z,${cell}`;
  const later = [row(one, `AT  DEPOT ${Number(one) - 2}`), row(other, 'On its way back')];
  shop.drop('later.csv', [HEADER.toLowerCase(), ...later, ''].join('\n'));
  await shop.run();
  const posted = await shop.posted();
  expect([posted.includes(one), posted.includes(other)]).toEqual([true, false]);
});
