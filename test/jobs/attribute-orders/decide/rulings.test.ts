import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import {
  type RuledSubject,
  type Ruling,
  storeRulings,
} from '../../../../jobs/attribute-orders/decide/rulings.ts';
import { HELD_REASONS } from '../../../../src/core/held/held-order.ts';
import { inTransaction } from '../../../../src/db/in-transaction.ts';
import { openShop as newShop, order, useDatabase } from '../../../intake/story.ts';
import { makeTestFolder } from '../../../support/setup.ts';
import { type AttributeGiven, type Context, decisions, type Given, openContext } from './story.ts';

const database = useDatabase('a Postgres server');
const CODES = 'MIRA,,mira,D1,,2020-01-01,2030-01-01';
const RULES: AttributeGiven = {
  codes: CODES,
  credited: ['paid', 'partially_refunded'],
  notCredited: ['pending'],
};

let brands = 700_000;
async function openShop(given: Given): Promise<Context> {
  const path = join(makeTestFolder(), 'codes.csv');
  brands += 1;
  const shop = await openContext(database(), {
    path,
    brandId: String(brands),
    writeCodes: (text) => writeFileSync(path, text),
  });
  await state(shop, given);
  return shop;
}

/** An export states the order `#7` in this way, and the job decides about it. */
async function state(shop: Context, given: Given): Promise<void> {
  await shop.read({ orders: [order('#7', { codes: ['MIRA'], status: 'paid', ...given })] });
  await shop.attribute(RULES);
}

async function rule(
  shop: Context,
  subject: Partial<RuledSubject>,
  decision: Ruling = 'credit',
): Promise<void> {
  const { rows } = await sql<{ reason: string; contentHash: string }>`
    select a.reason, o.content_hash as "contentHash" from intake.attributions a
    join intake.orders o using (order_version_id) where a.job = ${shop.job}`.execute(shop.db);
  const { reason = '', contentHash = '' } = rows[0] ?? {};
  const ofOrder = { source: shop.source, orderId: '#7', reason, contentHash };
  const subjects = [
    'status' in subject ? { source: shop.source, status: subject.status ?? '' } : { ...ofOrder, ...subject },
  ];
  await inTransaction(shop.db, (trx) => storeRulings(trx, { subjects, decision, decidedBy: 'tester' }));
  await shop.attribute(RULES);
}

const CREDITED = ['#7: attributed code MIRA → deal:D1'];

/** An order that is held for each reason, and whether a person can have it credited. */
const HELD: readonly (readonly [reason: string, given: Given])[] = [
  ['unknown_status', { status: 'mystery' }],
  ['unknown_test', { exclusion: 'unknown_test' }],
  ['unknown_test', { exclusion: 'unknown_test:Mode=trial' }],
  ['unknown_payment', { exclusion: 'unknown_payment' }],
  ['unknown_parent', { exclusion: 'unknown_parent' }],
  ['unknown_rate', { exclusion: 'unknown_rate' }],
  ['incomplete', { doubt: 'incomplete' }],
  ['unknown_refund', { status: 'partially_refunded' }],
  ['unknown_time', { placedAt: null, paidAt: null }],
  // By this date, the code has expired.
  ['after_export', { placedAt: '2031-01-01T00:00:00Z' }],
  ['unknown_amount', { total: null, subtotal: null }],
  ['refund_out_of_range', { refunded: '-1.00' }],
];

test.each(HELD)(
  '%s: a decision credits the order if its reason can be confirmed, and only then',
  async (reason, given) => {
    const shop = await openShop(given);
    const before = await decisions(shop);
    expect(before).toEqual([`#7: held ${reason} MIRA`]);
    await rule(shop, {});
    if (reason === 'after_export') {
      // A wrong date decides nothing once it is confirmed either: what depends on the time is asked.
      expect(await decisions(shop)).toEqual(['#7: held unknown_time MIRA']);
      await rule(shop, {});
    }
    const canBeConfirmed = HELD_REASONS[reason]?.confirms !== null;
    expect(await decisions(shop)).toEqual(canBeConfirmed ? CREDITED : before);
  },
);

test.each(HELD)('%s: a decision excludes the order for good, whatever it states later', async (_, given) => {
  const shop = await openShop(given);
  await rule(shop, { contentHash: null }, 'exclude');
  expect(await decisions(shop)).toEqual(['#7: excluded ruled_out']);
  await state(shop, { total: '12.00' });
  expect(await decisions(shop)).toEqual(['#7: excluded ruled_out']);
});

