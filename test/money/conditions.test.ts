import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { inTransaction } from '../../src/db/in-transaction.ts';
import { closeStatement, verifyStatements } from '../../src/money/close-statement.ts';
import { customerHistory } from '../../src/money/customers.ts';
import { earnedOrders, keepEarnings } from '../../src/money/kept-earnings.ts';
import { parseTerms } from '../../src/money/load-rules.ts';
import { readStatement } from '../../src/money/read-statement.ts';
import { servedRates } from '../../src/money/served-rates.ts';
import type { StatementRules } from '../../src/money/statement.ts';
import { sumStatement } from '../../src/money/sum-statement.ts';
import { readAccruals } from '../../src/reports/payments/accruals.ts';
import { rulesOf } from '../support/terms.ts';
import { add, open } from './few-orders.ts';

/** Rules of a terms.csv, whose first line is the header. */
function rules(csv: readonly string[], given: Partial<StatementRules> = {}): StatementRules {
  const { rows, problems } = parseTerms(csv.join('\n'));
  expect(problems).toEqual([]);
  return rulesOf(rows, { returnWindowDays: 0, ...given });
}

/**
 * What each order earned and by which lines of the terms, and the orders of which that is unknown. From the earnings that
 * were kept the last time, and what has changed since, it is the same as from all orders.
 */
async function earned(db: Database, of: StatementRules, month = '2025-12'): Promise<readonly string[]> {
  const { lines, uncounted, carried } = await readStatement(db, { month, rules: of });
  const computed = await inTransaction(db, (trx) => readStatement(trx, { month, rules: of }));
  expect([lines, uncounted, carried]).toEqual([computed.lines, computed.uncounted, computed.carried]);
  // The accounts leave out no order, whatever is unknown about it.
  const accruals = await readAccruals(db, { month, rules: of, payments: { from: null } });
  const unknownOf = (rows: readonly { readonly orders: number }[]) =>
    rows.reduce((sum, { orders }) => sum + orders, 0);
  expect(unknownOf(accruals.rows.filter(({ state }) => state === 'unknown'))).toBe(
    unknownOf(uncounted.filter(({ why }) => why.startsWith('unknown'))),
  );
  await keepEarnings(db, { rules: of });
  return [
    ...lines
      .toSorted((one, other) => Number(one.orderId) - Number(other.orderId))
      .map(({ orderId, amount, termsLines }) => `${orderId}: ${Number(amount)} by ${termsLines?.join(', ')}`),
    ...uncounted.map(({ why, orders }) => `${why}: ${orders}`),
  ];
}

const CUSTOMERS = [
  'deal_id,code,rate,flat,currency,customer,first_days,valid_from,valid_to',
  'D1,,10,,,,,,',
  'D1,,20,,,new,,,',
];
const TIERS = 'deal_id,rate,currency,from_orders,from_revenue,tier,cap,min_payout';
const SINCE = { customersSince: { shop: '2025-01-01' } };

describe('a row for new or returning customers', () => {
  it('applies to the first order of a customer, if the exports have every order since a day that somebody stated', async () => {
    const db = await open(
      { at: '2025-01-05', deal: null, customer: 1 },
      { at: '2025-01-06', customer: 1 },
      { at: '2025-01-07', customer: 2 },
      { at: '2025-01-08' },
      { at: null, customer: 3 },
      { at: '2024-12-31', customer: 4 },
      { at: '2025-01-08', customer: 4 },
      { at: '2025-01-08', customer: 5 },
    );
    // Orders 3 and 8 are read under another name, too, the latter with an earlier time.
    await sql`
      insert into intake.orders (order_version_id, source, order_id, source_file_id, is_current, content_hash, group_key, currency,
        placed_at, first_seen_at, line_no, record_no, row_count, customer_key) overriding system value
      select order_version_id + 90, 'former', ' ' || order_id, source_file_id, true, '', '', currency,
        case order_id when '8' then placed_at - interval '1 hour' else placed_at end, first_seen_at, 1, 1, 1, customer_key
      from intake.orders where order_id in ('3', '8')`.execute(db);
    // Of order 7, only the time of payment is known.
    await sql`update intake.orders set paid_at = placed_at, placed_at = null where order_id = '7'`.execute(
      db,
    );
    expect(await earned(db, rules(CUSTOMERS, SINCE))).toEqual([
      '2: 10 by 2',
      '3: 20 by 3',
      '7: 10 by 2',
      // Without a customer, without a time, before the first day, and with an earlier time elsewhere.
      'unknown_customer: 4',
    ]);
    // Nobody says since when all orders are known, so only what was ordered before is.
    expect(await earned(db, rules(CUSTOMERS))).toEqual(['2: 10 by 2', '7: 10 by 2', 'unknown_customer: 5']);
    // Whatever the customer, the row above applies: 10 percent.
    expect(await earned(db, rules(CUSTOMERS.slice(0, 2)))).toHaveLength(7);
  });

  it('is unknown after a month without orders, or in which most orders name no customer', async () => {
    const db = await open(
      { at: '2025-01-05', customer: 1 },
      { at: '2025-02-05', customer: 2 },
      { at: '2025-02-06', customer: 3 },
      { at: '2025-02-07', deal: null },
      { at: '2025-04-05', customer: 4 },
      { at: '2025-04-06', customer: 1 },
    );
    const isKnown = ['1: 20 by 3', '2: 20 by 3', '3: 20 by 3', '6: 10 by 2', 'unknown_customer: 1'];
    expect(await earned(db, rules(CUSTOMERS, SINCE))).toEqual(isKnown);
    // Also if each row has a condition, what is kept follows an order that is read later.
    const conditional = rules([CUSTOMERS[0] ?? '', 'D1,,10,,,returning,,,', 'D1,,20,,,new,,,'], SINCE);
    expect(await earned(db, conditional)).toEqual(isKnown);
    await add(db, [{ at: '2025-03-01', deal: null, customer: 5 }], 7);
    expect((await earned(db, conditional)).at(-2)).toBe('5: 20 by 3');
    expect((await earned(db, rules(CUSTOMERS, SINCE))).at(-2)).toBe('5: 20 by 3');
    await add(db, [{ at: '2025-02-08', deal: null }], 8);
    const isLess = ['1: 20 by 3', '6: 10 by 2', 'unknown_customer: 3'];
    expect(await earned(db, rules(CUSTOMERS, SINCE))).toEqual(isLess);
    // A source that should have every order, and has none, has no month with orders at all.
    const both = { customersSince: { shop: '2025-01-01', web: '2025-01-01' } };
    expect(await earned(db, rules(CUSTOMERS, both))).toEqual(['6: 10 by 2', 'unknown_customer: 4']);
  });
});

