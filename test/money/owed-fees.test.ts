import { sql } from 'kysely';
import { expect, it } from 'vitest';
import {
  feesOf,
  isOnlyOwner,
  minimumsOf,
  ownerOfFee,
  readStatement,
} from '../../src/money/read-statement.ts';
import { rulesOf, termsOf } from '../support/terms.ts';
import { open } from './few-orders.ts';

type Owner = readonly [handle: string | null, deal: string | null];
/** Codes with their owners today, the owner of the fee (deal, handle, brand), and who else was ever named. */
const OWNED: readonly {
  readonly code: string;
  readonly of: readonly Owner[];
  readonly owner: string;
  readonly assigned?: Owner;
  readonly credited?: Owner;
  /** Handle of a closed line. */
  readonly closed?: string;
  readonly isOnly?: false;
}[] = [
  { code: 'one', of: [['Mia', 'M1']], owner: 'M1 mia.now B1' },
  {
    code: 'twice',
    of: [
      ['Mia', 'M1'],
      ['@mia', 'M1'],
    ],
    owner: 'M1 mia.now B1',
  },
  {
    code: 'two',
    of: [
      ['mia', 'M1'],
      ['ben', 'M2'],
    ],
    owner: '- - -',
    assigned: ['mia', 'M1'],
    isOnly: false,
  },
  {
    code: 'deals',
    of: [
      ['mia', 'M1'],
      ['mia', 'M2'],
    ],
    owner: '- - -',
  },
  { code: 'bare', of: [[null, 'M3']], owner: 'M3 zoe -' },
  { code: 'only', of: [['Eve', null]], owner: '- Eve -' },
  { code: 'blank', of: [['ida', 'M4']], owner: 'M4 ida -' },
  { code: 'unread', of: [['kim', 'M9']], owner: 'M9 kim -' },
  { code: 'none', of: [], owner: '- - -' },
  {
    code: 'same',
    of: [['mia', 'M1']],
    owner: 'M1 mia.now B1',
    closed: 'mia.now',
    assigned: ['@Mia.Now', null],
    credited: ['MIA.now', 'M7'],
  },
  { code: 'assigned', of: [['mia', 'M1']], owner: 'M1 mia.now B1', assigned: ['ben', 'M1'], isOnly: false },
  { code: 'credited', of: [['mia', 'M1']], owner: 'M1 mia.now B1', credited: ['ben', 'M1'], isOnly: false },
  { code: 'closed', of: [['mia', 'M1']], owner: 'M1 mia.now B1', closed: 'ben', isOnly: false },
  // Who names no creator names the deal.
  {
    code: 'unnamed',
    of: [['mia', 'M1']],
    owner: 'M1 mia.now B1',
    closed: '',
    assigned: [null, 'M1'],
    credited: [null, 'M1'],
  },
  { code: 'moved', of: [['mia', 'M1']], owner: 'M1 mia.now B1', credited: [null, 'M2'], isOnly: false },
  { code: 'lost', of: [['mia', 'M1']], owner: 'M1 mia.now B1', assigned: [null, 'M2'], isOnly: false },
  { code: 'bare-deal', of: [[null, 'M5']], owner: 'M5 - -', credited: ['ben', 'M5'] },
  { code: 'bare-other', of: [[null, 'M5']], owner: 'M5 - -', credited: ['ben', 'M6'], isOnly: false },
];

