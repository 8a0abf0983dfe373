import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { decideAgain } from '../../../../jobs/attribute-orders/decide/decide-orders.ts';
import { storeRulings } from '../../../../jobs/attribute-orders/decide/rulings.ts';
import type { Database } from '../../../../src/db/connect.ts';
import { inTransaction } from '../../../../src/db/in-transaction.ts';
import { seedLedger, undoSeed } from '../../../../src/ledger/seed.ts';
import { explainOrder } from '../../../../src/reports/lives/explain-order.ts';
import { openShop, order, type Shop, useDatabase } from '../../../intake/story.ts';
import { makeTestFolder } from '../../../support/setup.ts';
import { countBlocked, waitFor } from '../../../support/wait-for.ts';
import {
  type AttributeGiven,
  adjustments,
  bring,
  type Context,
  decisions,
  entries,
  type Given,
  openContext,
} from './story.ts';

const database = useDatabase('a Postgres server');
const RULES = { codes: 'MIRA,,mira,D1,,,\nMIRA5,,mira,D1,,,\nNOOR,,noor,D2,,,' };

/** Each test has a brand and platforms of its own, so that no id is known from another job. */
let brands = 800_000;
function newBrand(): string {
  brands += 1;
  return String(brands);
}

/** Opens a job of a brand with sources of these platforms. */
async function openJob(brandId: string, ...names: readonly string[]) {
  const platforms = names.map((name) => `${name} ${brands}`);
  const path = join(makeTestFolder(), 'codes.csv');
  const shops: Shop[] = [];
  for (const _ of platforms) shops.push(await openShop(database()));
  const context = await openContext(database(), {
    path,
    shops,
    platforms,
    brandId,
    writeCodes: (text) => writeFileSync(path, text),
  });
  return { context, shops };
}

/** A new export of a source states orders by id, and the job decides about them. */
async function state(
  context: Context,
  orders: Readonly<Record<string, Given>>,
  {
    shop = context,
    isBrandShared = false,
    revenue = 'total',
    codes = RULES.codes,
    ownOrders = [],
  }: AttributeGiven & { readonly shop?: Shop | undefined } = {},
): Promise<void> {
  await shop.read({
    orders: Object.entries(orders).map(([id, given]) => order(id, { codes: ['MIRA'], ...given })),
  });
  await context.attribute({ codes, isBrandShared, revenue, ownOrders });
}

/** The decisions as `id: outcome reason`. */
async function decided(context: Context, { source }: { readonly source: string } = context) {
  const all = await decisions({ ...context, source });
  return all.map((decision) => decision.replace(/ (?:code )?(?:MI ?RA5?|NOOR).*/i, ''));
}

describe('an id that looks like another one of its source', () => {
  test.each([
    ['the plain id stays', ['00101', '101'], ['00101: held similar_id', '101: attributed']],
    ['else the first one', ['0101', '00101'], ['00101: attributed', '0101: held similar_id']],
    ['others are left alone', ['00101', '102'], ['00101: attributed', '102: attributed']],
  ])('is held in the same file: %s', async (_, ids, expected) => {
    const { context } = await openJob(newBrand(), 'shopify');
    await state(context, Object.fromEntries(ids.map((id) => [id, {}])));
    expect(await decided(context)).toEqual(expected);
  });

  test.each([
    ['that was sent', 'accepted'],
    ['that waits to be sent', null],
  ] as const)('is held after one %s, plain or not', async (_, sent) => {
    for (const [first, then] of [
      ['00101', '101'],
      ['0101', '00101'],
      ['101', '00101'],
    ] as const) {
      const { context } = await openJob(newBrand(), 'shopify');
      await state(context, { [first]: {} });
      await context.prepare();
      if (sent !== null) await bring(context, sent);
      await state(context, { [then]: {} });
      expect(await decided(context)).toEqual([`${first}: attributed`, `${then}: held similar_id`].toSorted());
    }
  });

  test('is not held if the other one is in no file that counts, no longer in force, in another source, or credited to nobody', async () => {
    const { context } = await openJob(newBrand(), 'shopify');
    await context.read({ orders: [order('101')] }, { rowsRead: 99 });
    const { context: other } = await openJob(newBrand(), 'shopify');
    await state(other, { 101: {} });
    await state(context, { '00101': {} });
    expect(await decided(context)).toEqual(['00101: attributed']);
    const { context: third } = await openJob(newBrand(), 'shopify');
    await state(third, { '00101': { codes: [] } });
    await state(third, { 101: {} });
    expect(await decided(third)).toEqual(['00101: organic', '101: attributed']);
    const { context: fourth } = await openJob(newBrand(), 'shopify');
    await state(fourth, { '00101': { codes: [] } });
    await sql`update intake.orders set is_current = false where source = ${fourth.source}`.execute(
      database(),
    );
    await state(fourth, { '0101': {} });
    expect(await decided(fourth)).toContain('0101: attributed');
    // What another source of the job has under the id of the other one says nothing of that one.
    const { context: two, shops } = await openJob(newBrand(), 'shopify', 'amazon');
    const [shop, channel] = shops;
    await state(two, { '00101': { codes: ['NOOR'], total: '99.00' } }, { shop: channel });
    await state(two, { '00101': { codes: [] } }, { shop });
    await state(two, { 101: {} }, { shop });
    expect(await decided(two, shop)).toEqual(['00101: organic', '101: attributed']);
  });

  test('is held after one that was sent and is no longer credited, and not after one that only waited', async () => {
    for (const [sent, expected] of [
      ['accepted', '101: held similar_id'],
      [null, '101: attributed'],
    ] as const) {
      const { context } = await openJob(newBrand(), 'shopify');
      await state(context, { '00101': {}, 102: {} });
      await context.prepare();
      if (sent !== null) await bring(context, sent);
      await state(context, { '00101': { exclusion: 'test' } });
      await context.prepare();
      await state(context, { 101: {} });
      expect(await decided(context)).toEqual(['00101: excluded test', expected, '102: attributed']);
      // The plain one is decided about again, and nothing has changed.
      await state(context, { 101: { total: '11.00' } });
      expect(await decided(context)).toContain(expected);
    }
  });

  test('of a source that two jobs read is held after what the other one has sent, and not after what it has only decided', async () => {
    const codes = 'OTHER,,mira,D1,,,';
    const path = join(makeTestFolder(), 'codes.csv');
    const open = async (shop: Shop, job: string) =>
      openContext(database(), {
        path,
        shops: [shop],
        platforms: [`platform of ${job}`],
        brandId: newBrand(),
        job,
        writeCodes: (text) => writeFileSync(path, text),
      });
    const [read, shop] = [await openShop(database()), await openShop(database())];
    const [sends, reads] = [
      await open(read, `sends ${read.source}`),
      await open(read, `reads ${read.source}`),
    ];
    await state(sends, { '00101': {} });
    await sends.prepare();
    await bring(sends, 'accepted');
    await state(reads, { 101: {}, '00101': { total: '11.00' } });
    expect(await decided(reads)).toEqual(['00101: held similar_id', '101: held similar_id']);

    const [decides, last] = [await open(shop, `decides ${shop.source}`), await open(shop, shop.source)];
    await state(decides, { '00202': {} });
    await state(last, { 202: {} }, { codes });
    await state(last, { 202: { codes: ['OTHER'] } }, { codes });
    expect(await decided(last)).toContain('202: attributed code OTHER → deal:D1');
  });

  test('is credited once a person has said so, and not held again after it was sent', async () => {
    const { context } = await openJob(newBrand(), 'shopify');
    await state(context, { 101: {}, '00101': {} });
    const subject = { source: context.source, orderId: '00101', contentHash: null };
    const say = (reason: string) =>
      inTransaction(context.db, (trx) =>
        storeRulings(trx, { subjects: [{ ...subject, reason }], decision: 'credit', decidedBy: 'tester' }),
      );
    await say('similar_order');
    // What was said of another order, and of one of another source, is not said of this one.
    for (const other of [{ orderId: '00102' }, { source: 'elsewhere' }])
      await inTransaction(context.db, (trx) =>
        storeRulings(trx, {
          subjects: [{ ...subject, ...other, reason: 'similar_id' }],
          decision: 'credit',
          decidedBy: 'tester',
        }),
      );
    await state(context, { '00101': { total: '10.50' } });
    expect(await decided(context)).toEqual(['00101: held similar_id', '101: attributed']);
    await say('similar_id');
    await context.attribute(RULES);
    expect(await decided(context)).toEqual(['00101: attributed', '101: attributed']);
    // What a person has taken back counts no more.
    await sql`update intake.rulings set withdrawn_at = now() where source = ${context.source}`.execute(
      context.db,
    );
    await state(context, { '00101': { total: '12.00' } });
    expect(await decided(context)).toEqual(['00101: held similar_id', '101: attributed']);

    const { context: sent } = await openJob(newBrand(), 'shopify');
    await state(sent, { '00101': {} });
    await sent.prepare();
    await bring(sent, 'accepted');
    await state(sent, { 101: {}, '00101': { total: '11.00' } });
    expect(await decided(sent)).toEqual(['00101: attributed', '101: held similar_id']);
  });
});