test.each<readonly [string, Given, readonly string[]]>([
  ['nothing excludes', {}, CREDITED],
  ['is cancelled', { cancelledAt: '2026-04-11T00:00:00Z' }, ['#7: excluded cancelled']],
  ['a rule excludes', { exclusion: 'test' }, ['#7: excluded test']],
  ['has a status that is not credited', { status: 'pending' }, ['#7: excluded status_pending']],
  ['was refunded in full', { refunded: '10.00' }, ['#7: excluded fully_refunded']],
])(
  'of two states of unknown age, the last of which %s, none decides until a person has confirmed it',
  async (_, given, confirmed) => {
    const shop = await openShop({ ...given, doubt: 'conflicting_states' });
    expect(await decisions(shop)).toEqual(['#7: held conflicting_states MIRA']);
    await rule(shop, {});
    expect(await decisions(shop)).toEqual(confirmed);
  },
);

test.each<readonly [string, Given, string]>([
  ['less than nothing', { total: '-1.00' }, 'negative_revenue'],
  ['nothing', { total: '0.00' }, 'zero_revenue'],
  ['as much as was refunded', { refunded: '10.00' }, 'fully_refunded'],
])(
  'the amount of what may be a part of an order excludes it only once a person confirms that it is whole: %s',
  async (_, given, reason) => {
    const shop = await openShop({ ...given, doubt: 'may_be_split' });
    expect(await decisions(shop)).toEqual(['#7: held may_be_split MIRA']);
    await rule(shop, {});
    expect(await decisions(shop)).toEqual([`#7: excluded ${reason}`]);
  },
);

test('a decision settles its own reason, and no other one', async () => {
  const shop = await openShop({ status: 'mystery', doubt: 'incomplete' });
  await rule(shop, {});
  expect(await decisions(shop)).toEqual(['#7: held incomplete MIRA']);
  await rule(shop, {});
  expect(await decisions(shop)).toEqual(CREDITED);
});

test('a decision about a version does not hold for the next one; one about the order does', async () => {
  const one = await openShop({ doubt: 'incomplete' });
  await rule(one, {});
  await state(one, { doubt: 'incomplete', total: '12.00' });
  expect(await decisions(one)).toEqual(['#7: held incomplete MIRA']);
  const other = await openShop({ doubt: 'incomplete' });
  await rule(other, { contentHash: null });
  await state(other, { doubt: 'incomplete', total: '12.00' });
  expect(await decisions(other)).toEqual(CREDITED);
});

test('a newer decision replaces the one before it', async () => {
  const shop = await openShop({ status: 'mystery' });
  await rule(shop, { status: 'mystery' });
  expect(await decisions(shop)).toEqual(CREDITED);
  await inTransaction(shop.db, (trx) =>
    storeRulings(trx, {
      subjects: [{ source: shop.source, status: 'mystery' }],
      decision: 'exclude',
      decidedBy: 'tester',
    }),
  );
  await state(shop, { status: 'mystery', total: '12.00' });
  expect(await decisions(shop)).toEqual(['#7: excluded status_mystery']);
  // Before the next run, too.
  const again = await openShop({ status: 'mystery' });
  await inTransaction(again.db, async (trx) => {
    for (const decision of ['exclude', 'credit'] as const)
      await storeRulings(trx, {
        subjects: [{ source: again.source, status: 'mystery' }],
        decision,
        decidedBy: 'tester',
      });
  });
  await again.attribute(RULES);
  expect(await decisions(again)).toEqual(CREDITED);
});