it('the owner of a code with a fee is the only one of today, and no other one was ever named', async () => {
  const db = await open({ at: '2025-01-01', code: 'Other', deal: 'M8' });
  await sql`
    insert into mirror.known_deals (deal_id, first_way, ways) select 'M' || n, 'list', array['list'] from generate_series(1, 4) n`.execute(
    db,
  );
  await sql`
    insert into mirror.deal_versions (deal_id, influencer_handle, brand_id, raw, row_hash, valid_from, first_seen_at, run_id)
    values ('M1', 'mia.now', 'B1', '{}', '', now(), now(), 1), ('M2', 'ben', 'B2', '{}', '', now(), now(), 1),
      ('M3', 'zoe', '', '{}', '', now(), now(), 1), ('M4', '', null, '{}', '', now(), now(), 1)`.execute(db);
  let line = 100;
  for (const { code, of, assigned, credited, closed } of OWNED) {
    for (const [handle, deal] of of) {
      line += 1;
      await sql`
        insert into intake.codes (job, line_no, code, code_folded, influencer_handle, handle_folded, deal_id, target)
        values ('orders', ${line}, ${code.toUpperCase()}, ${code}, ${handle}, coalesce(ledger.fold_handle(${handle}), ''), ${deal}, '')`.execute(
        db,
      );
    }
    line += 1;
    if (assigned !== undefined)
      await sql`
        insert into intake.code_assignments (job, code, code_folded, influencer_handle, deal_id, assigned_by)
        values ('orders', ${code}, ${code}, ${assigned[0]}, ${assigned[1]}, 'ada')`.execute(db);
    if (closed !== undefined)
      await sql`
        insert into ops.statement_lines (statement_id, line_no, kind, subject, due_on, influencer_handle, currency, earned_amount, closed_before, amount)
        values (1, ${line}, 'fixed_fee', ${`fee:code ${code}:2025-01-01`}, '2025-01-01', ${closed}, 'EUR', 1, 0, 1)`.execute(
        db,
      );
    if (credited === undefined) continue;
    await sql`
      insert into ledger.entries (entry_id, effect, account_id, key, state, attempt, body, body_hash, job, order_id, amount, currency, deal_id, run_id)
        overriding system value
      values (${line}, 'referral', 'a', ${String(line)}, 'accepted', 1, '{}', '', 'orders', ${String(line)}, 1, 'EUR', ${credited[1]}, 1)`.execute(
      db,
    );
    await sql`
      insert into intake.attributions (job, source, order_id, order_version_id, outcome, matched_by, matched_value, target, influencer_handle,
        currency, entry_id, is_pending, rules_hash)
      values ('orders', 'shop', ${String(line)}, 1, 'attributed', 'code', ${`@${code.toUpperCase()}`}, 'x', ${credited[0]}, 'EUR', ${line}, false, '')`.execute(
      db,
    );
  }
  const said = sql`concat_ws(' ', coalesce(o.deal_id, '-'), coalesce(o.handle, '-'), coalesce(o.brand_id, '-'))`;
  const { rows } = await sql<{ code: string; owner: string; isOnly: boolean }>`
    select fee.code, ${said} as owner, ${isOnlyOwner(sql`fee.subject`)} as "isOnly"
    from (select code, place, 'fee:code ' || code || ':2025-01-01' as subject
      from unnest(${OWNED.map(({ code }) => code)}::text[]) with ordinality u(code, place)) fee
    cross join lateral (${ownerOfFee({ subject: sql`fee.subject`, dealId: sql`null::text` })}) o
    order by fee.place`.execute(db);
  expect(rows).toEqual(OWNED.map(({ code, owner, isOnly = true }) => ({ code, owner, isOnly })));
  // Of a fee of a deal, the codes say whose the deal is, if the mirror does not.
  const ofDeal = async (deal: string) => {
    const { rows: found } = await sql<{ owner: string }>`
      select ${said} as owner
      from (${ownerOfFee({ subject: sql`${`fee:deal ${deal}:2025-01-01`}::text`, dealId: sql`${deal}::text` })}) o`.execute(
      db,
    );
    return found[0]?.owner;
  };
  expect(await Promise.all(['M1', 'M2', 'M4', 'M9', 'M10'].map(ofDeal))).toEqual([
    ...['M1 mia.now B1', 'M2 ben B2', 'M4 ida -', 'M9 kim -', 'M10 - -'],
  ]);
});