test.each(['similar_id', 'similar_order'])(
  'an order that is held as %s names what it carries, and nobody',
  async (reason) => {
    const brandId = newBrand();
    const { context: first } = await openJob(brandId, 'shopify');
    await state(first, { 101: {}, '00101': {} });
    await first.prepare();
    const { context: second } = await openJob(brandId, 'woocommerce');
    await state(second, { 101: {} }, { isBrandShared: true });
    const { rows } = await sql`
    select outcome, reason, matched_by, matched_value, target, brand_id, influencer_handle, deal_id, collab_id, amount, likeness
    from intake.attributions where job in (${first.job}, ${second.job}) and reason = ${reason}`.execute(
      database(),
    );
    expect(rows).toEqual([
      {
        outcome: 'held',
        reason,
        matched_by: null,
        matched_value: 'MIRA',
        target: null,
        brand_id: null,
        influencer_handle: null,
        deal_id: null,
        collab_id: null,
        amount: '10.0000',
        likeness: null,
      },
    ]);
  },
);

test.each<[string, string, string?]>([
  ['#1001', '1001'],
  ['1001', '#1001'],
  ['01001', '1001'],
  ['1,001', '1001'],
  ['gid://shopify/Order/1001', '#1001'],
  ['abc-1', 'ABC-1'],
  ['#1001', '5512', '#1001'],
  ['1001', '5512', '#1001'],
  ['[NL-7]', '5512', 'NL-7'],
  ['nl-7', '5512', '#NL-7'],
])(
  'another spelling of an id that was credited elsewhere, or the name of its order, is held, until that is undone: %s, then %s %s',
  async (seeded, id, orderName) => {
    const { context } = await openJob(newBrand(), 'shopify');
    const others = { 1002: {}, '#1003': {}, 1004: {}, 1005: { orderName: '#1004' } };
    await state(context, { [id]: { orderName: orderName ?? null }, ...others });
    const platform = `SHOPIFY ${brands}`;
    const by = { fileName: 'seed.csv', fileSha256: randomUUID(), reason: 'listed', seededBy: 'tester' };
    const named = { orderPlatform: platform, amount: null, currency: null, dealId: null, collabId: null };
    // On another platform, or in the very spelling of another order, it says nothing.
    const elsewhere = ['1002', '1003', '#1004'].map((orderId, index) => ({
      ...named,
      line: 3 + index,
      orderId,
      orderPlatform: 'elsewhere',
      reason: null,
    }));
    // The id of an order is not the name of another one.
    const rows = [seeded, '1004'].map((orderId, index) => ({
      ...named,
      line: 2 + index,
      orderId,
      reason: null,
    }));
    const seedId = await inTransaction(database(), async (trx) => {
      const seed = await seedLedger(trx, { ...by, rows: [...rows, ...elsewhere] });
      await decideAgain(trx, seed.seedId);
      return seed.seedId;
    });
    await context.attribute(RULES);
    const left = Object.keys(others).map((one) => `${one}: attributed`);
    const known = left.with(left.indexOf('1004: attributed'), '1004: excluded credited_elsewhere');
    expect((await decided(context)).toSorted()).toEqual([...known, `${id}: held similar_id`].toSorted());
    await inTransaction(database(), async (trx) => {
      await undoSeed(trx, { seedId, reason: 'wrong', undoneBy: 'tester' });
      await decideAgain(trx, seedId);
    });
    await context.attribute(RULES);
    expect((await decided(context)).toSorted()).toEqual([...left, `${id}: attributed`].toSorted());
  },
);

describe('another spelling of an id in another source', () => {
  test.each([
    ['1001', '#1001'],
    ['#1001', '1001'],
    ['#1001', '01001'],
    ['abc-1', 'ABC-1'],
  ])(
    'of the platform, also of one that the job no longer reads, is held: %s, then %s',
    async (first, then) => {
      const brandId = newBrand();
      const { context: before } = await openJob(brandId, 'shopify');
      await state(before, { [first]: {} });
      await before.prepare();
      const { context } = await openJob(brandId, 'Shopify');
      await state(context, { [then]: { total: '11.00', codes: ['NOOR'] } });
      expect(await decided(context)).toEqual([`${then}: held similar_id`]);
    },
  );

  test('of a job is that of the source which it names first', async () => {
    const { context, shops } = await openJob(newBrand(), 'shopify', 'SHOPIFY', 'woocommerce');
    const [first, second, third] = shops;
    await second?.read({ orders: [order('01001', { codes: ['MIRA'], total: '12.00' })] });
    await third?.read({ orders: [order('№ 1001', { codes: ['MIRA'], placedAt: '2026-04-11T00:00:00Z' })] });
    await state(context, { '#1001': {}, 1002: {} }, { shop: first });
    for (const [shop, expected] of [
      [first, ['#1001: attributed', '1002: attributed']],
      [second, ['01001: held similar_id']],
      [third, ['№ 1001: held similar_order']],
    ] as const)
      expect(await decided(context, shop)).toEqual(expected);
  });

  test('is not held if the other one is credited to nobody', async () => {
    const { context, shops } = await openJob(newBrand(), 'shopify', 'shopify');
    await shops[0]?.read({ orders: [order('1001', { codes: [] })] });
    await state(context, { '#1001': {} }, { shop: shops[1] });
    expect(await decided(context, shops[1])).toEqual(['#1001: attributed']);
  });
});

/** How a second order is compared with one of the same id that was credited first, on another platform of the brand. */
type Case = {
  readonly isOtherBrand?: true;
  readonly platform?: string;
  /** What is credited first: a note has no amount. */
  readonly isNote?: true;
  readonly revenue?: 'subtotal';
};
const SAME_ID: readonly (readonly [
  what: string,
  given: Given,
  expected: string,
  /** What the first order states, and how its id is written. */
  first?: Given,
  id?: (id: string) => string,
])[] = [
  ['the same amount and minute', {}, 'held similar_order'],
  ['another second of the minute', { placedAt: '2026-04-10T09:00:59Z' }, 'held similar_order'],
  ['another spelling of the amount', { total: '10.0000' }, 'held similar_order'],
  // Exports without times are read as midnight, and a zone may be wrong.
  ['another minute', { placedAt: '2026-04-11T00:00:00Z' }, 'held similar_order'],
  ['another minute and code', { placedAt: '2026-04-10T09:01:00Z', codes: ['NOOR'] }, 'attributed'],
  [
    'another minute, and another code of the owner',
    { placedAt: '2026-04-10T09:01:00Z', codes: ['MIRA5'] },
    'held similar_order',
  ],
  ['another code in the same minute', { codes: ['NOOR'] }, 'held similar_order'],
  ['another day', { placedAt: '2026-04-12T09:01:00Z' }, 'attributed'],
  ['two days later', { placedAt: '2026-04-12T09:00:00Z' }, 'held similar_order'],
  ['two days earlier', { placedAt: '2026-04-08T09:00:00Z' }, 'held similar_order'],
  ['more than two days earlier', { placedAt: '2026-04-08T08:59:59Z' }, 'attributed'],
  ['a refund since', { total: '30.00', subtotal: '10.00' }, 'held similar_order'],
  ['a refund before', {}, 'held similar_order', { total: '30.00', refunded: '20.00' }],
  // Nobody knows whether it is the same minute.
  ['no time', { placedAt: null }, 'held similar_order'],
  ['no time, and another code', { placedAt: null, codes: ['NOOR'] }, 'held similar_order'],
  ['no time of the first one', {}, 'held similar_order', { placedAt: null }],
  ['no time, and another amount', { placedAt: null, total: '10.01' }, 'attributed'],
  ['another amount', { total: '10.01' }, 'attributed'],
  ['another currency', { currency: 'USD' }, 'attributed'],
  ['an id in another spelling', {}, 'held similar_order', {}, (id) => `#${id}`],
  ['an id in another spelling, and another code', { codes: ['NOOR'] }, 'attributed', {}, (id) => `#${id}`],
  ['another id', {}, 'attributed', {}, (id) => `1${id}`],
];
const SAME = SAME_ID.slice(0, 1).map(([what, given]) => [what, given, 'attributed'] as const);