it('since when the customers of a source are known is stated, or estimated from its own first known customer', async () => {
  const db = await open(
    { at: '2025-01-01' },
    { at: '2025-02-01', customer: 1 },
    { at: '2025-02-02', customer: 2 },
  );
  await sql`
    insert into intake.source_files (source_file_id, source, uri, version, size_bytes, layout, layout_hash, state, run_id, rows_read, sealed_at)
      overriding system value
    values (2, 'web', '2.csv', '1', 1, 'generic', '', 'sealed', 1, 0, now())`.execute(db);
  await sql`
    insert into intake.orders (order_version_id, source, order_id, source_file_id, is_current, content_hash, group_key, currency, placed_at,
      first_seen_at, line_no, record_no, row_count, customer_key) overriding system value
    values (91, 'web', '1', 2, true, '', '', 'EUR', '2024-01-01', '2025-01-15', 1, 1, 1, '00000000-0000-0000-0000-000000000001')`.execute(
    db,
  );
  const historyOf = async (customersSince: StatementRules['customersSince'], isEstimated: boolean) => {
    const { rows } = await sql<{ said: string }>`
      select concat_ws(' ', source, to_char(since at time zone 'UTC', 'YYYY-MM-DD'), to_char(until at time zone 'UTC', 'YYYY-MM-DD')) as said
      from (${customerHistory({ customersSince, timeZone: 'UTC' }, { isEstimated })}) h order by 1`.execute(
      db,
    );
    return rows.map(({ said }) => said);
  };
  expect(await historyOf({}, false)).toEqual([]);
  expect(await historyOf({}, true)).toEqual(['shop 2025-05-02', 'web 2024-03-31']);
  expect(await historyOf({ shop: '2025-02-01' }, true)).toEqual(['shop 2025-02-01', 'web 2024-03-31']);
  // In January, no order names a customer.
  expect(await historyOf({ shop: '2025-01-01' }, false)).toEqual(['shop 2025-01-01 2025-01-01']);
});

describe('a row for the first days of a deal', () => {
  const terms = rules([
    CUSTOMERS[0] ?? '',
    'D1,,10,,,,,,',
    'D1,,20,,,,30,,',
    'D2,,10,,,,,,',
    'D2,,20,,,,30,,',
  ]);

  it('applies from the day on which this tool created the deal, and is unknown if nobody knows when it began', async () => {
    const db = await open(
      ...['2025-01-01', '2025-01-31', '2025-02-01', '2025-01-30T23:59:59Z'].map((at) => ({ at })),
      ...['2025-02-28', '2025-03-02', '2025-03-01'].map((at) => ({ at, deal: 'D2' })),
      { at: null },
    );
    await sql`
      insert into ledger.entries (entry_id, effect, account_id, key, state, attempt, body, body_hash, job, deal_id, run_id, state_changed_at)
        overriding system value
      values (1000, 'create_deal', 'a', 'd1', 'accepted', 1, '{}', '', 'deals', 'D1', 1, '2025-01-02T10:00:00Z'),
        (999, 'create_deal', 'a', 'waits', 'ready', 1, '{}', '', 'deals', 'D1', 1, '2025-01-01T10:00:00Z')`.execute(
      db,
    );
    // When a doubt about a deal was settled says nothing of when it began.
    await sql`
      insert into ledger.entries (entry_id, effect, account_id, key, state, attempt, doubtful_attempt, body, body_hash, job, deal_id, run_id,
        state_changed_at) overriding system value
      values (998, 'create_deal', 'a', 'doubt', 'accepted', 1, 1, '{}', '', 'deals', 'D2', 1, '2025-02-20')`.execute(
      db,
    );
    await sql`
      insert into mirror.deal_versions (deal_id, raw, row_hash, valid_from, valid_to, is_latest, first_seen_at, run_id)
      values ('D2', '{}', '', '2025-01-30', '2025-02-20', false, '2025-01-30T10:00:00Z', 1),
        ('D2', '{}', '2', '2025-02-20', null, true, '2025-02-20', 1), ('D9', '{}', '', '2024-01-01', null, true, '2024-01-01', 1)`.execute(
      db,
    );
    expect(await earned(db, terms)).toEqual([
      // One day before the deal, its 30th day, and the day after.
      ...['1: 10 by 2', '2: 20 by 3', '3: 10 by 2', '4: 20 by 3'],
      // On 1 March, D2 is at least 30 days old.
      ...['6: 10 by 4', '7: 10 by 4'],
      ...['unknown_start: 1', 'unknown_start: 1'],
    ]);
    // Kept earnings follow when it is known later that this tool created a deal.
    await sql`
      insert into ledger.entries (entry_id, effect, account_id, key, state, attempt, body, body_hash, job, deal_id, run_id, state_changed_at)
        overriding system value
      values (1001, 'create_deal', 'a', 'd2', 'accepted', 1, '{}', '', 'deals', 'D2', 1, '2025-01-15T10:00:00Z')`.execute(
      db,
    );
    expect(await earned(db, terms)).toEqual([
      ...['1: 10 by 2', '2: 20 by 3', '3: 10 by 2', '4: 20 by 3', '5: 10 by 4', '6: 10 by 4', '7: 10 by 4'],
      'unknown_start: 1',
    ]);
  });
});