test('a decision that is taken back counts no more, and one about an order says nothing about another one, here or elsewhere', async () => {
  const path = join(makeTestFolder(), 'codes.csv');
  const [one, two] = [await newShop(database()), await newShop(database())];
  brands += 1;
  const both = await openContext(database(), {
    path,
    brandId: String(brands),
    shops: [one, two],
    platforms: ['one', 'two'],
    writeCodes: (text) => writeFileSync(path, text),
  });
  const incomplete = (id: string, total: string) =>
    order(id, { codes: ['MIRA'], total, doubt: 'incomplete' });
  await one.read({ orders: [incomplete('#7', '10.00'), incomplete('#8', '20.00')] });
  await two.read({ orders: [incomplete('#7', '30.00')] });
  const store = (source: string, decision: Ruling = 'credit') =>
    inTransaction(database(), (trx) =>
      storeRulings(trx, {
        subjects: [{ source, orderId: '#7', reason: 'incomplete', contentHash: null }],
        decision,
        decidedBy: 'tester',
      }),
    );
  const decided = async () => {
    await both.attribute(RULES);
    return [await decisions(both), await decisions({ ...both, source: two.source })];
  };
  const [held, held8] = ['#7: held incomplete MIRA', '#8: held incomplete MIRA'];
  await store(one.source);
  expect(await decided()).toEqual([[...CREDITED, held8], [held]]);
  // A decision of one source replaces none of another one.
  await store(two.source);
  await store(two.source, 'exclude');
  expect(await decided()).toEqual([[...CREDITED, held8], ['#7: excluded ruled_out']]);
  const { rows: before } = await sql<{ at: Date | null }>`
    select withdrawn_at as at from intake.rulings where source = ${two.source} order by ruling_id`.execute(
    database(),
  );
  expect(before.map(({ at }) => at === null)).toEqual([false, true]);
  await sql`update intake.rulings set withdrawn_at = now() where withdrawn_at is null and source = any(${[one.source, two.source]})`.execute(
    database(),
  );
  await one.read({ orders: [incomplete('#7', '11.00')] });
  await two.read({ orders: [incomplete('#7', '31.00')] });
  expect(await decided()).toEqual([[held, held8], [held]]);
  // A decision about another order replaces none of this one, either.
  const of8 = { source: one.source, orderId: '#8', reason: 'incomplete', contentHash: null };
  await store(one.source);
  await inTransaction(database(), (trx) =>
    storeRulings(trx, { subjects: [of8], decision: 'credit', decidedBy: 'tester' }),
  );
  expect((await decided())[0]).toEqual([...CREDITED, '#8: attributed code MIRA → deal:D1']);
  // When the first one was replaced is not forgotten by a later one.
  await store(two.source);
  const { rows: after } = await sql<{ at: Date | null }>`
    select withdrawn_at as at from intake.rulings where source = ${two.source} order by ruling_id limit 1`.execute(
    database(),
  );
  expect(after).toEqual(before.slice(0, 1));
});

test.each<readonly [string, Given, AttributeGiven]>([
  ['deals have terms', {}, { hasTerms: true }],
  ['the job has a start date', {}, { start: { day: '2020-01-01', timeZone: 'UTC' } }],
  ['the link that it came from has a period', { codes: [], links: ['mira'] }, {}],
])('an order without a time is credited once a person has confirmed it, where %s', async (_, given, how) => {
  const codes = given.links === undefined ? 'MIRA,,mira,D1,,,' : CODES;
  const shop = await openShop({ placedAt: null, paidAt: null, ...given });
  await shop.attribute({ ...RULES, codes, ...how });
  const said = given.links === undefined ? 'code MIRA' : 'link mira';
  expect(await decisions(shop)).toEqual([`#7: held unknown_time ${said.replace(/^\S+ /, '')}`]);
  await rule(shop, {});
  await shop.attribute({ ...RULES, codes, ...how });
  expect(await decisions(shop)).toEqual([`#7: attributed ${said} → deal:D1`]);
});

test('a decision about a status counts no more once it is taken back', async () => {
  const shop = await openShop({ status: 'mystery' });
  await rule(shop, { status: 'mystery' });
  expect(await decisions(shop)).toEqual(CREDITED);
  await sql`update intake.rulings set withdrawn_at = now() where source = ${shop.source}`.execute(shop.db);
  await state(shop, { status: 'mystery', total: '12.00' });
  expect(await decisions(shop)).toEqual(['#7: held unknown_status MIRA']);
});

test('orders without a status can be counted, or not', async () => {
  const counted = await openShop({ status: null });
  await rule(counted, { status: '' });
  expect(await decisions(counted)).toEqual(CREDITED);
  const excluded = await openShop({ status: '' });
  await rule(excluded, { status: '' }, 'exclude');
  expect(await decisions(excluded)).toEqual(['#7: excluded without_status']);
});

test('a decision of one source says nothing about another', async () => {
  const shop = await openShop({ status: 'mystery' });
  await rule(shop, { status: 'mystery' });
  const other = await openShop({ status: 'mystery' });
  expect(await decisions(other)).toEqual(['#7: held unknown_status MIRA']);
});