describe('the same id under another platform of the brand', () => {
  test.each<readonly [string, typeof SAME_ID, Case]>([
    ['each', SAME_ID, {}],
    ['another brand', SAME, { isOtherBrand: true }],
    // Within a platform an id is one order: whichever source is responsible sends it.
    ['the same platform in other letters', SAME, { platform: 'Shopify' }],
    ['a note of the id', SAME, { isNote: true }],
    [
      'the subtotal that the job credits, of another order',
      [
        ['only the same total', { subtotal: '8.00' }, 'held similar_order', { subtotal: '7.00' }],
        ['other amounts', { subtotal: '8.00', total: '9.00' }, 'attributed', { subtotal: '7.00' }],
      ],
      { revenue: 'subtotal' },
    ],
  ])('is held if amount, day and code may be the same: %s', async (_, cases, of) => {
    const { isOtherBrand, platform = 'woocommerce', isNote, revenue } = of;
    const how = revenue === undefined ? {} : { revenue };
    const brandId = newBrand();
    const ids = cases.map((_case, index) => String(701 + index));
    const stated = (at: 'first' | 'second') =>
      Object.fromEntries(
        cases.map(([, given, , first = {}, write = (id: string) => id], index) =>
          at === 'first' ? [write(ids[index] ?? ''), first] : [ids[index] ?? '', given],
        ),
      );
    const { context: first } = await openJob(brandId, 'shopify');
    const before = { 6: { placedAt: '2026-04-10T09:05:00Z', subtotal: '1.00' }, 9: { total: '12.00' } };
    await state(first, { ...before, ...stated('first') }, how);
    await first.prepare();
    if (isNote === true)
      await sql`update ledger.entries set effect = 'note' where job = ${first.job}`.execute(database());
    const { context: second } = await openJob(isOtherBrand ? String(brands + 50_000) : brandId, platform);
    await state(second, { ...stated('second'), 8: { subtotal: '1.00' } }, how);
    const whats = new Map(cases.map(([what], index) => [ids[index], what]));
    const said = (await decided(second)).map((one) => one.replace(/^\d+/, (id) => whats.get(id) ?? id));
    expect(said).toEqual([...cases.map(([what, , expected]) => `${what}: ${expected}`), '8: attributed']);
  });

  test.each<
    readonly [
      string,
      { readonly sent?: true; readonly isStatedAgain: boolean; readonly id: string },
      string,
      string,
    ]
  >([
    [
      'waits, and is stated again: the source that the job names first',
      { isStatedAgain: true, id: '7' },
      'attributed',
      'held similar_order',
    ],
    [
      'waits, under another spelling, and is stated again',
      { isStatedAgain: true, id: '#7' },
      'attributed',
      'held similar_order',
    ],
    [
      'waits, and is not stated again: that one',
      { isStatedAgain: false, id: '7' },
      'held similar_order',
      'attributed',
    ],
    [
      'waits, under another spelling: that one',
      { isStatedAgain: false, id: '#7' },
      'held similar_order',
      'attributed',
    ],
    ['was sent: that one', { sent: true, isStatedAgain: true, id: '7' }, 'held similar_order', 'attributed'],
  ])(
    'of two sources of the job, one counts. If the later one %s',
    async (_, { sent, isStatedAgain, id }, ofFirst, ofSecond) => {
      const { context, shops } = await openJob(newBrand(), 'shopify', 'amazon');
      const [shop, channel] = shops;
      await state(context, { [id]: {} }, { shop: channel });
      await context.prepare();
      if (sent) await bring(context, 'accepted');
      const again = isStatedAgain ? [order(id, { codes: ['MIRA'], orderName: 'again' })] : [];
      await channel?.read({ orders: [...again, order('b', { codes: ['MIRA'], total: '3.00' })] });
      await state(context, { 7: {} }, { shop });
      expect([await decided(context, shop), await decided(context, channel)]).toEqual([
        [`7: ${ofFirst}`],
        [`${id}: ${ofSecond}`, 'b: attributed'],
      ]);
    },
  );

  test('is credited once a person has said so, stays as it was sent, and is held only if it would be credited', async () => {
    const brandId = newBrand();
    const { context: first } = await openJob(brandId, 'shopify');
    await state(first, { 7: {}, 8: {}, 9: {} });
    await first.prepare();
    const { context: second } = await openJob(brandId, 'woocommerce');
    await state(second, { 7: {}, 8: { total: '11.00' }, 9: { codes: [] } });
    expect(await decided(second)).toEqual(['7: held similar_order', '8: attributed', '9: organic']);
    await second.prepare();
    await bring(second, 'accepted');
    await inTransaction(second.db, (trx) =>
      storeRulings(trx, {
        subjects: [{ source: second.source, orderId: '7', contentHash: null, reason: 'similar_order' }],
        decision: 'credit',
        decidedBy: 'tester',
      }),
    );
    await state(second, { 8: {} });
    expect(await decided(second)).toEqual(['7: attributed', '8: attributed', '9: organic']);
  });

  test('is held although the rows of the one that was sent were deleted since', async () => {
    const brandId = newBrand();
    const { context: first } = await openJob(brandId, 'shopify');
    await state(first, { 7: {} });
    await first.prepare();
    await sql`delete from intake.orders where source = ${first.source}`.execute(database());
    const { context: second } = await openJob(brandId, 'woocommerce');
    await state(second, { 7: {} });
    expect(await decided(second)).toEqual(['7: held similar_order']);
  });

  test.each([
    ['12.00', 'attributed'],
    ['13.00', 'held similar_order'],
  ])(
    'is compared with the total that the export of the other one states now, 13.00, whichever was read first: %s',
    async (total, expected) => {
      for (const isReadFirst of [true, false]) {
        const brandId = newBrand();
        const { context: first } = await openJob(brandId, 'shopify');
        const { context: second } = await openJob(brandId, 'woocommerce');
        const read = () => second.read({ orders: [order('7', { codes: ['MIRA'], total })] });
        if (isReadFirst) await read();
        await state(first, { 6: { total: '12.00' }, 7: { total: '30.00' } });
        await first.prepare();
        await bring(first, 'accepted');
        for (const now of ['12.00', '13.00']) await state(first, { 7: { total: now } });
        if (!isReadFirst) await read();
        await second.attribute(RULES);
        expect(await decided(second)).toEqual([`7: ${expected}`]);
      }
    },
  );

  test('is not held if the other one is not to be sent', async () => {
    const brandId = newBrand();
    const { context: first } = await openJob(brandId, 'shopify');
    await state(first, { 7: {} });
    await first.prepare();
    await state(first, { 7: { codes: [] } });
    await first.prepare();
    const { context: second } = await openJob(brandId, 'woocommerce');
    await state(second, { 7: {} });
    expect(await decided(second)).toEqual(['7: attributed']);
  });
});