describe('the rate of the service', () => {
  it('changes when an event says so, and is unknown where the event and the mirror disagree', async () => {
    const db = await open(
      ...['2025-01-06', '2025-01-11', '2025-01-19', '2025-01-21', '2025-01-31'].map((at) => ({ at })),
    );
    await sql`update ledger.entries set collab_id = 'C1'`.execute(db);
    const read = (day: string, percent: number) =>
      sql`
      insert into mirror.collaboration_versions (collab_id, deal_id, commission_perc, raw, row_hash, valid_from, is_latest, first_seen_at, run_id)
      values ('C1', 'D1', ${percent}, '{}', ${day}, ${day}::timestamptz, ${day === '2025-01-20'}, now(), 1)`.execute(
        db,
      );
    const tell = (at: string | null, old: number | null, next: unknown, collab: string | null = 'C1') => {
      const seconds = at === null ? undefined : String(Date.parse(at) / 1000);
      const body = {
        webhook_timestamp: seconds,
        commission_information: { old_commission_perc: old, new_commission_perc: next },
      };
      return sql`
        insert into ops.webhook_events (kind, body, body_sha256, deal_id, collab_id, received_at)
        values ('update_commission', ${JSON.stringify(body)}::jsonb, ${JSON.stringify([at, old, next])}, 'D1', ${collab}, ${at ?? '2025-01-15'}::timestamptz)`.execute(
        db,
      );
    };
    const served = rules([CUSTOMERS[0] ?? '', 'D2,,10,,,,,,']);
    const amounts = async (of = served) =>
      (await earned(db, of)).map((line) => line.replace(' by undefined', ''));
    const readAgain = (at: string) =>
      sql`
      insert into mirror.known_deals (deal_id, first_way, ways, read_at) values ('D1', 'list', '{list}', ${at})
      on conflict (deal_id) do update set read_at = excluded.read_at`.execute(db);
    const told = async (...events: readonly Readonly<Parameters<typeof tell>>[]) => {
      await sql`delete from ops.webhook_events`.execute(db);
      for (const event of events) await tell(...event);
      return amounts();
    };
    await read('2025-01-05', 10);
    await read('2025-01-20', 12);
    // The mirror alone: the rate is in force until another one was read.
    const byMirror = ['1: 10', '2: 10', '3: 10', '4: 12', '5: 12'];
    expect(await amounts()).toEqual(byMirror);
    // The exact time; of a day alone, it is unknown whether the order came before. Several changes, one after the other.
    expect(await told(['2025-01-10T12:00:00Z', 10, 12])).toEqual([
      '1: 10',
      '2: 12',
      '3: 12',
      '4: 12',
      '5: 12',
    ]);
    expect(await told(['2025-01-11T12:00:00Z', 10, 12])).toEqual([
      ...['1: 10', '3: 12', '4: 12', '5: 12', 'unknown_change: 1'],
    ]);
    expect(await told(['2025-01-15T12:00:00Z', 11, 12], ['2025-01-08T12:00:00Z', 10, 11])).toEqual([
      ...['1: 10', '2: 11', '3: 12', '4: 12', '5: 12'],
    ]);
    // What the mirror had just read, what has no time, and what may be about another collaboration changes nothing.
    expect(await told(['2025-01-20T00:10:00Z', 10, 12])).toEqual(byMirror);
    expect(await told([null, 10, 12], ['2025-01-10T12:00:00Z', 10, 12, null])).toEqual(byMirror);
    // An event of another rate before, and of another one after.
    expect(await told(['2025-01-10T12:00:00Z', 11, 12])).toEqual(['4: 12', '5: 12', 'unknown_change: 3']);
    expect(await told(['2025-01-10T12:00:00Z', 10, 14])).toEqual([
      ...['1: 10', '4: 12', '5: 12', 'unknown_change: 2'],
    ]);
    // Until the mirror has read the deal again, the rate after an event of the deal is unknown.
    const late = ['2025-01-30T12:00:00Z', 12, 14, null] as const;
    expect(await told(late)).toEqual(['1: 10', '2: 10', '3: 10', '4: 12', 'unknown_change: 1']);
    await readAgain('2025-02-01');
    expect(await told(late)).toEqual(byMirror);
    expect(await amounts(rules([CUSTOMERS[0] ?? '', 'D1,,20,,,,,,']))).toHaveLength(5);
    // Before the first reading, and without any.
    await sql`delete from mirror.collaboration_versions where valid_from < '2025-01-20'`.execute(db);
    expect(await told(['2025-01-10T12:00:00Z', 10, 12])).toEqual([
      '1: 10',
      '2: 12',
      '3: 12',
      '4: 12',
      '5: 12',
    ]);
    await sql`delete from mirror.collaboration_versions`.execute(db);
    expect(await amounts()).toEqual(['unknown_rate: 5']);
  });
});

