import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { dayIn } from '../../../src/core/time/day.ts';
import { inTransaction } from '../../../src/db/in-transaction.ts';
import {
  type ClaimFilter,
  insertClaims,
  keepAnswers,
  listClaims,
  lockClaim,
  setClaimState,
} from '../../../src/money/claims/keep-claims.ts';
import { type ClaimLine, parseClaims } from '../../../src/money/claims/parse-claims.ts';
import { isOverdue } from '../../../src/reports/claims/claims.ts';
import { setup } from '../../support/setup.ts';

it.each([
  ['Europe/Amsterdam', true],
  ['UTC', false],
  ['America/New_York', false],
])(
  'a claim is overdue once the day of its deadline is over in the zone of the statements: %s',
  (zone, expected) => {
    const today = dayIn(new Date('2026-04-30T22:30:00Z'), zone);
    const claim = { state: 'open', deadline: '2026-04-30' } as const;
    expect([isOverdue(claim, today), isOverdue({ ...claim, deadline: null }, today)]).toEqual([
      expected,
      false,
    ]);
  },
);

describe('a line of a list of claims', () => {
  const line = (given: object) => ({
    line: 2,
    creator: 'mia',
    orderId: null,
    amount: null,
    currency: null,
    day: null,
    code: null,
    deadline: null,
    ...given,
  });
  const id = 'a'.repeat(200);
  it.each([
    ['mia,5001,,,,,', line({ orderId: '5001', key: '["mia","5001"]' })],
    [
      '@Mia,"=""5001""",,,,,2026-05-01',
      line({ creator: '@Mia', orderId: '5001', deadline: '2026-05-01', key: '["mia","5001"]' }),
    ],
    [
      'mia,,45.50,eur,2026-04-10,Mia 10,',
      line({
        amount: '45.50',
        currency: 'EUR',
        day: '2026-04-10',
        code: 'Mia 10',
        key: '["mia","45.5000","EUR","2026-04-10","mia10"]',
      }),
    ],
    [
      'mia,,45.5,EUR,2026-04-10,,',
      line({
        amount: '45.50',
        currency: 'EUR',
        day: '2026-04-10',
        key: '["mia","45.5000","EUR","2026-04-10",""]',
      }),
    ],
    [`mia,5001,,,,${id},`, line({ orderId: '5001', code: id, key: '["mia","5001"]' })],
    [`mia,5001,,,,${id}a,`, ['code', 'This is longer than 200 characters.']],
    ['mia,5001,,,,N/A,', ['code', 'Programs write this where there is no value.']],
    ['-,5001,,,,,', ['creator', 'Programs write this where there is no value.']],
    [',5001,,,,,', ['creator', 'The line names no creator.']],
    ['mia,,,,2026-04-10,,', ['order_id', 'The line names no order.']],
    ['mia,,45.50,EUR,,,', ['order_id', 'The line names no order.']],
    ['mia,,45.50,EUR,2026-04-31,,', ['day', 'This is not a day.']],
    ['mia,5001,,,,,soon', ['deadline', 'This is not a day.']],
    ['mia,5001,45.50,,,,', ['currency', expect.any(String)]],
    ['mia,5001,45.50,Taler,,,', ['currency', expect.any(String)]],
    ['mia,5001,"45,50",EUR,,,', ['amount', expect.any(String)]],
    ['mia,6.101E12,,,,,', ['order_id', expect.any(String)]],
  ] as const)('%s', (written, wanted) => {
    const { rows, problems } = parseClaims(
      `creator,order_id,amount,currency,day,code,deadline\n${written}\n`,
    );
    const isRow = !Array.isArray(wanted);
    expect([rows, problems.map(({ line: of, column, reason }) => [of, column, reason])]).toEqual(
      isRow ? [[wanted], []] : [[], [[2, ...wanted]]],
    );
  });
});