describe('an order of a channel that also stands in the export of the shop', () => {
  const isBrandShared = true;

  type Case = {
    readonly isOtherBrand?: true;
    readonly platform?: string;
    readonly first?: Given;
    readonly isCreditedStill?: false;
  };

  test.each<readonly [string, Given, Case, string]>([
    ['the same code, amount and minute', {}, {}, 'held similar_order'],
    ['the code in other letters', { codes: ['mi ra'] }, {}, 'held similar_order'],
    ['another second of the minute', { placedAt: '2026-04-10T09:00:59Z' }, {}, 'held similar_order'],
    ['another spelling of the amount', { total: '10.0' }, {}, 'held similar_order'],
    ['another code', { codes: ['NOOR'] }, {}, 'attributed'],
    ['another minute', { placedAt: '2026-04-10T09:01:00Z' }, {}, 'attributed'],
    [
      'seconds that end in the next minute',
      { placedAt: '2026-04-10T09:00:29Z' },
      { first: { placedAt: '2026-04-10T08:59:30Z' } },
      'held similar_order',
    ],
    [
      'a minute that begins and ends in others',
      { placedAt: '2026-04-10T08:58:30Z' },
      { first: { placedAt: '2026-04-10T08:59:30Z' } },
      'attributed',
    ],
    ...(
      [
        ['another zone', '2026-04-10T11:00:20Z', true, 'held similar_order'],
        ['a zone on another day', '2026-04-09T23:00:00Z', true, 'held similar_order'],
        ['another zone, and another customer', '2026-04-10T11:00:20Z', false, 'attributed'],
        ['times that no zone explains', '2026-04-10T11:07:00Z', true, 'attributed'],
        ['times further apart than zones', '2026-04-11T09:00:00Z', true, 'attributed'],
      ] as const
    ).map(([what, placedAt, isSame, expected]) => {
      const customerKey = randomUUID();
      const first = { customerKey: isSame ? customerKey : randomUUID() };
      return [what, { placedAt, customerKey }, { first }, expected] as const;
    }),
    ['no time', { placedAt: null }, {}, 'attributed'],
    ['no time, like the first one', { placedAt: null }, { first: { placedAt: null } }, 'attributed'],
    ['one that is no longer credited', {}, { isCreditedStill: false }, 'attributed'],
    ['another amount', { total: '10.01' }, {}, 'attributed'],
    ['another currency', { currency: 'USD' }, {}, 'attributed'],
    ['another brand', {}, { isOtherBrand: true }, 'attributed'],
    ['the same platform', {}, { platform: 'Shopify' }, 'attributed'],
  ])('with %s: %s', async (_, given, of, expected) => {
    const { isOtherBrand, platform = 'amazon', first: stated = {}, isCreditedStill = true } = of;
    const brandId = newBrand();
    const { context: first } = await openJob(brandId, 'shopify');
    await state(first, { 7: stated }, { isBrandShared });
    await first.prepare();
    if (!isCreditedStill) {
      await bring(first, 'accepted');
      await state(first, { 7: { ...stated, exclusion: 'test' } }, { isBrandShared });
    }
    const { context: second } = await openJob(isOtherBrand ? String(brands + 50_000) : brandId, platform);
    await state(second, { [`channel-${randomUUID()}`]: given }, { isBrandShared });
    expect((await decided(second)).map((decision) => decision.replace(/^.*?: /, ''))).toEqual([expected]);
    expect(await decided(first)).toEqual([isCreditedStill ? '7: attributed' : '7: excluded test']);
  });

  describe('of a source whose orders are those of another one, in another time zone,', () => {
    const MINUTES = [0, 47, 133, 201, 390, 512];
    /** Orders at these minutes of a day, later by a number of minutes. */
    const placed = (prefix: string, laterBy: (index: number) => number, minutes = MINUTES) =>
      Object.fromEntries(
        minutes.map((minute, index) => [
          `${prefix}${index}`,
          {
            total: `${index + 10}.00`,
            placedAt: new Date(Date.UTC(2026, 3, 10, 6, minute + laterBy(index), 7)).toISOString(),
          },
        ]),
      );
    /** @returns how many orders of the second source are held. */
    async function heldOf(first: Readonly<Record<string, Given>>, second: Readonly<Record<string, Given>>) {
      const { context, shops } = await openJob(newBrand(), 'shopify', 'amazon');
      await state(context, first, { isBrandShared: true });
      await context.prepare();
      await state(context, second, { isBrandShared: true, shop: shops[1] });
      const all = await decided(context, { source: shops[1]?.source ?? '' });
      return all.filter((decision) => decision.endsWith('held similar_order')).length;
    }

    test.each([
      ['each order two hours later', MINUTES.length, () => 120],
      ['each order five hours and a half earlier', MINUTES.length, () => -330],
      ['half of them two hours later', 3, (index: number) => (index % 2 === 0 ? 120 : 200 + index * 31)],
      ['two of them two hours later', 0, (index: number) => (index < 2 ? 120 : 200 + index * 31)],
      ['each order later by minutes that no zone explains', 0, () => 127],
      ['each order later by more than zones differ', 0, () => 15 * 60],
    ])('with %s, so many are held: %i', async (...[, expected, laterBy]) => {
      expect(
        await heldOf(
          placed('s', () => 0),
          placed('c', laterBy),
        ),
      ).toBe(expected);
    });

    test('and holds an order of the other season, which is an hour beside it', async () => {
      const at = (hour: number) => ({ total: '99.00', placedAt: `2026-01-10T${hour}:30:07.000Z` });
      expect(
        await heldOf(
          { ...placed('s', () => 0), winter: at(10) },
          { ...placed('c', () => 120), 'winter-c': at(11) },
        ),
      ).toBe(MINUTES.length + 1);
    });

    test('is not one whose payments are drawn each day, some hours after those of another one', async () => {
      const daily = [0, 1, 2, 3, 4, 5].map((day) => day * 24 * 60);
      expect(
        await heldOf(
          placed('s', () => 0, daily),
          placed('c', () => 120, daily),
        ),
      ).toBe(0);
    });

    test('is not one that sells at the same minutes of many hours', async () => {
      const hourly = [0, 1, 2, 3, 4, 5, 6, 7].map((hour) => hour * 60);
      const one = (prefix: string, laterBy: number) =>
        Object.fromEntries(
          Object.entries(placed(prefix, () => laterBy, hourly)).map(([id, given]) => [
            id,
            { ...given, total: '10.00' },
          ]),
        );
      expect(await heldOf(one('s', 0), one('c', 8 * 60))).toBe(0);
    });
  });

  test('is compared with what the other one states now', async () => {
    const brandId = newBrand();
    const { context: first } = await openJob(brandId, 'shopify');
    await state(first, { 7: {} }, { isBrandShared });
    await state(first, { 7: { total: '12.00' } }, { isBrandShared });
    await first.prepare();
    const { context: second } = await openJob(brandId, 'amazon');
    await state(second, { before: {}, now: { total: '12.00' } }, { isBrandShared });
    expect(await decided(second)).toEqual(['before: attributed', 'now: held similar_order']);
  });

  test('is not compared with one that the service refused, of a source that the job no longer reads', async () => {
    const brandId = newBrand();
    const { context: first, shops } = await openJob(brandId, 'shopify', 'shopify');
    await state(first, { 7: {} }, { isBrandShared });
    await first.prepare();
    await bring(first, 'rejected');
    const path = join(makeTestFolder(), 'codes.csv');
    const left = await openContext(database(), {
      path,
      shops: shops.slice(1),
      platforms: [`shopify ${brands}`],
      brandId,
      job: first.job,
      writeCodes: (text) => writeFileSync(path, text),
    });
    await left.attribute({ ...RULES, isBrandShared });
    expect(await decisions(first)).toEqual(['7: excluded source_removed MIRA']);
    const { context: second } = await openJob(brandId, 'amazon');
    await state(second, { a: {} }, { isBrandShared });
    expect(await decided(second)).toEqual(['a: attributed']);
  });

  test('is that of the source which the job names first, unless the other one was sent', async () => {
    const { context, shops } = await openJob(newBrand(), 'shopify', 'amazon');
    const [shop, channel] = shops;
    await channel?.read({ orders: [order('a', { codes: ['MIRA'] })] });
    await state(context, { 7: {} }, { shop, isBrandShared });
    expect([await decided(context, shop), await decided(context, channel)]).toEqual([
      ['7: attributed'],
      ['a: held similar_order'],
    ]);

    const { context: later, shops: laterShops } = await openJob(newBrand(), 'shopify', 'amazon');
    const [laterShop, laterChannel] = laterShops;
    await state(later, { a: {} }, { shop: laterChannel, isBrandShared });
    await later.prepare();
    await bring(later, 'accepted');
    await state(later, { 7: {} }, { shop: laterShop, isBrandShared });
    expect([await decided(later, laterShop), await decided(later, laterChannel)]).toEqual([
      ['7: held similar_order'],
      ['a: attributed'],
    ]);

    // So is one that waits to be sent, unless it is decided about now.
    const { context: waits, shops: waitingShops } = await openJob(newBrand(), 'shopify', 'amazon');
    const [waitingShop, waitingChannel] = waitingShops;
    await state(waits, { a: {} }, { shop: waitingChannel, isBrandShared });
    await waits.prepare();
    await waitingChannel?.read({ orders: [order('b', { codes: ['MIRA'], total: '3.00' })] });
    const shopOrders = { 7: {}, a: { codes: ['NOOR'], total: '99.00' } };
    await state(waits, shopOrders, { shop: waitingShop, isBrandShared });
    expect([await decided(waits, waitingShop), await decided(waits, waitingChannel)]).toEqual([
      ['7: held similar_order', 'a: attributed'],
      ['a: attributed', 'b: attributed'],
    ]);
  });
});