test.each<readonly [string, Given, AttributeGiven, string]>([
  [
    'a subtotal without a total',
    { total: null, subtotal: '9.00' },
    { revenue: 'subtotal' },
    'attributed code MIRA → deal:D1',
  ],
  [
    'a subtotal of an order for which nothing was paid',
    { total: '0.00', subtotal: '9.00' },
    { revenue: 'subtotal' },
    'excluded zero_revenue',
  ],
  [
    'a subtotal beside a total below zero',
    { total: '-1.00', subtotal: '9.00' },
    { revenue: 'subtotal' },
    'excluded negative_revenue',
  ],
  ['the smallest amount', { total: '0.01' }, {}, 'attributed code MIRA → deal:D1'],
  ['a refund of all but a cent', { total: '10.00', refunded: '9.99' }, {}, 'attributed code MIRA → deal:D1'],
])('%s', async (_, given, rules, expected) => {
  const shop = await openShop(given);
  await shop.attribute({ ...RULES, ...rules });
  expect(await decisions(shop)).toEqual([`#7: ${expected}`]);
});

test('a subject that is given twice is decided once', async () => {
  const shop = await openShop({ status: 'mystery' });
  const subject = { source: shop.source, status: 'mystery' };
  await inTransaction(shop.db, (trx) =>
    storeRulings(trx, { subjects: [subject, subject], decision: 'credit', decidedBy: 'tester' }),
  );
  const { rows } = await sql`select status from intake.rulings where source = ${shop.source}`.execute(
    shop.db,
  );
  expect(rows).toEqual([{ status: 'mystery' }]);
  // A decision about another status leaves it in force.
  await inTransaction(shop.db, (trx) =>
    storeRulings(trx, {
      subjects: [{ ...subject, status: 'other' }],
      decision: 'exclude',
      decidedBy: 'tester',
    }),
  );
  const { rows: inForce } = await sql`
    select status from intake.rulings where source = ${shop.source} and withdrawn_at is null order by 1`.execute(
    shop.db,
  );
  expect(inForce).toEqual([{ status: 'mystery' }, { status: 'other' }]);
});

test('a decision lets the next run decide again about the files that have such an order of the source, and about no other one', async () => {
  const shop = await openShop({ status: 'paid' });
  const other = await openShop({ status: 'mystery' });
  const held: Readonly<Record<string, Given>> = {
    mystery: { status: 'mystery' },
    strange: { status: 'strange' },
    blank: { status: null },
    one: { doubt: 'incomplete' },
    two: { doubt: 'incomplete' },
  };
  for (const [id, given] of Object.entries(held))
    await shop.read({ orders: [order(id, { codes: ['MIRA'], status: 'paid', ...given })] }, { uri: id });
  await shop.attribute(RULES);
  await other.read({ orders: [order('one', { codes: ['MIRA'], status: 'paid', doubt: 'incomplete' })] });
  await other.attribute(RULES);
  const ofOther = async () => {
    const { rows } = await sql`select from intake.attributed_files where job = ${other.job}`.execute(
      other.db,
    );
    return rows.length;
  };
  const isDecided = async (...subjects: readonly RuledSubject[]) => {
    await inTransaction(shop.db, (trx) =>
      storeRulings(trx, { subjects, decision: 'credit', decidedBy: 'tester' }),
    );
    const { rows } = await sql<{ uri: string }>`
      select f.uri from intake.attributed_files d join intake.source_files f using (source_file_id)
      where d.job = ${shop.job} and f.uri = any(${Object.keys(held)}) order by source_file_id`.execute(
      shop.db,
    );
    return rows.map(({ uri }) => uri);
  };
  const { source } = shop;
  const about = (orderId: string, reason: string) => ({ source, orderId, reason, contentHash: null });
  expect(await isDecided(about('one', 'unknown_status'), about('other', 'incomplete'))).toEqual(
    Object.keys(held),
  );
  expect(await isDecided({ source, status: 'mystery' }, about('one', 'incomplete'))).toEqual([
    ...['strange', 'blank', 'two'],
  ]);
  expect(await isDecided({ source, status: '' })).toEqual(['strange', 'two']);
  expect(await ofOther(), 'of another source').toBe(2);
  await shop.attribute(RULES);
  expect(await decisions(shop)).toEqual([
    '#7: attributed code MIRA → deal:D1',
    'blank: attributed code MIRA → deal:D1',
    'mystery: attributed code MIRA → deal:D1',
    'one: attributed code MIRA → deal:D1',
    'strange: held unknown_status MIRA',
    'two: held incomplete MIRA',
  ]);
});