describe('a list of claims', () => {
  it('may have the names of columns, separators and marks that others write', () => {
    const { rows, problems } = parseClaims(
      '\ufeffPublisher;Transaction ID;Voucher Code;Remark\r\nmia.test;"=""5001""";MIA10;please\r\n',
    );
    expect(problems).toEqual([]);
    expect(rows).toMatchObject([{ creator: 'mia.test', orderId: '5001', code: 'MIA10', amount: null }]);
    const names = [
      ...[
        'Creator',
        'influencer',
        'influencer_handle',
        'handle',
        'affiliate',
        'publisher',
        'partner',
        'deal',
      ],
      'deal_id',
    ];
    for (const name of names) expect(parseClaims(`${name},order\nmia,1\n`).rows, name).toHaveLength(1);
    const written = (header: string) =>
      parseClaims(`creator,${header}\nmia,12.50,EUR,2026-04-10,MIA10,2026-05-01,7\n`);
    for (const header of [
      'amount,currency,day,code,deadline,order_id',
      'order amount,order currency,date,discount code,answer by,order',
      'order_amount,order_currency,order date,discount_code,due,order id',
      'order value,Currency,order_date,coupon,due date,order number',
      'sale amount,currency,ordered_on,coupon code,due_on,order_number',
      'total,currency,sale date,coupon_code,due,order no',
      'revenue,currency,transaction date,voucher,due,transaction id',
      'Revenue,Currency,Date,voucher code,Due,transaction_id',
    ])
      expect(written(header), header).toMatchObject({
        problems: [],
        missingColumns: [],
        rows: [
          {
            orderId: '7',
            amount: '12.50',
            currency: 'EUR',
            day: '2026-04-10',
            code: 'MIA10',
            deadline: '2026-05-01',
          },
        ],
      });
    expect(parseClaims('creator,note\nmia,x\n').missingColumns).toEqual(['order_id or amount']);
    // 12,5 before a blank cell looks like two.
    expect(parseClaims('creator,order_id,amount\nmia,1,12,\n')).toMatchObject({
      rows: [],
      problems: [{ line: 2 }],
    });
    // A header that is a word of JavaScript is no column.
    expect(parseClaims('creator,order_id,constructor\nmia,1,x\n').rows).toHaveLength(1);
  });
});