describe('an order of a source whose orders no other platform states', () => {
  const KEY = '00000000-0000-4000-8000-000000000001';
  const IN_ANOTHER_ZONE = { placedAt: '2026-04-10T11:00:00Z', customerKey: KEY };
  /** The decisions of two sources of one job, of which the second one has own orders, read one after the other. */
  async function decidedApart(
    isOwnFirst: boolean,
    first: Readonly<Record<string, Given>>,
    next: typeof first,
  ) {
    const { context, shops } = await openJob(newBrand(), 'shopify', 'till');
    const [shop, till] = isOwnFirst ? shops.toReversed() : shops;
    const given = { isBrandShared: true, ownOrders: [shops[1]?.source ?? ''] };
    await state(context, first, { ...given, shop });
    await context.prepare();
    await bring(context, 'accepted');
    await state(context, next, { ...given, shop: till });
    return { context, till, decisions: await decided(context, till) };
  }

  test.each<[string, Given, Readonly<Record<string, Given>>]>([
    ['the same code, amount and minute', {}, { a: {} }],
    ['the same id', {}, { 7: {} }],
    ['another spelling of the id', {}, { '007': {} }],
    ['the same customer in another zone', { customerKey: KEY }, { a: IN_ANOTHER_ZONE }],
  ])(
    'is credited beside another one with %s, and so is that one, if it is read later',
    async (_, first, next) => {
      for (const isOwnFirst of [true, false]) {
        const { decisions: all } = await decidedApart(isOwnFirst, { 7: first }, next);
        expect(all).toEqual([`${Object.keys(next)[0]}: attributed`]);
      }
    },
  );

  test('is held if its tags name the other one, and like any other without the setting', async () => {
    const { decisions: named } = await decidedApart(false, { 7: {} }, { a: { otherIds: ['7'] } });
    expect(named).toEqual(['a: held similar_order']);
    const { context, till } = await decidedApart(false, { 7: {} }, { a: {} });
    await context.attribute({ codes: RULES.codes, isBrandShared: true });
    expect(await decided(context, till)).toEqual(['a: held similar_order']);
  });

  test('is compared again once the setting is gone, also with orders of later files', async () => {
    const { context, till } = await decidedApart(false, { 7: {} }, { a: {} });
    await context.prepare();
    await bring(context, 'accepted');
    await context.attribute({ codes: RULES.codes, isBrandShared: true });
    expect(await decided(context, till)).toEqual(['a: attributed']);
    await state(context, { 8: {} }, { isBrandShared: true });
    expect(await decided(context)).toEqual(['7: attributed', '8: held similar_order']);
  });
});

describe('an order whose tags name the id of another one', () => {
  const isBrandShared = true;
  const NAMED = '112-1234567-1234567';
  const tagged = { otherIds: [NAMED], total: '11.00', placedAt: '2026-04-10T13:00:00Z', codes: ['NOOR'] };

  test.each([
    ['the shop was credited first', true, NAMED],
    ['the channel was credited first', false, '7'],
  ])('is held if %s, although code, amount and time differ', async (_, isShopFirst, held) => {
    for (const sent of ['accepted', null] as const) {
      const brandId = newBrand();
      const { context: shop } = await openJob(brandId, 'shopify');
      const { context: channel } = await openJob(brandId, 'amazon');
      const steps = [
        { context: shop, orders: { 7: tagged, 8: { total: '3.00' } } },
        { context: channel, orders: { [NAMED]: {} } },
      ];
      const [first, second] = isShopFirst ? steps : steps.toReversed();
      await state(first?.context ?? shop, first?.orders ?? {}, { isBrandShared });
      await first?.context.prepare();
      if (sent !== null) await bring(first?.context ?? shop, sent);
      await state(second?.context ?? shop, second?.orders ?? {}, { isBrandShared });
      const all = [...(await decided(shop)), ...(await decided(channel))];
      expect(all.filter((one) => !one.endsWith(': attributed'))).toEqual([`${held}: held similar_order`]);
      expect(all).toHaveLength(3);
    }
  });

  test.each<readonly [string, { readonly isOtherBrand?: true; readonly platform?: string }, string]>([
    ['another brand', { isOtherBrand: true }, 'attributed'],
    ['the same platform, where ids tell orders apart', { platform: 'Shopify' }, 'attributed'],
    ['another platform', {}, 'held similar_order'],
  ])('counts for %s: %s', async (_, { isOtherBrand, platform = 'amazon' }, expected) => {
    const brandId = newBrand();
    const { context: channel } = await openJob(isOtherBrand ? newBrand() : brandId, platform);
    await state(channel, { [NAMED]: {} }, { isBrandShared });
    await channel.prepare();
    const { context: shop } = await openJob(brandId, 'shopify');
    await state(shop, { 7: tagged }, { isBrandShared });
    expect(await decided(shop)).toEqual([`7: ${expected}`]);
  });

  test('stands for the source that the job names first, and for neither if the other one is credited to nobody', async () => {
    const { context, shops } = await openJob(newBrand(), 'shopify', 'amazon');
    const [shop, channel] = shops;
    await channel?.read({
      orders: [
        order(NAMED, { codes: ['MIRA'] }),
        order('113-0000000-0000000', { codes: [] }),
        order('114-0000000-0000000', { codes: ['MIRA'], total: '3.00', otherIds: ['9'] }),
      ],
    });
    const named = { ...tagged, otherIds: ['113-0000000-0000000'] };
    await state(context, { 7: tagged, 8: named, 9: { codes: [] } }, { shop, isBrandShared });
    expect(await decided(context, shop)).toEqual(['7: attributed', '8: attributed', '9: organic']);
    expect(await decided(context, channel)).toEqual([
      '112-1234567-1234567: held similar_order',
      '113-0000000-0000000: organic',
      '114-0000000-0000000: attributed',
    ]);
  });

  test('is held after one that waits to be sent, and not because of what an earlier export named', async () => {
    const { context, shops } = await openJob(newBrand(), 'shopify', 'amazon');
    const [shop, channel] = shops;
    await state(context, { [NAMED]: {} }, { shop: channel, isBrandShared });
    await context.prepare();
    await channel?.read({ orders: [order('other', { codes: ['MIRA'], total: '3.00' })] });
    await state(context, { 7: tagged }, { shop, isBrandShared });
    expect(await decided(context, shop)).toEqual(['7: held similar_order']);
    expect(await decided(context, channel)).toEqual([`${NAMED}: attributed`, 'other: attributed']);

    const brandId = newBrand();
    const { context: first } = await openJob(brandId, 'shopify');
    for (const otherIds of [[NAMED], []]) {
      await state(first, { 7: { ...tagged, otherIds } }, { isBrandShared });
      await first.prepare();
    }
    const { context: second } = await openJob(brandId, 'amazon');
    await state(second, { [NAMED]: {} }, { isBrandShared });
    expect(await decided(second)).toEqual([`${NAMED}: attributed`]);
  });

  test('of three sources, only the later one of the two is held', async () => {
    const { context, shops } = await openJob(newBrand(), 'shopify', 'amazon', 'tiktok');
    const [shop, amazon, tiktok] = shops;
    const amazons = [order(NAMED, { codes: ['MIRA'] }), order('113', { codes: ['MIRA'], otherIds: ['578'] })];
    await amazon?.read({ orders: amazons });
    const other = order('578', { codes: ['NOOR'], total: '5.00' });
    await tiktok?.read({ orders: [order('577', { ...tagged, codes: ['MIRA'] }), other] });
    await state(context, { 7: { total: '70.00' } }, { shop, isBrandShared });
    expect(await decided(context, shop)).toEqual(['7: attributed']);
    expect(await decided(context, amazon)).toEqual([`${NAMED}: attributed`, '113: attributed']);
    expect(await decided(context, tiktok)).toEqual(['577: held similar_order', '578: held similar_order']);
    // Within one platform, ids tell orders apart.
    const { context: same, shops: both } = await openJob(newBrand(), 'shopify', 'SHOPIFY');
    await both[0]?.read({ orders: [order(NAMED, { codes: ['MIRA'] })] });
    await state(same, { 7: tagged }, { shop: both[1], isBrandShared });
    expect(await decided(same, both[1])).toEqual(['7: attributed']);
  });

  test('is held although the shop has an order with that id too', async () => {
    const brandId = newBrand();
    const { context: channel } = await openJob(brandId, 'amazon');
    await state(channel, { [NAMED]: {} }, { isBrandShared });
    await channel.prepare();
    const { context: shop } = await openJob(brandId, 'shopify');
    await state(shop, { 7: tagged, [NAMED]: { total: '99.00' } }, { isBrandShared });
    expect(await decided(shop)).toContain('7: held similar_order');
  });
});