/** What the mirror read of a collaboration, and what events say, of January 2025: when, and the rates. */
type Served = {
  readonly what: string;
  readonly read?: readonly (readonly [day: string, rate: number | null])[];
  /** When the mirror has last read the deal. */
  readonly readAt?: string;
  readonly events: readonly {
    readonly at: string | null;
    readonly rates: readonly [unknown, unknown];
    readonly received?: string;
    /** An event may name only the deal, or only the collaboration. */
    readonly isOfDeal?: true;
    readonly isOfCollaboration?: true;
    readonly kind?: string;
  }[];
  /** From when on which rate, the last one of a time: `?` is unsure, `!` is told by an event. */
  readonly since: string;
};
const event = (at: string | null, old: unknown, rate: unknown, more: object = {}) => ({
  at,
  rates: [old, rate] as const,
  ...more,
});
/** What the mirror reads if nothing else is said. */
const TWICE: NonNullable<Served['read']> = [
  ['05', 10],
  ['20', 12],
];
const SERVED: readonly Served[] = [
  { what: 'only the mirror', events: [], since: '- 10, 05 10, 20 12' },
  {
    what: 'the same rate again, and none',
    read: [
      ['05', 10],
      ['08', 10],
      ['09', null],
      ['20', 12],
      ['21', 12],
    ],
    events: [],
    since: '- 10, 05 10, 20 12',
  },
  {
    what: 'a rate that was read again after another one',
    read: [
      ['05', 10],
      ['08', 12],
      ['20', 10],
    ],
    events: [],
    since: '- 10, 05 10, 08 12, 20 10',
  },
  {
    what: 'no percentage',
    read: [
      ['05', 10],
      ['20', 101],
    ],
    events: [],
    since: '- 10, 05 10, 20 none',
  },
  {
    what: 'the limits of a percentage',
    read: [
      ['05', 0],
      ['20', 100],
    ],
    events: [],
    since: '- 0, 05 0, 20 100',
  },
  { what: 'the change', events: [event('10', 10, 12)], since: '- 10, 05 10, 10 12!, 20 12' },
  {
    what: 'two changes, told in the other order',
    events: [event('12', 11, 12), event('10', 10, 11)],
    since: '- 10, 05 10, 10 11!, 12 12!, 20 12',
  },
  {
    what: 'changes that do not follow one another',
    events: [event('10', 10, 11), event('12', 10, 12)],
    since: '- 10, 05 10, 10 ?, 20 12',
  },
  {
    what: 'two at once',
    events: [event('10', 10, 11), event('10', 11, 12)],
    since: '- 10, 05 10, 10 ?, 20 12',
  },
  { what: 'another rate before', events: [event('10', 9, 12)], since: '- 10, 05 10, 05 ?, 20 12' },
  { what: 'another rate after', events: [event('10', 10, 11)], since: '- 10, 05 10, 10 ?, 20 12' },
  { what: 'no rate before', events: [event('10', null, 12)], since: '- 10, 05 10, 05 ?, 20 12' },
  { what: 'a text for a rate', events: [event('10', 10, '12')], since: '- 10, 05 10, 10 ?, 20 12' },
  {
    what: 'no percentage between',
    events: [event('10', 10, 101), event('11', 101, 12)],
    since: '- 10, 05 10, 10 ?, 20 12',
  },
  {
    what: 'a change before the first reading',
    events: [event('02', 8, 10)],
    since: '- 10, - 8, 02 10!, 05 10, 20 12',
  },
  {
    what: 'from the least and to the most',
    events: [event('02', 0, 100), event('03', 100, 10)],
    since: '- 10, - 0, 02 100!, 03 10!, 05 10, 20 12',
  },
  {
    what: 'no percentage before the first reading',
    events: [event('02', 101, 10)],
    since: '- 10, - ?, 05 10, 20 12',
  },
  {
    what: 'another rate than the first reading',
    events: [event('02', 8, 9)],
    since: '- 10, 02 ?, 05 10, 20 12',
  },
  {
    what: 'a change after the last reading',
    events: [event('22', 12, 14)],
    since: '- 10, 05 10, 20 12, 22 ?',
  },
  {
    what: 'the same, which the mirror has not seen',
    readAt: '25',
    events: [event('22', 12, 14)],
    since: '- 10, 05 10, 20 12, 22 ?',
  },
  {
    what: 'a change and back, before the mirror read it',
    readAt: '25',
    events: [event('22', 12, 14), event('23', 14, 12)],
    since: '- 10, 05 10, 20 12, 22 14!, 23 12!',
  },
  {
    what: 'a change and back, after it',
    readAt: '22',
    events: [event('22', 12, 14), event('23', 14, 12)],
    since: '- 10, 05 10, 20 12, 22 ?',
  },
  {
    what: 'a change and back that name only the collaboration, before the mirror read it',
    readAt: '25',
    events: [event('22', 12, 14, { isOfCollaboration: true }), event('23', 14, 12)],
    since: '- 10, 05 10, 20 12, 22 14!, 23 12!',
  },
  {
    what: 'no change at the time at which the mirror reads it',
    readAt: '22',
    events: [event('22', 12, 12)],
    since: '- 10, 05 10, 20 12, 22 ?',
  },
  {
    what: 'no change, in a message that comes after the mirror has read it',
    readAt: '23',
    events: [event('22', 12, 12, { received: '24' })],
    since: '- 10, 05 10, 20 12, 22 12!',
  },
  { what: 'what was read just before', events: [event('20T00:30:00', 10, 12)], since: '- 10, 05 10, 20 12' },
  {
    what: 'what was read an hour before',
    events: [event('20T01:00:00', 10, 12)],
    since: '- 10, 05 10, 20 12',
  },
  {
    what: 'what was read earlier',
    events: [event('20T01:00:01', 10, 12)],
    since: '- 10, 05 10, 20 12, 20 ?',
  },
  {
    what: 'what the first reading shows',
    events: [event('05T00:30:00', 7, 10)],
    since: '- 10, 05 10, 20 12',
  },
  {
    what: 'another change than was read just before',
    events: [event('20T00:30:00', 9, 12)],
    since: '- 10, 05 10, 20 12, 20 ?',
  },
  {
    what: 'what was read just before, and another one',
    readAt: '25',
    events: [event('20T00:30:00', 10, 12), event('20T00:40:00', 12, 12)],
    since: '- 10, 05 10, 20 12, 20T00:40:00 12!',
  },
  {
    what: 'the same change again, right after it was read',
    readAt: '25',
    events: [event('18', 10, 12), event('20T00:05:00', 12, 10), event('20T00:40:00', 10, 12)],
    since: '- 10, 05 10, 18 12!, 20 12, 20T00:05:00 10!, 20T00:40:00 12!',
  },
  {
    what: 'no time, before the last reading',
    events: [event(null, 10, 12, { received: '10' })],
    since: '- 10, 05 10, 20 12',
  },
  {
    what: 'no time, after it',
    events: [event(null, 12, 14, { received: '22' })],
    since: '- 10, 05 10, 20 12, 22 ?',
  },
  {
    what: 'no time, before the mirror read the deal',
    readAt: '25',
    events: [event(null, 12, 14, { received: '22' })],
    since: '- 10, 05 10, 20 12',
  },
  {
    what: 'no collaboration, before the last reading',
    events: [event('10', 10, 12, { isOfDeal: true })],
    since: '- 10, 05 10, 20 12',
  },
  {
    what: 'no collaboration, after it',
    events: [event('22', 12, 14, { isOfDeal: true })],
    since: '- 10, 05 10, 20 12, 22 ?',
  },
  {
    what: 'no collaboration, before the mirror read the deal',
    readAt: '25',
    events: [event('22', 12, 14, { isOfDeal: true })],
    since: '- 10, 05 10, 20 12',
  },
  {
    what: 'a clock that is five minutes ahead',
    events: [event('10T00:05:00', 10, 12, { received: '10' })],
    since: '- 10, 05 10, 10 12!, 20 12',
  },
  {
    what: 'a clock that is further ahead',
    events: [event('10T00:05:01', 10, 12, { received: '10' })],
    since: '- 10, 05 10, 20 12',
  },
  {
    what: 'a late message',
    events: [event('10', 10, 12, { received: '15' })],
    since: '- 10, 05 10, 10 12!, 20 12',
  },
  {
    what: 'an event of another kind',
    events: [event('10', 10, 12, { kind: 'update_deal' })],
    since: '- 10, 05 10, 20 12',
  },
];