it('a claim is kept as its lines state it, completed only while it is open, and answered, closed and opened again as a whole', async () => {
  const { db } = await setup();
  const line = (given: Partial<ClaimLine>): ClaimLine => ({
    line: 2,
    creator: '@Mia',
    orderId: '1',
    amount: null,
    currency: null,
    day: null,
    code: null,
    deadline: null,
    key: 'a',
    ...given,
  });
  const insert = (
    lines: readonly ClaimLine[],
    given: { readonly file?: string; readonly deadline?: string } = {},
  ) =>
    inTransaction(db, (trx) =>
      insertClaims(trx, { lines, file: null, deadline: null, addedBy: 'jane@shop.example', ...given }),
    );
  const ids = async (filter: ClaimFilter) => (await listClaims(db, filter)).map(({ claimId }) => claimId);

  // The first line of the file is the first claim. A line without a deadline has that of the list.
  const [ofMia, ofBen] = [
    line({ line: 2, orderId: '1', deadline: '2026-04-30' }),
    line({ line: 3, key: 'b', creator: 'Ben', orderId: '2', amount: '10.00', currency: 'EUR' }),
  ];
  expect(await insert([ofBen, ofMia], { file: 'of x@shop.example.csv', deadline: '2026-05-01' })).toEqual({
    added: ['1', '2'],
    completed: [],
    contradictions: [],
  });
  const open = {
    amount: null,
    currency: null,
    day: null,
    code: null,
    deadline: null,
    state: 'open',
    file: null,
    line: null,
    addedAt: expect.any(Date),
    addedBy: 'j***@***',
    given: null,
    answeredAt: null,
    answeredBy: null,
    closedBy: null,
    closeReason: null,
  };
  const file = 'of x***@***';
  const mia = { ...open, claimId: '1', creator: '@Mia', orderId: '1', deadline: '2026-04-30', file, line: 2 };
  const ben = { ...open, claimId: '2', creator: 'Ben', orderId: '2', amount: '10.0000', currency: 'EUR' };
  const benOfFile = { ...ben, deadline: '2026-05-01', file, line: 3 };
  expect(await listClaims(db, {})).toEqual([benOfFile, mia]);

  // Of several lines, the first that states something completes the claim, and the others that differ contradict it.
  const more = [
    line({ line: 9, code: 'BEN15' }),
    line({ line: 4 }),
    line({ line: 5, amount: '7.00', currency: 'USD', code: 'MIA 10' }),
    line({
      line: 6,
      day: '2026-04-10',
      deadline: '2026-06-01',
      code: 'mia10',
      amount: '7.0',
      currency: 'USD',
    }),
    line({ line: 7, amount: '7.00', currency: 'EUR', day: '2026-04-11' }),
    line({ line: 8, amount: '7.01', currency: 'USD', day: '2026-04-10' }),
    line({ line: 10, key: 'b', amount: '10', currency: 'EUR' }),
    line({ line: 11, key: 'c', creator: 'Zoe', orderId: '3', code: 'ZOE' }),
  ];
  const contradicted = (at: number, column: string, value: string) => ({
    line: at,
    column,
    value,
    reason: 'Claim 1 of this order states another one, and keeps it.',
    help: 'Ask the creator which one is right. If it is this one, answer by what the order itself says.',
  });
  const second = await insert(more, { deadline: '2026-07-01' });
  expect(second).toEqual({
    added: [expect.any(String)],
    completed: ['1'],
    contradictions: [
      ...[contradicted(7, 'day', '2026-04-11'), contradicted(7, 'amount', '7.00 EUR')],
      ...[contradicted(8, 'amount', '7.01 USD'), contradicted(9, 'code', 'BEN15')],
    ],
  });
  const completed = { ...mia, amount: '7.0000', currency: 'USD', day: '2026-04-10', code: 'MIA 10' };
  const [zoe = ''] = second.added;
  const ofZoe = { ...open, claimId: zoe, creator: 'Zoe', orderId: '3', code: 'ZOE', deadline: '2026-07-01' };
  expect(await listClaims(db, {})).toEqual([ofZoe, benOfFile, completed]);
  // Each of what a claim may lack completes it alone.
  for (const [key, given] of Object.entries({
    d: { day: '2026-04-10' },
    e: { code: 'X' },
    f: { amount: '1.00', currency: 'EUR' },
    g: { deadline: '2026-04-10' },
  })) {
    const [id] = (await insert([line({ key, creator: 'Eve', orderId: key })])).added;
    const again = await insert([line({ key, ...given })]);
    expect(again, key).toEqual({ added: [], completed: [id], contradictions: [] });
    expect((await insert([line({ key, ...given })])).completed, key).toEqual([]);
  }

  // An answer is kept as it is given, once, of the claims that are answered.
  const answer = {
    claimId: '1',
    kind: 'credited',
    text: 'to b@shop.example',
    reply: 'to you',
    statementMonth: '2026-04',
    order: { source: 'shop', orderId: '1' },
    credited: { amount: '9.5000', currency: 'GBP' },
  };
  const held = {
    ...answer,
    claimId: '2',
    kind: 'held',
    credited: null,
    statementMonth: null,
    order: { source: null, orderId: '2' },
  };
  const keep = (...answers: readonly (typeof answer | typeof held)[]) =>
    inTransaction(db, (trx) => keepAnswers(trx, answers, 'ann@shop.example'));
  await keep(answer, held);
  await keep({ ...answer, kind: 'excluded' });
  const given = ({ claimId: _, ...of }: typeof answer | typeof held) => ({
    state: 'answered',
    given: of,
    answeredAt: expect.any(Date),
    answeredBy: 'a***@***',
  });
  const answered = { ...completed, ...given(answer) };
  expect(await listClaims(db, { state: 'answered' })).toEqual([{ ...benOfFile, ...given(held) }, answered]);
  expect(await insert([line({ line: 4, code: 'OTHER' })])).toEqual({
    added: [],
    completed: [],
    contradictions: [],
  });
  expect(await ids({ state: 'open', limit: 2 })).toHaveLength(2);
  expect(await ids({ creator: '@ben' })).toEqual(['2']);
  expect(await ids({ creator: 'MIA', state: 'open' })).toEqual([]);
  expect(await ids({ after: zoe })).toEqual(['2', '1']);
  expect(await ids({ after: '2' })).toEqual(['1']);

  // A person closes it, or asks again.
  const set = (state: 'open' | 'upheld', claimId = '1') =>
    inTransaction(db, (trx) =>
      setClaimState(trx, { claimId, state, by: 'ann@shop.example', reason: 'told x@shop.example' }),
    );
  const lock = (claimId: string) => inTransaction(db, (trx) => lockClaim(trx, claimId));
  // Another transaction that would change it waits.
  await inTransaction(db, async (trx) => {
    await lockClaim(trx, '1');
    const { rows } = await sql<{ id: string }>`
      select claim_id as id from ops.credit_claims where claim_id < 3 for update skip locked`.execute(db);
    expect(rows.map(({ id }) => id)).toEqual(['2']);
  });
  await set('upheld');
  const closed = { closedBy: 'a***@***', closeReason: 'told x***@***' };
  expect(await lock('1')).toEqual({ ...answered, state: 'upheld', ...closed });
  await set('open');
  expect(await lock('1')).toEqual(completed);
  expect((await lock('2'))?.state, 'another one').toBe('answered');
  await sql`delete from ops.credit_claims where claim_id = 2`.execute(db);
  expect(await lock('2')).toBeNull();
});