describe('an order that another source of its platform states as cancelled', () => {
  const NO = { exclusion: 'cancelled' };

  test.each([
    ['an earlier run', true],
    ['the same one', false],
  ])('in %s is held, and credited if a person confirms it', async (_, isFirst) => {
    const { context, shops } = await openJob(newBrand(), 'shop', 'shop');
    const [one, two] = shops;
    if (isFirst) await state(context, { 1: NO, 2: {} }, { shop: two });
    else
      await two?.read({ orders: [order('1', { codes: ['MIRA'], ...NO }), order('2', { codes: ['MIRA'] })] });
    await state(context, { 1: {}, 2: {} }, { shop: one });
    expect(await decided(context)).toEqual(['1: held cancelled_elsewhere', '2: attributed']);
    const subject = {
      source: context.source,
      orderId: '1',
      reason: 'cancelled_elsewhere',
      contentHash: null,
    };
    await inTransaction(context.db, (trx) =>
      storeRulings(trx, { subjects: [subject], decision: 'credit', decidedBy: 'ada' }),
    );
    await context.attribute();
    expect(await decided(context)).toEqual(['1: attributed', '2: attributed']);
  });

  test.each([
    ['waits', null, { withdrawn: 1, adjustments: 0 }, []],
    ['was sent', 'accepted', { withdrawn: 0, adjustments: 1 }, ['1: held 10 → 10', '1: changed 10 → 10']],
  ] as const)(
    'after it was credited is held while it does so, and the ledger knows: it %s',
    async (_, sent, change, noted) => {
      const { context, shops } = await openJob(newBrand(), 'shop', 'shop');
      const [one, two] = shops;
      await state(context, { 1: {}, 2: {} }, { shop: one });
      await context.prepare();
      if (sent !== null) await bring(context, sent);
      await state(context, { 1: NO, 2: { exclusion: 'test' } }, { shop: two });
      expect(await decided(context)).toEqual(['1: held cancelled_elsewhere', '2: attributed']);
      expect(await context.prepare()).toMatchObject(change);
      await state(context, { 1: { codes: [] } }, { shop: two });
      expect(await decided(context)).toEqual(['1: attributed', '2: attributed']);
      await context.prepare();
      expect(await adjustments(context)).toEqual(noted);
      expect((await entries(context)).map(({ state }) => state)).toEqual(Array(2).fill(sent ?? 'ready'));
    },
  );

  test('is held although that one belongs to another job, and a seed names the order, while it states so', async () => {
    const brandId = newBrand();
    const { context } = await openJob(brandId, 'shop');
    const { context: other } = await openJob(brandId, 'shop');
    const platform = `shop ${brands}`;
    const decide = (one: Context, { job, source }: Context) =>
      one.attribute({ codes: RULES.codes, elsewhere: [{ job, source, orderPlatform: platform }] });
    await state(context, { 1: {}, 2: {} });
    await context.prepare();
    await bring(context, 'accepted');
    const seeded = { line: 2, orderPlatform: platform, orderId: '1', amount: null, currency: null };
    await seedLedger(database(), {
      fileName: 'seed.csv',
      fileSha256: randomUUID(),
      reason: 'listed',
      seededBy: 'tester',
      rows: [{ ...seeded, dealId: null, collabId: null, reason: null }],
    });
    const stateThere = async (given: Given) => {
      await other.read({ orders: [order('1', given), order('2')] });
      await decide(other, context);
      await decide(context, other);
      return decided(context);
    };
    expect(await stateThere({})).toEqual(['1: attributed', '2: attributed']);
    expect(await stateThere(NO)).toEqual(['1: held cancelled_elsewhere', '2: attributed']);
    await context.read({ orders: [order('1', { codes: ['MIRA'], total: '12.00' })] });
    await decide(context, other);
    expect(await decided(context)).toEqual(['1: held cancelled_elsewhere', '2: attributed']);
    expect(await stateThere({})).toEqual(['1: attributed', '2: attributed']);
  });

  test('is held although another job decides so at the same moment', async () => {
    const brandId = newBrand();
    const [shop, there] = [await openShop(database()), await openShop(database())];
    const platform = `shop ${brands}`;
    const open = (db: Database, one: Shop) => {
      const path = join(makeTestFolder(), 'codes.csv');
      const writeCodes = (text: string) => writeFileSync(path, text);
      return openContext(db, { path, shops: [one], platforms: [platform], brandId, writeCodes });
    };
    const decide = async (db: Database, one: Shop, { source }: Shop) => {
      const elsewhere = [{ job: source, source, orderPlatform: platform }];
      return (await open(db, one)).attribute({ codes: RULES.codes, elsewhere });
    };
    await shop.read({ orders: [order('1', { codes: ['MIRA'] })] });
    await there.read({ orders: [order('1', NO)] });
    const first = await database().startTransaction().execute();
    await decide(first, there, shop);
    let isDecided = false;
    const second = decide(database(), shop, there).then(() => {
      isDecided = true;
    });
    await waitFor(async () => isDecided || (await countBlocked(database())) > 0);
    await first.commit().execute();
    await second;
    expect(await decided(await open(database(), shop))).toEqual(['1: held cancelled_elsewhere']);
  });

  test('is held although that one leaves it to backfills, because it is older than the period of the job', async () => {
    const { context, shops } = await openJob(newBrand(), 'shop', 'shop');
    const [one, two] = shops;
    await state(context, { 1: {} }, { shop: one });
    await context.prepare();
    await bring(context, 'accepted');
    await two?.read({ orders: [order('1', NO)] });
    await context.attribute({ codes: RULES.codes, start: { day: '2026-05-01', timeZone: 'UTC' } });
    expect(await decided(context)).toEqual(['1: held cancelled_elsewhere']);
    expect(await decided(context, two)).toEqual(['1: excluded cancelled']);
  });

  test('is held by a status in the words of the export, and not while the other source waits for the payment', async () => {
    const { context, shops } = await openJob(newBrand(), 'shop', 'shop');
    const [two, one] = [shops[1], shops[0]];
    const words = ['terugbetaald', 'geannuleerd', 'in behandeling'];
    const orders = (all: readonly string[]) =>
      all.map((status, place) => order(String(place + 1), { codes: ['MIRA'], status }));
    await two?.read({ orders: orders(words) });
    await one?.read({ orders: orders(words.map(() => 'betaald')) });
    await context.attribute({ codes: RULES.codes, credited: ['betaald'], notCredited: words });
    expect(await decided(context)).toEqual([
      '1: held cancelled_elsewhere',
      '2: held cancelled_elsewhere',
      '3: attributed',
    ]);
  });

  test.each([
    ['on another platform', ['shop', 'till'], NO],
    ['for another reason', ['shop', 'shop'], { exclusion: 'test' }],
  ])('is not held if that is %s', async (_, platforms, other) => {
    const { context, shops } = await openJob(newBrand(), ...platforms);
    await state(context, { 1: other }, { shop: shops[1] });
    await state(context, { 1: {} }, { shop: shops[0] });
    expect(await decided(context)).toEqual(['1: attributed']);
  });
});