/** Closed lines of a fee: month, from December on, amount, creator, brand and currency. */
type ClosedFee = readonly [
  month: 0 | 1 | 2 | 3,
  amount: number,
  handle?: string | null,
  brand?: string | null,
  currency?: string,
];
type Fee = {
  readonly what: string;
  /** Deal in capital letters, or code. */
  readonly of: string;
  /** Day and amount of the terms of today. Null: they state none. */
  readonly now: readonly [day: string, amount: number, currency?: string] | null;
  readonly closed?: readonly ClosedFee[];
  /** Lines of February: kind, earned less closed, currency, creator and brand. Or `unknown`, or none. */
  readonly lines: readonly string[];
};
const [FEBRUARY, JANUARY] = ['2025-02-28', '2025-01-01'];
/** Fees by what was closed of them, what the terms state now, and by whom their deal or code is known. */
const FEES: readonly Fee[] = [
  {
    what: 'a deal that the mirror read',
    of: 'M1',
    now: [FEBRUARY, 10],
    lines: ['fixed_fee 10-0 EUR mia.now B1'],
  },
  {
    what: 'a deal that the mirror has read before',
    of: 'M2',
    now: [FEBRUARY, 10],
    lines: ['fixed_fee 10-0 EUR ben -'],
  },
  { what: 'a deal of a list of creators', of: 'L1', now: [FEBRUARY, 10], lines: ['fixed_fee 10-0 EUR - -'] },
  { what: 'a deal of a code', of: 'C1', now: [FEBRUARY, 10], lines: ['fixed_fee 10-0 EUR ida -'] },
  { what: 'a deal that was credited', of: 'E1', now: [FEBRUARY, 10], lines: ['fixed_fee 10-0 EUR - -'] },
  { what: 'a deal that nothing names', of: 'X1', now: [FEBRUARY, 10], lines: ['unknown 10 EUR'] },
  { what: 'a code of a codes.csv', of: 'ida', now: [FEBRUARY, 10], lines: ['fixed_fee 10-0 EUR ida -'] },
  { what: 'a code that was credited', of: 'old', now: [FEBRUARY, 10], lines: ['fixed_fee 10-0 EUR - -'] },
  {
    what: 'a code of an order that is credited to nobody',
    of: 'organic',
    now: [FEBRUARY, 10],
    lines: ['unknown 10 EUR'],
  },
  { what: 'a link that reads like the code', of: 'linked', now: [FEBRUARY, 10], lines: ['unknown 10 EUR'] },
  { what: 'one of the next month', of: 'M1', now: ['2025-03-01', 10], lines: [] },
  {
    what: 'one of a deal that nothing names, of the next month',
    of: 'X2',
    now: ['2025-03-01', 10],
    lines: [],
  },
  {
    what: 'one that is closed',
    of: 'M1',
    now: [JANUARY, 10],
    closed: [[1, 10, 'mia.now', 'B1']],
    lines: ['correction 10-10 EUR mia.now B1'],
  },
  {
    what: 'one that is closed in this month',
    of: 'M3',
    now: [JANUARY, 10],
    closed: [[2, 10, 'zoe']],
    lines: ['fixed_fee 10-0 EUR zoe -'],
  },
  {
    what: 'one that is closed in two parts',
    of: 'M3',
    now: ['2025-01-02', 10],
    closed: [
      [0, 4, 'zoe'],
      [1, 6, 'zoe'],
    ],
    lines: ['correction 10-10 EUR zoe -'],
  },
  {
    what: 'more than was closed',
    of: 'M3',
    now: ['2025-01-03', 10],
    closed: [[1, 7, 'zoe', 'B3']],
    lines: ['correction 10-7 EUR zoe B3'],
  },
  {
    what: 'none any more',
    of: 'M3',
    now: null,
    closed: [[1, 7, 'zoe', 'B3']],
    lines: ['correction 0-7 EUR zoe B3'],
  },
  {
    what: 'another currency than was closed',
    of: 'M3',
    now: ['2025-01-05', 10, 'USD'],
    closed: [[1, 7, 'zoe']],
    lines: ['correction 0-7 EUR zoe -', 'fixed_fee 10-0 USD zoe -'],
  },
  {
    what: 'one that is closed, and whose deal nothing names any more',
    of: 'X3',
    now: [JANUARY, 10],
    closed: [[1, 10, 'eve']],
    lines: ['correction 10-10 EUR eve -'],
  },
  {
    what: 'one that was closed before its day was changed',
    of: 'X4',
    now: ['2025-03-05', 9],
    closed: [[1, 10, 'eve']],
    lines: ['correction 9-10 EUR eve -'],
  },
  {
    what: 'one that was closed to another creator and brand',
    of: 'M1',
    now: ['2025-01-06', 9],
    closed: [[1, 10, 'ben', 'B9']],
    lines: ['correction 9-10 EUR ben B9'],
  },
  {
    what: 'one of a deal that was closed to nobody',
    of: 'M1',
    now: ['2025-01-07', 9],
    closed: [[1, 10, null, 'B1']],
    lines: ['correction 9-10 EUR mia.now B1'],
  },
  {
    what: 'one of a deal that was closed to two, and of two brands',
    of: 'M1',
    now: ['2025-01-08', 9],
    closed: [
      [0, 5, 'ben', 'B1'],
      [1, 5, 'eva', 'B2'],
    ],
    lines: ['correction 9-10 EUR mia.now -'],
  },
  {
    what: 'one of two brands, of which one is not known',
    of: 'M1',
    now: ['2025-01-09', 9],
    closed: [
      [0, 5, 'ben', 'B1'],
      [1, 5, '@Ben', null],
    ],
    lines: [expect.stringMatching(/^correction 9-10 EUR @?ben -$/i)],
  },
  {
    what: 'one of a code that was closed to nobody, and had one owner only',
    of: 'ida',
    now: ['2025-01-01', 9],
    closed: [[1, 10, null]],
    lines: ['correction 9-10 EUR ida -'],
  },
  {
    what: 'one of a code that was closed to two',
    of: 'ida',
    now: ['2025-01-02', 9],
    closed: [
      [0, 5, 'ida'],
      [1, 5, 'ben'],
    ],
    lines: ['correction 9-10 EUR - -'],
  },
];