it('the rate of the service over time is that of the mirror, and of the events that lead from one reading to the next', async () => {
  const db = await open();
  const at = (text: string) => new Date(`2025-01-${text.includes('T') ? text : `${text}T00:00:00`}Z`);
  for (const [index, { read = TWICE, readAt, events }] of SERVED.entries()) {
    const [collab, deal] = [`C${index}`, `D${index}`];
    for (const [place, [day, rate]] of read.entries())
      await sql`
        insert into mirror.collaboration_versions (collab_id, deal_id, commission_perc, raw, row_hash, valid_from, is_latest, first_seen_at, run_id)
        values (${collab}, ${deal}, ${rate}, '{}', ${day}, ${at(day)}, ${place === read.length - 1}, now(), 1)`.execute(
        db,
      );
    if (readAt !== undefined)
      await sql`insert into mirror.known_deals (deal_id, first_way, ways, read_at) values (${deal}, 'list', '{list}', ${at(readAt)})`.execute(
        db,
      );
    for (const [place, one] of events.entries()) {
      const [old_commission_perc, new_commission_perc] = one.rates;
      const body = {
        ...(one.at === null ? {} : { webhook_timestamp: String(at(one.at).getTime() / 1000) }),
        commission_information: { old_commission_perc, new_commission_perc },
      };
      await sql`
        insert into ops.webhook_events (kind, body, body_sha256, deal_id, collab_id, received_at)
        values (${one.kind ?? 'update_commission'}, ${JSON.stringify(body)}::jsonb, ${`${index} ${place}`}, ${one.isOfCollaboration ? null : deal},
          ${one.isOfDeal ? null : collab}, ${at(one.received ?? one.at ?? '')})`.execute(db);
    }
  }
  const read = async (areAll: boolean, of: readonly number[]) => {
    const { rows } = await sql<{ collab: string; since: string }>`
      with accepted as (select 'C' || n as collab_id, 'D' || n as deal_id from unnest(${[...of]}::integer[]) n),
      ${servedRates({ areAll })}
      select s.collab_id as collab, (
        select string_agg(concat(
          case when p.at = '-infinity' then '-' else regexp_replace(to_char(p.at at time zone 'UTC', 'DD"T"HH24:MI:SS'), 'T00:00:00$', '') end,
          ' ', case when p.unsure then '?' end, coalesce(trim_scale(p.rate)::text, case when not p.unsure then 'none' end), case when p.told then '!' end), ', ' order by p.place)
        from unnest(s.since, s.rates, s.unsure, s.told) with ordinality p(at, rate, unsure, told, place)) as since
      from served s order by substring(s.collab_id from 2)::integer`.execute(db);
    return rows.map(({ collab, since }) => [SERVED[Number(collab.slice(1))]?.what, since]);
  };
  const all = SERVED.map(({ what, since }) => [what, since]);
  const each = [...SERVED.keys()];
  expect(await read(true, each)).toEqual(all);
  expect(await read(false, each)).toEqual(all);
  expect(await read(false, [5, 6])).toEqual(all.slice(5, 7));
});

describe('a rate for products', () => {
  it('is earned by their part of the order, the rest has the rate of the order, and unknown products are unknown', async () => {
    const [gift, other, shirt, unnamed] = [
      ['gift-1', '50'],
      ['gift-2', '25'],
      ['shirt', '50'],
      ['', '50'],
    ] as const;
    const db = await open(
      ...[
        [gift, shirt],
        [['gift-1', '25'] as const, other, shirt],
      ].map((lines) => ({ at: '2025-01-01', lines })),
      { at: '2025-01-01', refunded: 50, lines: [shirt] },
      { at: '2025-01-01' },
      { at: '2025-01-01', lines: [gift, unnamed] },
      { at: '2025-01-01', code: 'MIA', lines: [gift, shirt] },
      { at: '2025-01-01', total: 80, lines: [gift, ['box', '50']] },
      { at: '2025-01-01', total: 10, lines: [['gift-1', '0']] },
      { at: '2025-01-01', code: 'BEN', lines: [gift, shirt] },
      { at: '2025-01-01', lines: [] },
      {
        at: '2025-01-01',
        total: 0.03,
        code: 'ZOE',
        lines: [
          ['box', '1'],
          ['gift-1', '1'],
        ],
      },
    );
    const terms = [
      'deal_id,code,rate,only_skus,excluded_skus',
      'D1,,10,,',
      'D1,,20,GIFT-*;cap,',
      'D1,,30,gift-2,',
    ];
    const all = rules([...terms, ',MIA,5,shirt,', ',BEN,8,,', ',,,,box', ',ZOE,100,,', ',ZOE,0,GIFT-*,']);
    expect(await earned(db, all)).toEqual([
      ...['1: 15 by 2, 3', '2: 17.5 by 2, 3, 4', '3: 5 by 2', '6: 12.5 by 2, 3, 5', '7: 8 by 2, 3'],
      // Nothing but shipping was paid. The rate of a code comes before all rates of its deal.
      // Of the last one, one and a half cents are excluded: rounded to two, they must not leave less than nothing to the rest.
      ...['8: 1 by 2, 3', '9: 8 by 6', 'unknown_lines: 3'],
    ]);
  });
});