describe('an order that another file of its platform states under another id', () => {
  const AT = '2026-04-10T09:00:26Z';
  /** A time that all orders of a source have tells none apart. */
  const LATER = { placedAt: '2026-04-10T10:00:26Z', total: '99.00' };
  const KEY = '00000000-0000-4000-8000-000000000001';
  /** A posted order, what the next file states, and what is decided about it. */
  async function decidedNext(first: Given, next: Readonly<Record<string, Given>>) {
    const { context } = await openJob(newBrand(), 'shopify');
    await state(context, { 501: { placedAt: AT, ...first }, 502: LATER }, { revenue: 'subtotal' });
    await context.prepare();
    await bring(context, 'accepted');
    await state(context, next, { revenue: 'subtotal' });
    const all = await decided(context);
    expect(all).toContain('501: attributed');
    return all.filter((one) => !one.startsWith('50'));
  }

  test.each<[string, Given, Given]>([
    ['the same second', {}, { placedAt: AT }],
    [
      'the subtotal alone',
      { total: null, subtotal: '8.00' },
      { placedAt: AT, total: null, subtotal: '8.00' },
    ],
    [
      'the same minute and customer',
      { placedAt: '2026-04-10T09:00:00Z', customerKey: KEY },
      { customerKey: KEY },
    ],
  ])('is held with %s', async (_, first, next) => {
    expect(await decidedNext(first, { 901: next })).toEqual(['901: held similar_order']);
  });

  test.each<[string, Given, Given]>([
    ['another second', {}, { placedAt: '2026-04-10T09:00:27Z' }],
    ['another amount', {}, { placedAt: AT, total: '11.00' }],
    ['another subtotal', { total: null }, { placedAt: AT, total: null, subtotal: '7.00' }],
    ['another currency', {}, { placedAt: AT, currency: 'USD' }],
    ['another code', {}, { placedAt: AT, codes: ['MIRA5'] }],
    [
      'another customer',
      { customerKey: KEY },
      { placedAt: AT, customerKey: '00000000-0000-4000-8000-000000000002' },
    ],
    ['a time without seconds, alone', { placedAt: '2026-04-10T09:00:00Z' }, {}],
  ])('is credited with %s', async (_, first, next) => {
    expect(await decidedNext(first, { 901: next })).toEqual(['901: attributed']);
  });

  test('is held without seconds if two orders and half of those of the file are known, and if the file states times', async () => {
    const minutes = ['09:10', '09:20', '09:30', '09:40', '09:50'];
    const renumbered = (
      from: number,
      known: number,
      timeOf = (minute: string) => `2026-04-10T${minute}:00Z`,
    ) =>
      Object.fromEntries(
        minutes.map((minute, at) => [
          String(from + at),
          { placedAt: timeOf(minute), total: at < known ? `${10 + at}.00` : `${from + at}.00` },
        ]),
      );
    const heldOf = async (known: number, timeOf?: (minute: string) => string) => {
      const { context } = await openJob(newBrand(), 'shopify');
      await state(context, renumbered(500, 5, timeOf));
      await state(context, renumbered(900, known, timeOf));
      return (await decided(context)).filter((one) => one.endsWith('held similar_order')).length;
    };
    expect(await heldOf(5)).toBe(5);
    expect(await heldOf(3)).toBe(3);
    expect(await heldOf(2)).toBe(0);
    expect(await heldOf(5, () => '2026-04-10T00:00:00Z')).toBe(0);
  });

  test('is credited if an earlier file states both, and this one another state of it, such as paid', async () => {
    const { context } = await openJob(newBrand(), 'shopify');
    const unpaid = { 901: { placedAt: AT, status: 'pending' }, 902: { placedAt: AT, codes: [] } };
    await state(context, { 501: { placedAt: AT }, 502: LATER, ...unpaid });
    await state(context, { 901: { placedAt: AT }, 902: { placedAt: AT }, 903: { placedAt: AT } });
    expect((await decided(context)).filter((one) => one.startsWith('90'))).toEqual([
      '901: attributed',
      '902: attributed',
      '903: held similar_order',
    ]);
  });

  test('is held in the second of two files that one run reads, and in another source of the platform', async () => {
    const { context } = await openJob(newBrand(), 'shopify');
    await context.read({ orders: [order('501', { codes: ['MIRA'], placedAt: AT })] });
    await state(context, { 901: { placedAt: AT } });
    expect(await decided(context)).toEqual(['501: attributed', '901: attributed']);
    await state(context, { 502: LATER });
    await state(context, { 902: LATER, 903: { placedAt: AT } });
    expect((await decided(context)).filter((one) => one.includes('held'))).toEqual([
      '902: held similar_order',
      '903: held similar_order',
    ]);
    const { context: two, shops } = await openJob(newBrand(), 'shopify', 'shopify');
    await state(two, { 501: { placedAt: AT } }, { shop: shops[0] });
    await state(two, { 901: { placedAt: AT }, 502: LATER }, { shop: shops[1] });
    expect(await decided(two, shops[1])).toEqual(['502: attributed', '901: held similar_order']);
  });

  test.each([
    ['901', 'similar_order'],
    ['0501', 'similar_id'],
  ])('is credited once a person says that %s, held for %s, is another order', async (orderId, reason) => {
    const { context } = await openJob(newBrand(), 'shopify');
    await state(context, { 501: { placedAt: AT }, 502: LATER });
    await state(context, { [orderId]: { placedAt: AT } });
    expect(await decided(context)).toContain(`${orderId}: held ${reason}`);
    await inTransaction(context.db, (trx) =>
      storeRulings(trx, {
        subjects: [{ source: context.source, orderId, contentHash: null, reason }],
        decision: 'credit',
        decidedBy: 'tester',
      }),
    );
    await context.attribute({ codes: RULES.codes, isBrandShared: false });
    expect((await decided(context)).toSorted()).toEqual(
      [`${orderId}: attributed`, '501: attributed', '502: attributed'].toSorted(),
    );
  });
});