it('a fee is new, corrected or unknown, by what the terms state now, what was closed, and who is known', async () => {
  const db = await open(
    { at: '2025-01-01', deal: 'E1', code: 'Old' },
    { at: '2025-01-02', deal: 'E2', code: 'organic' },
    { at: '2025-01-03', deal: 'E3' },
  );
  await sql`update intake.attributions set entry_id = null where order_id = '2'`.execute(db);
  await sql`update intake.attributions set matched_value = 'linked' where order_id = '3'`.execute(db);
  await sql`
    insert into mirror.known_deals (deal_id, first_way, ways) select 'M' || n, 'list', array['list'] from generate_series(1, 3) n`.execute(
    db,
  );
  await sql`
    insert into mirror.deal_versions (deal_id, influencer_handle, brand_id, raw, row_hash, valid_from, valid_to, first_seen_at, run_id)
    values ('M1', 'mia.now', 'B1', '{}', '', '2025-01-01', null, now(), 1), ('M2', 'ben', '', '{}', '', '2025-01-01', '2025-01-02', now(), 1),
      ('M3', 'zoe', null, '{}', '', '2025-01-01', null, now(), 1)`.execute(db);
  await sql`
    insert into intake.creators (source, handle_folded, platform, brand_id, dealflow_id, influencer_handle, source_file_id, line_no, outcome, deal_id)
    values ('list', 'eva', 'tiktok', '1', 'D', 'eva', 1, 2, 'known', 'L1')`.execute(db);
  await sql`
    insert into intake.codes (job, line_no, code, code_folded, influencer_handle, handle_folded, deal_id, target)
    values ('orders', 1, 'IDA', 'ida', 'ida', 'ida', 'C1', '')`.execute(db);
  for (const month of [0, 1, 2, 3])
    await sql`
      insert into ops.statements (statement_id, month, time_zone, return_window_days, lines, closed_by, reason, previous_hash, hash)
        overriding system value
      values (${month}, ('2024-12-01'::date + ${month} * interval '1 month')::date, 'UTC', 0, 0, 'jane', 'x', '', ${String(month)})`.execute(
      db,
    );
  const isDeal = (of: string) => /^[A-Z]/.test(of);
  const subjectOf = ({ of, now }: Fee, at: number) =>
    `fee:${isDeal(of) ? 'deal' : 'code'} ${of}:${now?.[0] ?? `2024-01-${at}`}`;
  let line = 0;
  for (const [at, fee] of FEES.entries())
    for (const [month, amount, handle = null, brand = null, currency = 'EUR'] of fee.closed ?? []) {
      line += 1;
      await sql`
        insert into ops.statement_lines (statement_id, line_no, kind, subject, due_on, deal_id, brand_id, influencer_handle, currency,
          earned_amount, closed_before, amount)
        values (${month}, ${line}, 'fixed_fee', ${subjectOf(fee, at)}, '2025-01-01', ${isDeal(fee.of) ? fee.of : null}, ${brand}, ${handle},
          ${currency}, ${amount}, 0, ${amount})`.execute(db);
    }
  // What was closed of an order is no fee.
  await sql`
    insert into ops.statement_lines (statement_id, line_no, kind, subject, entry_id, due_on, currency, earned_amount, closed_before, amount)
    values (1, 99, 'order', 'order:1', 1, '2025-01-01', 'EUR', 1, 0, 1)`.execute(db);
  const terms = FEES.flatMap(({ of, now }, at) =>
    now === null
      ? []
      : termsOf({
          line: at + 2,
          dealId: isDeal(of) ? of : null,
          codeFolded: isDeal(of) ? null : of,
          fixedFee: String(now[1]),
          currency: now[2] ?? 'EUR',
          validFrom: now[0],
        }),
  );
  const lines = async (dealId: string | null) => {
    const { rows } = await sql<{ subject: string; line: string }>`
      with ${feesOf(rulesOf(terms), { month: '2025-02', dealId })}
      select subject, concat_ws(' ', kind, trim_scale(earned_amount) || '-' || trim_scale(closed_before), currency,
        coalesce(influencer_handle, '-'), coalesce(brand_id, '-')) as line
      from fee_lines
      union all
      select concat('fee:', coalesce('deal ' || deal_id, 'code ' || code), ':', due_on), concat_ws(' ', 'unknown', trim_scale(earned_amount), currency)
      from unknown_fees order by 2`.execute(db);
    return rows;
  };
  const all = await lines(null);
  const found = FEES.map((fee, at) => [
    fee.what,
    all.filter(({ subject }) => subject === subjectOf(fee, at)).map((one) => one.line),
  ]);
  expect(found).toEqual(FEES.map((fee) => [fee.what, fee.lines]));
  expect(all).toHaveLength(FEES.flatMap((fee) => fee.lines).length);
  expect(await lines('M3')).toEqual(all.filter(({ subject }) => subject.startsWith('fee:deal M3:')));
  // A minimum for everybody is one of each deal: a fee of a code is paid however small it is, and what is settled is not carried.
  const fee = (of: string, amount: number, validFrom = '2025-04-01') =>
    termsOf({
      dealId: isDeal(of) ? of : null,
      codeFolded: isDeal(of) ? null : of,
      fixedFee: String(amount),
      currency: 'USD',
      validFrom,
    });
  for (const [at, of] of ['L1', 'E1'].entries())
    await sql`
      insert into ops.statement_lines (statement_id, line_no, kind, subject, due_on, deal_id, currency, earned_amount, closed_before, amount)
      values (3, ${100 + at}, 'fixed_fee', ${`fee:deal ${of}:2025-03-01`}, '2025-03-01', ${of}, 'USD', 5, 0, 5)`.execute(
      db,
    );
  const small = rulesOf(
    [
      termsOf({ dealId: null, minPayout: '8.01', currency: 'USD' }),
      ...[
        fee('ida', 7),
        fee('C1', 8),
        fee('M1', 8.01),
        fee('M2', 0.01),
        fee('L1', 5, '2025-03-01'),
        fee('E1', 5),
      ],
    ].map((row, at) => ({ ...row, line: at + 2 })),
  );
  const { lines: paid, carried } = await readStatement(db, { month: '2025-04', rules: small });
  expect(paid.flatMap(({ currency, subject }) => (currency === 'USD' ? subject : []))).toEqual([
    'fee:deal M1:2025-04-01',
    'fee:code ida:2025-04-01',
  ]);
  // Of E1, a fee was closed that the terms state no more, so both come to nothing.
  expect(
    carried.map(({ dealId, currency, amount, minimum }) => `${dealId} ${amount} ${currency} of ${minimum}`),
  ).toEqual(['C1 8.0000', 'E1 0.0000', 'M2 0.0100'].map((one) => `${one} USD of 8.0100`));
});

it.each([
  ['always', null, null, ['2025-01', '2025-02', '2025-03']],
  ['from the first day of a month', '2025-02-01', null, ['2025-02', '2025-03']],
  ['from a day of a month', '2025-02-28', null, ['2025-02', '2025-03']],
  ['until the last day of a month', null, '2025-02-28', ['2025-01', '2025-02']],
  ['until the day before', null, '2025-02-27', ['2025-01']],
  ['in one month', '2025-02-01', '2025-02-28', ['2025-02']],
] as const)(
  'a minimum payout that is valid %s is one of the months on whose last day it is',
  (_, validFrom, validTo, wanted) => {
    const rules = rulesOf([
      termsOf({ minPayout: '20', currency: 'EUR', validFrom, validTo }),
      termsOf({ line: 3, ratePercent: '10' }),
    ]);
    const minimum = { deal_id: 'D1', currency: 'EUR', minimum: '20' };
    expect(['2025-01', '2025-02', '2025-03'].filter((month) => minimumsOf(rules, month).length > 0)).toEqual(
      wanted,
    );
    expect(minimumsOf(rules, '2025-02')).toEqual(
      wanted.some((month) => month === '2025-02') ? [minimum] : [],
    );
  },
);