it('a rate for products is in force on its days, beside the rate of the service, too, and gives way to a lower row of the order', async () => {
  const lines = [
    ['gift-1', '50'],
    ['shirt', '50'],
  ] as const;
  const days = ['2025-01-31', '2025-02-01', '2025-02-28', '2025-03-01'];
  const db = await open(
    ...days.map((at) => ({ at, deal: 'D2', lines })),
    ...days.map((at) => ({ at, code: 'MIA', lines })),
    // The first and the second order of a customer, by the deal and by the code.
    ...['D3', 'D9'].flatMap((deal, customer) =>
      ['2025-01-05', '2025-01-06'].map((at) => ({
        at,
        deal,
        customer,
        lines,
        ...(deal === 'D9' ? { code: 'BEN' } : {}),
      })),
    ),
    { at: '2025-01-05', deal: 'D4', lines },
  );
  await sql`update ledger.entries set collab_id = 'C4' where deal_id = 'D4'`.execute(db);
  await sql`
    insert into mirror.collaboration_versions (collab_id, deal_id, commission_perc, raw, row_hash, valid_from, is_latest, first_seen_at, run_id)
    values ('C4', 'D4', 10, '{}', '', '2025-01-01', true, now(), 1)`.execute(db);
  const terms = rules(
    [
      'deal_id,code,rate,only_skus,customer,valid_from,valid_to',
      ...['D2,,10,,,,', 'D2,,20,gift-1,,2025-02-01,2025-02-28'],
      ...[',MIA,10,,,,', ',MIA,30,gift-1,,2025-02-01,2025-02-28'],
      ...['D3,,10,,,,', 'D3,,20,gift-1,,,', 'D3,,30,,new,,'],
      ...[',BEN,10,,,,', ',BEN,20,gift-1,,,', ',BEN,30,,new,,', 'D4,,20,gift-1,,,'],
    ],
    SINCE,
  );
  expect(await earned(db, terms)).toEqual([
    ...['1: 10 by 2', '2: 15 by 2, 3', '3: 15 by 2, 3', '4: 10 by 2'],
    ...['5: 10 by 4', '6: 20 by 4, 5', '7: 20 by 4, 5', '8: 10 by 4'],
    ...['9: 30 by 8', '10: 15 by 6, 7', '11: 30 by 11', '12: 15 by 9, 10', '13: 15 by 12'],
  ]);
});

describe('a flat amount', () => {
  it('is earned by each order that is left, in its currency only, and a code comes before its deal', async () => {
    const db = await open(
      { at: '2025-01-01', total: 3 },
      { at: '2025-01-01', refunded: 99 },
      { at: '2025-01-01', refunded: 100 },
      { at: '2025-01-01', currency: 'USD' },
      { at: '2025-01-01', code: 'MIA' },
      { at: '2025-01-01', code: 'BEN' },
    );
    const terms = rules([CUSTOMERS[0] ?? '', 'D1,,,5,EUR,,,,', ',MIA,10,,,,,,', ',BEN,,7.5,EUR,,,,']);
    const all = ['1: 5 by 2', '2: 5 by 2', '5: 10 by 3', '6: 7.5 by 4', 'unknown_currency: 1'];
    expect(await earned(db, terms)).toEqual(all);
    // With the same conditions, the amount in the currency of the order counts, of the code first.
    const both = rules([
      CUSTOMERS[0] ?? '',
      'D1,,,5,EUR,,,,',
      'D1,,,6,USD,,,,',
      ',MIA,,7,USD,,,,',
      ',MIA,,8,EUR,,,,',
    ]);
    expect(await earned(db, both)).toEqual(['1: 5 by 2', '2: 5 by 2', '4: 6 by 3', '5: 8 by 5', '6: 5 by 2']);
    expect(
      await earned(db, rules([CUSTOMERS[0] ?? '', 'D1,,,5,EUR,,,,', 'D1,,,6,USD,,,2025-02-01,'])),
    ).toContain('unknown_currency: 1');
    // The currency of a row that has no amount is no condition.
    expect(await earned(db, rules([TIERS, 'D1,10,,,,,,', 'D1,20,EUR,2,,all,,']))).toEqual([
      ...['1: 0.3 by 2', '2: 0.2 by 3', '4: 20 by 3', '5: 20 by 3', '6: 20 by 3'],
    ]);
    await close(db, '2025-01', terms);
    // A closed line says by which row it was earned, as that row was then.
    const { lines } = await readStatement(db, { month: '2025-01', rules: rulesOf([]) });
    expect(lines.map(({ termsText }) => termsText)).toContain('line 4: code=BEN flat=7.5 currency=EUR');
    expect(await verifyStatements(db)).toEqual({ statements: 1, broken: [] });
  });
});