describe('orders of one second that add up to another one', () => {
  const AT = '2026-04-10T09:00:26Z';
  const at = (total: string, given: Given = {}): Given => ({ placedAt: AT, total, ...given });

  test.each<[string, Readonly<Record<string, Given>>, readonly string[]]>([
    [
      'are held, and the whole one is credited',
      { 1: at('60.00'), 2: at('100.00'), 3: at('40.00') },
      ['1', '3'],
    ],
    ['are credited if they do not', { 1: at('60.00'), 2: at('100.00'), 3: at('41.00') }, []],
    [
      'are credited if one has another code',
      { 1: at('60.00', { codes: ['MIRA5'] }), 2: at('100.00'), 3: at('40.00') },
      [],
    ],
    [
      'are credited if one is of another customer',
      {
        1: at('60.00', { customerKey: '00000000-0000-4000-8000-000000000001' }),
        2: at('100.00'),
        3: at('40.00'),
      },
      [],
    ],
    [
      'are credited if the times have no seconds',
      Object.fromEntries(['60.00', '100.00', '40.00'].map((total, id) => [id, { total }])),
      [],
    ],
    ['are credited if one order has the amount of one other', { 1: at('60.00'), 2: at('60.00') }, []],
    [
      'are held if each order of the file has one with its amount',
      {
        1: at('60.00'),
        2: at('60.00'),
        3: at('70.00', { placedAt: '2026-04-10T09:10:07Z' }),
        4: at('70.00', { placedAt: '2026-04-10T09:10:07Z' }),
      },
      ['2', '4'],
    ],
    [
      'are credited if an order of the file has none',
      { 1: at('60.00'), 2: at('60.00'), 3: at('70.00', { placedAt: '2026-04-10T09:10:07Z' }) },
      [],
    ],
  ])('%s', async (_, orders, expected) => {
    const { context } = await openJob(newBrand(), 'shopify');
    // A time that all orders of a source have tells none apart.
    await state(context, { 9: { placedAt: '2026-04-10T10:00:26Z', total: '99.00' } });
    await state(context, orders);
    expect((await decided(context)).filter((one) => one.includes('held'))).toEqual(
      expected.map((id) => `${id}: held may_be_part`),
    );
  });

  test('stay held if one of them changes later, in a file without the others', async () => {
    const { context } = await openJob(newBrand(), 'shopify');
    await state(context, { 9: { placedAt: '2026-04-10T10:00:26Z', total: '99.00' } });
    await state(context, { 1: at('60.00'), 2: at('100.00'), 3: at('40.00') });
    const held = async () => (await decided(context)).filter((one) => one.includes('held'));
    expect(await held()).toEqual(['1: held may_be_part', '3: held may_be_part']);
    for (const total of ['59.00', '58.00']) {
      await state(context, { 1: at(total), 2: at(`1${total}`) });
      expect(await held()).toEqual(['1: held may_be_part', '3: held may_be_part']);
    }
  });

  test.each<[string, readonly Readonly<Record<string, Given>>[], readonly string[]]>([
    ['the whole one, then its parts', [{ 2: at('100.00') }, { 1: at('60.00') }, { 3: at('40.00') }], ['3']],
    ['the parts, then the whole one', [{ 1: at('60.00'), 3: at('40.00') }, { 2: at('100.00') }], ['2']],
    [
      'the whole one, while its parts are not paid, then these',
      [
        { 1: at('60.00', { exclusion: 'unpaid' }), 2: at('100.00'), 3: at('40.00', { exclusion: 'unpaid' }) },
        { 1: at('60.00') },
        { 3: at('40.00') },
      ],
      ['1', '3'],
    ],
    [
      'the parts, while the whole one is not paid, then this',
      [{ 1: at('60.00'), 2: at('100.00', { exclusion: 'unpaid' }), 3: at('40.00') }, { 2: at('100.00') }],
      ['2'],
    ],
    ['a part, then the rest', [{ 1: at('60.00') }, { 2: at('100.00'), 3: at('40.00') }], ['2', '3']],
    ['orders that do not add up', [{ 1: at('60.00') }, { 2: at('100.00') }, { 3: at('41.00') }], []],
    [
      'with another code',
      [{ 2: at('100.00') }, { 1: at('60.00') }, { 3: at('40.00', { codes: ['NOOR'] }) }],
      [],
    ],
  ])('are held if files state, and count, one after the other: %s', async (_, files, expected) => {
    const { context } = await openJob(newBrand(), 'shopify');
    await state(context, { 9: { placedAt: '2026-04-10T10:00:26Z', total: '99.00' } });
    for (const file of files) await state(context, file);
    expect((await decided(context)).filter((one) => one.includes('held'))).toEqual(
      expected.map((id) => `${id}: held may_be_part`),
    );
  });

  test('leave the whole one credited if one run reads their files, or decides about all again', async () => {
    const { context } = await openJob(newBrand(), 'shopify');
    const parts = { 1: '60.00', 2: '100.00', 3: '40.00' };
    await state(context, { 9: { placedAt: '2026-04-10T10:00:26Z', total: '99.00' } });
    for (const [id, total] of Object.entries(parts))
      await context.read({ orders: [order(id, { codes: ['MIRA'], ...at(total) })] });
    for (const codes of [RULES.codes, `${RULES.codes}\nNEW,,new,D3,,,`]) {
      await context.attribute({ codes });
      expect((await decided(context)).filter((one) => one.includes('held'))).toEqual([
        '1: held may_be_part',
        '3: held may_be_part',
      ]);
    }
  });

  describe('in a sale, or a batch of renewals', () => {
    /** Three orders a second for ten seconds, of three prices, and one group of five that adds up. */
    const sale = Object.fromEntries(
      Array.from({ length: 30 }, (_, index) => [
        `s${index}`,
        at(['10.00', '20.50', '32.00'][index % 3] ?? '', {
          placedAt: new Date(Date.UTC(2026, 3, 10, 18, 0, 1 + Math.floor(index / 3))).toISOString(),
        }),
      ]),
    );
    const ofSale = (total: string) => at(total, { placedAt: '2026-04-10T18:00:05Z' });
    const group = {
      1: ofSale('60.00'),
      2: ofSale('123.50'),
      s12: ofSale('30.00'),
      s13: ofSale('32.50'),
      s14: ofSale('1.00'),
    };
    const split = { 5: at('60.00'), 6: at('100.00'), 7: at('40.00') };

    test('are credited if one of them is paid later', async () => {
      const { context } = await openJob(newBrand(), 'shopify');
      await state(context, {
        ...sale,
        ...group,
        1: ofSale('60.00'),
        s13: { ...group.s13, exclusion: 'unpaid' },
      });
      await state(context, { s13: group.s13 });
      expect((await decided(context)).filter((one) => one.includes('held'))).toEqual([]);
    });

    test.each<[string, Readonly<Record<string, Given>>, readonly string[]]>([
      ['are credited', {}, []],
      [
        'are held if another hour of the file has some that chance does not explain',
        split,
        ['1', '5', '7', 's12', 's13', 's14'],
      ],
      [
        'are held if one customer has placed them',
        Object.fromEntries(
          Object.entries(group).map(([id, given]) => [
            id,
            { ...given, customerKey: '00000000-0000-4000-8000-000000000001' },
          ]),
        ),
        ['1', 's12', 's13', 's14'],
      ],
    ])('%s', async (_, others, expected) => {
      const { context } = await openJob(newBrand(), 'shopify');
      await state(context, { ...sale, ...group, ...others });
      expect((await decided(context)).filter((one) => one.includes('held'))).toEqual(
        expected.map((id) => `${id}: held may_be_part`),
      );
    });
  });
});

describe('the orders with which a person compares one that is held', () => {
  const AT = '2026-04-10T09:00:26Z';

  test.each<[string, string, Readonly<Record<string, Given>>, readonly string[]]>([
    ['an id in another spelling', '00101', { 101: { placedAt: AT }, '00101': {} }, ['101 10.00']],
    ['another id at the same time', '901', { 501: { placedAt: AT }, 901: { placedAt: AT } }, ['501 10.00']],
    [
      'the whole order and its other parts',
      '2',
      {
        1: { placedAt: AT, total: '40.00' },
        2: { placedAt: AT, total: '60.00' },
        3: { placedAt: AT, total: '100.00' },
        4: { placedAt: '2026-04-10T09:00:27Z', total: '100.00' },
      },
      ['3 100.00', '1 40.00'],
    ],
    [
      'the same amount a step of time zones apart',
      '901',
      {
        501: { placedAt: '2026-04-10T07:00:26Z' },
        502: { placedAt: '2026-04-10T07:05:26Z' },
        901: { placedAt: AT },
      },
      ['501 10.00'],
    ],
    [
      'an id that its tags name',
      '901',
      { 501: { total: '9.00' }, 901: { placedAt: AT, otherIds: ['501'] } },
      ['501 9.00'],
    ],
    [
      'the order whose tags name it',
      '501',
      { 501: { placedAt: AT }, 901: { otherIds: ['501'], total: '9.00' } },
      ['901 9.00'],
    ],
    [
      'none of another code, currency or time',
      '901',
      {
        501: { placedAt: AT, codes: ['NOOR'] },
        502: { placedAt: AT, currency: 'USD' },
        503: { placedAt: '2026-04-10T09:03:26Z' },
        901: { placedAt: AT },
      },
      [],
    ],
  ])('include %s', async (_, orderId, orders, expected) => {
    const { context } = await openJob(newBrand(), 'shopify');
    const { [orderId]: own, ...others } = orders;
    await state(context, others);
    await state(context, { [orderId]: own ?? {} });
    await sql`update intake.attributions set outcome = 'held', reason = 'similar_order', target = null, matched_by = null
      where source = ${context.source} and order_id = ${orderId}`.execute(context.db);
    const [life] = await explainOrder(context.db, { source: context.source, order: orderId });
    // Other tests have orders of these times, too.
    const ofJob = life?.alike.filter(({ source }) => source === context.source);
    expect(ofJob?.map((one) => `${one.orderId} ${Number(one.amount).toFixed(2)}`)).toEqual(expected);
  });
});