describe('a row from a number of orders or a revenue on', () => {
  it('applies to the orders after those before in their month or in all, and what changes one changes the others', async () => {
    const instant = '2025-01-03T10:00:00Z';
    const db = await open(
      ...[instant, '2025-01-02', instant, '2025-01-04', '2025-01-05', '2025-02-01'].map((at, index) => ({
        at,
        refunded: index === 3 ? 100 : 0,
      })),
    );
    const monthly = rules([TIERS, 'D1,10,,,,,,', 'D1,20,,3,,month,,']);
    const inAll = rules([TIERS, 'D1,10,,,,,,', 'D1,20,,3,,all,,']);
    // Of two orders at the same time, the one with the lower id is the first. The refunded one does not count.
    const first = ['1: 10 by 2', '2: 10 by 2', '3: 20 by 3', '5: 20 by 3'];
    expect(await earned(db, monthly)).toEqual([...first, '6: 10 by 2']);
    expect(await earned(db, inAll)).toEqual([...first, '6: 20 by 3']);
    await cancel(db, 2);
    expect(await earned(db, inAll)).toEqual(['1: 10 by 2', '3: 10 by 2', '5: 20 by 3', '6: 20 by 3']);
    // Nobody knows whether the new first order counts, so the third may be the second.
    await add(db, [{ at: '2025-01-02', refunded: 200 }], 7);
    const unknown = ['unknown_net: 1', 'unknown_tier: 1'];
    expect(await earned(db, inAll)).toEqual(['1: 10 by 2', '5: 20 by 3', '6: 20 by 3', ...unknown]);
    const seed = (id: number, deal: string) =>
      sql`
        insert into ledger.entries (entry_id, effect, account_id, key, state, attempt, body, body_hash, job, deal_id, run_id) overriding system value
        values (${id}, 'referral', 'a', ${`seed ${id}`}, 'accepted', 0, '{}', '', 'orders', ${deal}, 1)`.execute(
        db,
      );
    // What another tool credited to another deal counts for that one only.
    await seed(999, 'D2');
    expect(await earned(db, inAll)).toEqual(['1: 10 by 2', '5: 20 by 3', '6: 20 by 3', ...unknown]);
    // Another tool credited an order, so even the first may be the second.
    await seed(1000, 'D1');
    expect(await earned(db, rules([TIERS, 'D1,10,,,,,,', 'D1,20,,2,,month,,']))).toEqual([
      ...['3: 20 by 3', '5: 20 by 3', 'unknown_net: 1', 'unknown_tier: 2'],
    ]);
  });

  it('counts revenue before the order and in its currency, so that the order that reaches it is below it', async () => {
    const orders = ['2025-01-01', '2025-01-02', '2025-01-03', '2025-01-04'].map((at) => ({
      at,
      refunded: 10,
    }));
    const db = await open(...orders, { at: '2025-01-05', currency: 'USD' }, { at: null });
    const terms = rules([TIERS, 'D1,10,,,,,,', 'D1,20,EUR,,180,all,,']);
    const known = ['1: 9 by 2', '2: 9 by 2', '3: 18 by 3', '4: 18 by 3'];
    // The order without a time may have come before the first two.
    expect(await earned(db, terms)).toEqual([
      '3: 18 by 3',
      '4: 18 by 3',
      'unknown_tier: 3',
      'unknown_tier: 1',
    ]);
    await cancel(db, 6);
    expect(await earned(db, terms)).toEqual([...known, 'unknown_tier: 1']);
  });

  it('counts what is left of an order and was sent, in the month in which it is due; an order that may come before is none that does', async () => {
    const db = await open(
      // The first of these is one whose time is not known: it was read on 15 January.
      ...[null, '2025-01-20'].map((at) => ({ at, deal: 'D1' })),
      { at: null, deal: 'D2', refunded: 200 },
      { at: '2025-01-20', deal: 'D2' },
      { at: '2025-01-20', deal: 'D3', refunded: 99.5 },
      { at: '2025-01-21', deal: 'D3' },
      ...['2025-01-10', '2025-01-31', '2025-02-10'].map((at) => ({ at, deal: 'D4' })),
      ...['2025-01-20', '2025-01-21'].map((at) => ({ at, deal: 'D5', code: 'MIA' })),
      ...['2025-01-20', '2025-01-21'].map((at) => ({ at, deal: 'D6' })),
    );
    // Neither an order that is not yet sent nor the deal itself is an order that another tool credited.
    await sql`
      insert into ledger.entries (entry_id, effect, account_id, key, state, attempt, body, body_hash, job, deal_id, run_id) overriding system value
      values (900, 'referral', 'a', 'unsent', 'ready', 0, '{}', '', 'orders', 'D3', 1),
        (901, 'create_deal', 'a', 'deal', 'accepted', 0, '{}', '', 'deals', 'D3', 1)`.execute(db);
    const tiers = `${TIERS},code`;
    const from = (deal: string, orders: string, revenue: string, tier: string) => [
      `${deal},10,,,,,,,`,
      `${deal},20,${revenue === '' ? '' : 'EUR'},${orders},${revenue},${tier},,,`,
    ];
    const terms = rules(
      [
        ...[tiers, ...from('D1', '2', '', 'all'), ...from('D2', '3', '', 'all')],
        ...[...from('D3', '2', '', 'all'), ...from('D4', '2', '', 'month')],
        ...[',10,,,,,,,MIA', ',20,,2,,all,,,MIA', ...from('D6', '', '0.01', 'all')],
      ],
      { returnWindowDays: 14 },
    );
    const known = [
      ...['4: 10 by 4', '5: 0.05 by 6', '6: 20 by 7', '7: 10 by 8', '8: 10 by 8', '9: 20 by 9'],
      ...['10: 10 by 10', '11: 20 by 11', '12: 10 by 12', '13: 20 by 13'],
    ];
    const unknown = ['unknown_net: 1', 'unknown_tier: 2'];
    expect(await earned(db, terms)).toEqual([...known, ...unknown]);
    // By revenue, too, what may come before counts neither as before nor as after.
    expect((await earned(db, rules([tiers, ...from('D1', '', '100', 'all')]))).at(-1)).toBe(
      'unknown_tier: 2',
    );
    // Of one order that is asked for, the others of its deal decide, and are not told.
    const { rows: asked } = await sql`
      with ${earnedOrders(terms, { areKept: false, entries: sql`select 11::bigint` })}
      select entry_id, earned_amount::float8 as earned from earned`.execute(db);
    expect(asked).toEqual([{ entry_id: '11', earned: 20 }]);
    // What is kept of a deal whose orders have a code with tiers changes as a whole.
    await cancel(db, 10);
    expect(await earned(db, terms)).toEqual([
      ...[...known.slice(0, 6), '11: 10 by 10', ...known.slice(8), ...unknown],
    ]);
  });
});

describe('a cap', () => {
  it('is the most that a deal earns in a month, and moves with refunds after a month is closed', async () => {
    const db = await open(
      ...['2025-01-01', '2025-01-02', '2025-01-03', '2025-01-04', '2025-02-01'].map((at) => ({ at })),
      { at: '2025-01-05', currency: 'USD' },
      { at: '2025-01-01', deal: 'D2' },
    );
    const terms = rules([TIERS, 'D1,10,,,,,,', 'D1,,EUR,,,,25,', 'D2,30,,,,,,']);
    // Orders of January that are due in February have the cap of February, like all that it counts.
    const changes = [`${TIERS},valid_from,valid_to`, 'D1,10,,,,,,,,', 'D1,,EUR,,,,5,,,2025-01-31'];
    const later = rules([...changes, 'D1,,EUR,,,,25,,2025-02-01,', 'D2,30,,,,,,,,'], {
      returnWindowDays: 30,
    });
    expect(await earned(db, later)).toEqual([
      ...['1: 5 by 2, 3', '2: 10 by 2', '3: 10 by 2', '4: 5 by 2, 4', '5: 10 by 2', '7: 30 by 5'],
      'unknown_currency: 1',
    ]);
    const all = [
      '1: 10 by 2',
      '2: 10 by 2',
      '3: 5 by 2, 3',
      '5: 10 by 2',
      '7: 30 by 4',
      'unknown_currency: 1',
    ];
    expect(await earned(db, terms)).toEqual(all);
    // With a rate of the service, a line names the row of the cap alone.
    await sql`
      insert into mirror.collaboration_versions (collab_id, deal_id, commission_perc, raw, row_hash, valid_from, is_latest, first_seen_at, run_id)
      values ('C1', 'D1', 10, '{}', '', '2025-01-01', true, now(), 1)`.execute(db);
    const collaborate = (collab: string | null) =>
      sql`update ledger.entries set collab_id = ${collab} where deal_id = 'D1'`.execute(db);
    await collaborate('C1');
    expect(await earned(db, rules([TIERS, 'D1,,EUR,,,,25,']))).toEqual([
      ...['1: 10 by undefined', '2: 10 by undefined', '3: 5 by 2', '5: 10 by undefined'],
      ...['unknown_currency: 1', 'unknown_rate: 1'],
    ]);
    await collaborate(null);
    // A row that has the rate, too, is named once. What is nothing is nothing in any currency, and there is no cap before its first month.
    const inOne = rules([
      `${TIERS},valid_from`,
      ...['D1,10,EUR,,,,25,,2025-01-01', 'D2,30,,,,,,,', 'D2,,EUR,,,,5,,2025-02-01'],
    ]);
    expect((await earned(db, inOne)).filter((one) => /^[237]:/.test(one))).toEqual([
      '2: 10 by 2',
      '3: 5 by 2',
      '7: 30 by 3',
    ]);
    await sql`update intake.orders set refunded = total where order_id in ('6')`.execute(db);
    expect(await earned(db, terms)).toEqual(all.slice(0, -1));
    await sql`update intake.orders set refunded = 0 where order_id in ('6')`.execute(db);
    await close(db, '2025-01', terms);
    await cancel(db, 1);
    // In all, 25 for January: 10, 10 and 5 have moved to the next orders.
    expect(await earned(db, terms, '2025-02')).toEqual([
      ...['1: -10 by 2', '3: 5 by 2', '4: 5 by 2, 3', '5: 10 by 2', 'unknown_currency: 1'],
    ]);
  });
});

describe('a minimum payout', () => {
  it('carries what is below it forward to the first statement that reaches it', async () => {
    const db = await open(
      { at: '2025-01-01' },
      { at: '2025-02-01', total: 250 },
      { at: '2025-01-01', deal: 'D2' },
      { at: '2025-01-01', deal: 'D3' },
      { at: '2025-01-01', currency: 'USD' },
    );
    const terms = rules([TIERS, 'D1,10,EUR,,,,,30', 'D2,10,,,,,,', 'D3,10,EUR,,,,,10', ',,EUR,,,,,20']);
    const carried = ['D1', 'D2'].map((dealId) => ({
      dealId,
      influencerHandle: null,
      currency: 'EUR',
      amount: '10.0000',
      minimum: dealId === 'D1' ? '30.0000' : '20.0000',
    }));
    expect(await earned(db, terms, '2025-01')).toEqual(['4: 10 by 4', '5: 10 by 2']);
    const sums = await sumStatement(db, { month: '2025-01', rules: terms, limit: 9 });
    expect(sums.carried).toEqual(carried);
    expect(sums.currencies.map(({ amount }) => amount)).toEqual(['10.0000', '10.0000']);
    await close(db, '2025-01', terms);
    // The terms may change: what was carried forward is stored.
    expect((await readStatement(db, { month: '2025-01', rules: rulesOf([]), dealId: 'D1' })).carried).toEqual(
      carried.slice(0, 1),
    );
    expect(await verifyStatements(db)).toEqual({ statements: 1, broken: [] });
    expect(await earned(db, terms, '2025-02')).toEqual(['1: 10 by 2', '2: 25 by 2']);
    await close(db, '2025-02', terms);
    // What must be taken back does not wait, and is set off at once.
    await cancel(db, 4);
    expect(await earned(db, terms, '2025-03')).toEqual(['4: -10 by 4']);
  });

  it('is of the creator who has the deal: what a former one pays back neither waits nor counts', async () => {
    const db = await open({ at: '2025-01-01' }, { at: '2025-02-01', total: 150 });
    await sql`insert into mirror.known_deals (deal_id, first_way, ways) values ('D1', 'list', '{list}')`.execute(
      db,
    );
    await sql`
      insert into mirror.deal_versions (deal_id, influencer_handle, raw, row_hash, valid_from, is_latest, first_seen_at, run_id)
      values ('D1', 'mia', '{}', '', '2025-01-01', true, '2025-01-01', 1)`.execute(db);
    const terms = (minimum: number) => rules([TIERS, `D1,10,EUR,,,,,${minimum}`]);
    await close(db, '2025-01', terms(10));
    await cancel(db, 1);
    const february = (minimum: number) => earned(db, terms(minimum), '2025-02');
    expect(await february(10)).toEqual([]);
    await sql`update mirror.deal_versions set influencer_handle = 'nova'`.execute(db);
    expect(await february(10)).toEqual(['1: -10 by 2', '2: 15 by 2']);
    expect(await february(20)).toEqual(['1: -10 by 2']);
  });
});

async function cancel(db: Database, entryId: number): Promise<void> {
  await sql`
    insert into ledger.adjustments (entry_id, kind, old_amount, new_amount, currency, old_body_hash, run_id)
    select entry_id, 'cancelled', amount, null, currency, '', 1 from ledger.entries where entry_id = ${entryId}`.execute(
    db,
  );
}

async function close(db: Database, month: string, terms: StatementRules): Promise<void> {
  const closing = await inTransaction(db, (trx) =>
    closeStatement(trx, { month, rules: terms, closedBy: 'test', reason: 'test' }),
  );
  expect(closing.kind).toBe('closed');
}
