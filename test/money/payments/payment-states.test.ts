import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { KnownError } from '../../../src/core/known-error.ts';
import { accountMark } from '../../../src/core/money/iban.ts';
import type { Database } from '../../../src/db/connect.ts';
import { type DatabaseTransaction, inTransaction, unlessDryRun } from '../../../src/db/in-transaction.ts';
import { closeStatement } from '../../../src/money/close-statement.ts';
import {
  digestOf,
  findUnpaid,
  requireProposable,
  type Unpaid,
} from '../../../src/money/payments/find-unpaid.ts';
import {
  insertProposal,
  listPayments,
  lockProposals,
  markCancelled,
  markExported,
  markRestPaid,
} from '../../../src/money/payments/keep-payments.ts';
import { decideBooking, listBankEntries, matchBookings } from '../../../src/money/payments/match-bookings.ts';
import { type Booking, parseBankFile } from '../../../src/money/payments/parse-bank-file.ts';
import { setup } from '../../support/setup.ts';
import { rulesOf, termsOf } from '../../support/terms.ts';
import { open } from '../few-orders.ts';
import { IBANS } from './payment-shop.ts';

const RULES = rulesOf(
  [termsOf({ ratePercent: '10' }), termsOf({ line: 3, dealId: 'D2', ratePercent: '10' })],
  { returnWindowDays: 0 },
);
const payee = (creator: string, iban: string, currency = 'EUR') => ({
  creator,
  name: creator,
  iban,
  bic: null,
  country: null,
  currency,
});
const PAYEES = [payee('d1', IBANS.mia), payee('ben', IBANS.ben)];
const FIND = { month: '2025-02', from: '2025-01', minimum: { EUR: '4' }, payees: PAYEES };

/** A shop whose January and February are closed: D1 of mia has 10 and 5 EUR and 2 USD, D2 of ben 3 EUR. */
async function openClosed(): Promise<Database> {
  const db = await open(
    { at: '2025-01-02' },
    { at: '2025-02-02', total: 50 },
    { at: '2025-02-03', total: 20, currency: 'USD' },
    { at: '2025-02-04', total: 30, deal: 'D2' },
  );
  await sql`
    insert into mirror.deal_versions (deal_id, influencer_handle, raw, row_hash, valid_from, is_latest, first_seen_at, run_id)
    values ('D1', 'mia', '{}', '1', '2025-01-01', true, '2025-01-01', 1), ('D2', '@Ben', '{}', '2', '2025-01-01', true, '2025-01-01', 1)`.execute(
    db,
  );
  await sql`
    insert into mirror.known_deals (deal_id, first_way, ways, read_at) select deal_id, 'list', '{list}', now() from mirror.deal_versions`.execute(
    db,
  );
  for (const month of ['2025-01', '2025-02'])
    await inTransaction(db, (trx) =>
      closeStatement(trx, { month, rules: RULES, closedBy: 'jane', reason: 'x' }),
    );
  return db;
}
const said = ({ creator, currency, amount, becomes, accountMark, items }: Unpaid) =>
  `${creator} ${amount} ${currency} ${becomes} ${accountMark === null ? '-' : accountMark.slice(-4)}: ${items.map((one) => `${one.month} ${one.subject} ${one.amount}`).join(', ')}`;

it('what is unpaid is paid by creator and currency, carried forward below a minimum, and claimed once', async () => {
  const db = await openClosed();
  const find = async (given: object = {}) => (await findUnpaid(db, { ...FIND, ...given })).map(said);
  const [mia, usd, ben] = [
    'd1 15.0000 EUR pay 3000: 2025-01 deal:D1 10.0000, 2025-02 deal:D1 5.0000',
    'mia 2.0000 USD no_bank_data -: 2025-02 deal:D1 2.0000',
    'ben 3.0000 EUR below_minimum 4300: 2025-02 deal:D2 3.0000',
  ];
  expect(await find()).toEqual([ben, mia, usd]);
  expect(await find({ minimum: { EUR: '3', USD: '1' } })).toEqual([
    ben.replace('below_minimum', 'pay'),
    mia,
    usd,
  ]);
  expect(await find({ minimum: { EUR: '3.0001' } })).toEqual([ben, mia, usd]);
  expect(await find({ from: '2025-02' })).toEqual([
    ben,
    'd1 5.0000 EUR pay 3000: 2025-02 deal:D1 5.0000',
    usd,
  ]);
  expect(await find({ month: '2025-01' })).toEqual(['d1 10.0000 EUR pay 3000: 2025-01 deal:D1 10.0000']);
  expect(await find({ payees: [...PAYEES, payee('mia', IBANS.zoe, 'USD')] })).toEqual([
    ...[ben, mia, 'mia 2.0000 USD pay 2606: 2025-02 deal:D1 2.0000'],
  ]);
  // A proposal is of the last closed month, from the first one that is paid here.
  const refusal = async (month: string, from: string | null) => {
    const error: unknown = await requireProposable(db, { month, from }).catch((thrown: unknown) => thrown);
    return error instanceof KnownError ? [error.message, error.details] : error;
  };
  const details = (month: string, help: string) =>
    expect.objectContaining({
      code: 'payments_not_proposed',
      exitCode: 2,
      where: month,
      safe: 'Nothing was changed.',
      help: expect.stringContaining(help),
    });
  expect(await refusal('2025-02', null)).toEqual([
    'It is not known which statements were paid before this tool paid any.',
    details('2025-02', 'payments: {from: 2025-02}'),
  ]);
  expect(await refusal('2025-01', '2025-02')).toEqual([
    'Statements before 2025-02 were paid elsewhere, according to statements.payments.from.',
    details('2025-01', 'Propose a later month.'),
  ]);
  expect(await refusal('2025-03', '2025-01')).toEqual([
    'The statement of 2025-03 is not closed.',
    details('2025-03', 'statement close --month 2025-03'),
  ]);
  expect(await refusal('2025-01', '2025-01')).toEqual([
    'The statement of 2025-02 is closed, too. It may take back what 2025-01 owes.',
    details('2025-01', 'Propose 2025-02: that includes what is unpaid of earlier months.'),
  ]);
  expect([await refusal('2025-02', '2025-02'), await refusal('2025-02', '2025-01')]).toEqual([
    '2025-02',
    '2025-01',
  ]);
  // A preview of another amount, account or outcome has another digest; of the same, the same.
  const unpaid = await findUnpaid(db, FIND);
  expect(digestOf(unpaid)).toBe(digestOf(await findUnpaid(db, FIND)));
  expect(digestOf(unpaid)).toMatch(/^[0-9a-f]{16}$/);
  expect(digestOf(unpaid)).not.toBe(digestOf(await findUnpaid(db, { ...FIND, minimum: {} })));
  await propose(db);
  expect(await find()).toEqual([ben, usd]);
  // A payment that is cancelled frees its amounts, and the next one has another reference.
  const [first] = await listPayments(db, {});
  await inTransaction(db, (trx) =>
    markCancelled(trx, { paymentId: first?.paymentId ?? '', by: 'x@shop.example', reason: 'why' }),
  );
  expect(await find()).toEqual([ben, mia, usd]);
  await propose(db);
  const [second, cancelled] = await listPayments(db, {});
  expect(second).toEqual({
    paymentId: '2',
    proposalId: '2',
    month: '2025-02',
    creator: 'd1',
    currency: 'EUR',
    amount: '15.0000',
    state: 'proposed',
    exportedAs: null,
    exportedAt: null,
    paidAmount: '0.0000',
    overpaidAmount: '0.0000',
    paidOn: null,
    elsewhereAmount: '0.0000',
    elsewhere: [],
    cameBack: [],
    settledBy: null,
    settleReason: null,
    accountMark: expect.stringMatching(/3000$/),
    proposedAt: expect.any(Date),
    reference: expect.stringMatching(/^IS-[0-9A-F]{26}$/),
    messageId: expect.stringMatching(/^IS-[0-9A-F]{26}$/),
  });
  expect(second?.reference).not.toBe(cancelled?.reference);
  expect(cancelled).toMatchObject({
    paymentId: '1',
    state: 'cancelled',
    settledBy: 'x***@***',
    settleReason: 'why',
  });
  const ids = async (filter: object) => (await listPayments(db, filter)).map(({ paymentId }) => paymentId);
  expect(await ids({ state: 'cancelled' })).toEqual(['1']);
  expect(await ids({ proposalId: '2' })).toEqual(['2']);
  expect(await ids({ creator: 'ben' })).toEqual([]);
  expect(await ids({ limit: 1 })).toEqual(['2']);
  expect(await ids({ after: '2' })).toEqual(['1']);
  expect(await ids({ paymentIds: ['1', '7'] })).toEqual(['1']);
  expect(await ids({ of: { statementId: '1', dealId: 'D1' } })).toEqual(['2', '1']);
  expect(await ids({ of: { statementId: '1', dealId: 'D2' } })).toEqual([]);
  expect(await ids({ of: { statementId: '3', dealId: null } })).toEqual([]);
  // What is proposed again, after a database was restored, is the same to the bank.
  const references = () =>
    unlessDryRun(db, true, async (trx) => {
      await markCancelled(trx, { paymentId: '2', by: 'ann', reason: 'x' });
      await propose(trx);
      return (await listPayments(trx, {})).map(({ reference, messageId }) => [reference, messageId]);
    });
  const proposed = await references();
  expect(await references()).toEqual(proposed);
  expect(new Set(proposed.map(([reference]) => reference)).size).toBe(3);
  // What is paid without a file of this tool is paid at once.
  await unlessDryRun(db, true, async (trx) => {
    const payments = unpaid.filter(({ currency }) => currency === 'USD');
    const given = { month: '2025-02', payments, by: 'ann@shop.example', reason: 'for x@shop.example' };
    await insertProposal(trx, { ...given, paidElsewhereOn: '2025-03-07' });
    expect(await listPayments(trx, { limit: 1 })).toMatchObject([
      {
        creator: 'mia',
        currency: 'USD',
        amount: '2.0000',
        state: 'paid',
        paidAmount: '2.0000',
        paidOn: '2025-03-07',
        elsewhereAmount: '2.0000',
        accountMark: null,
        exportedAs: null,
        elsewhere: [{ paidOn: '2025-03-07', amount: '2.0000' }],
        settledBy: 'a***@***',
        settleReason: 'for x***@***',
      },
    ]);
    expect((await findUnpaid(trx, FIND)).map(said)).toEqual([ben]);
  });
});

/** A line of a closed statement: month, kind, subject or order, its deal and creator, what it pays, and in which currency. */
type Line = readonly [
  month: 1 | 2,
  kind: 'order' | 'correction' | 'fixed_fee',
  subject: string,
  deal: string | null,
  handle: string | null,
  amount: number,
  currency?: string,
];
type Closed = {
  readonly what: string;
  readonly lines: readonly Line[];
  /** To whom the statements of a deal were closed. */
  readonly headings?: Readonly<Record<string, string | null>>;
  /** Creators with an account in euros. */
  readonly payees?: readonly string[];
  /** Creator, amount and what becomes of it. */
  readonly owed: readonly string[];
};
const OF_MIA = { headings: { D1: 'Mia' } } as const;
/** What statements closed, and who is owed it. Mia has D1, and the code MIA; the code OLD was hers; ida is on two platforms. */
const CLOSED: readonly Closed[] = [
  {
    what: 'a deal of which no account is known',
    lines: [[1, 'order', '1', 'D1', 'mia', 5]],
    ...OF_MIA,
    owed: ['mia 5 EUR no_bank_data'],
  },
  {
    what: 'a deal with an account of its creator',
    lines: [[1, 'order', '1', 'D1', 'x', 5]],
    ...OF_MIA,
    payees: ['mia'],
    owed: ['mia 5 EUR pay'],
  },
  {
    what: 'a deal with an account of its own',
    lines: [[1, 'order', '1', 'D1', 'mia', 5]],
    ...OF_MIA,
    payees: ['mia', 'd1'],
    owed: ['d1 5 EUR pay'],
  },
  {
    what: 'a deal of nobody who is known',
    lines: [[1, 'order', '1', 'D1', 'mia', 5]],
    payees: ['mia'],
    owed: ['D1 5 EUR no_bank_data'],
  },
  {
    what: 'two deals of one creator, and one of them with an account of its own',
    lines: [
      [1, 'order', '1', 'D1', 'mia', 5],
      [1, 'order', '2', 'D2', 'mia', 4],
      [2, 'order', '3', 'D2', 'mia', 2],
      [2, 'order', '4', 'D2', 'mia', 1, 'USD'],
    ],
    headings: { D1: 'mia', D2: '@Mia' },
    payees: ['mia', 'd2'],
    owed: ['d2 6 EUR pay', 'mia 5 EUR pay', 'mia 1 USD no_bank_data'],
  },
  {
    what: 'corrections that come to more than the orders, and to the same',
    lines: [
      [1, 'order', '1', 'D1', 'mia', 5],
      [2, 'correction', '1', 'D1', 'mia', -5],
      [2, 'correction', '2', 'D2', 'ben', -1],
    ],
    headings: { D1: 'mia', D2: 'ben' },
    payees: ['mia', 'ben'],
    owed: ['ben -1 EUR not_positive', 'mia 0 EUR not_positive'],
  },
  {
    what: 'an order without a deal',
    lines: [[1, 'order', '1', null, '@Mia', 5]],
    payees: ['mia'],
    owed: ['mia without a deal 5 EUR no_deal'],
  },
  {
    what: 'an order without a deal or a creator',
    lines: [[1, 'order', '1', null, null, 5]],
    owed: ['order:1 without a deal 5 EUR no_deal'],
  },
  {
    what: 'an order without a deal that is cancelled, which names nobody any more',
    lines: [
      [1, 'order', '1', null, 'mia', 5],
      [2, 'correction', '1', null, null, -2],
    ],
    owed: ['mia without a deal 3 EUR no_deal'],
  },
  {
    what: 'the same, of which earlier lines name two',
    lines: [
      [1, 'order', '1', null, 'mia', 5],
      [1, 'correction', '1', null, 'ben', 1, 'USD'],
      [2, 'correction', '1', null, '', -2],
    ],
    owed: [
      ...['ben without a deal 1 USD no_deal', 'mia without a deal 5 EUR no_deal'],
      'order:1 without a deal -2 EUR not_positive',
    ],
  },
  {
    what: 'a debt without a deal, which a deal of the creator is set off against',
    lines: [
      [1, 'order', '1', 'D1', 'mia', 5],
      [1, 'correction', '2', null, '@Mia', -2],
      [1, 'order', '3', null, 'mia', 1],
    ],
    ...OF_MIA,
    payees: ['d1'],
    owed: ['d1 4 EUR pay'],
  },
  {
    what: 'a debt without a deal in another currency, and one of another creator',
    lines: [
      [1, 'order', '1', 'D1', 'mia', 5],
      [1, 'correction', '2', null, 'mia', -2, 'USD'],
      [1, 'correction', '3', null, 'ben', -1],
      [1, 'correction', '4', null, null, -7],
    ],
    ...OF_MIA,
    payees: ['d1', 'ben'],
    owed: [
      ...['ben -1 EUR not_positive', 'd1 5 EUR pay', 'mia -2 USD not_positive'],
      'order:4 without a deal -7 EUR not_positive',
    ],
  },
  {
    what: 'as much without a deal as must be taken back',
    lines: [
      [1, 'order', '1', 'D1', 'mia', 5],
      [1, 'order', '2', null, 'mia', 2],
      [2, 'correction', '2', null, 'mia', -2],
    ],
    ...OF_MIA,
    payees: ['mia'],
    owed: ['mia 5 EUR pay', 'mia without a deal 0 EUR not_positive'],
  },
  {
    what: 'a handle on two platforms, which may be two people',
    lines: [
      [1, 'order', '1', 'D7', 'ida', 5],
      [1, 'order', '2', 'D8', 'ida', 4],
    ],
    headings: { D7: 'Ida', D8: 'ida' },
    payees: ['ida', 'd8'],
    owed: ['D7 5 EUR no_bank_data', 'd8 4 EUR pay'],
  },
  {
    what: 'what was closed to a creator, corrected in the statement of the next one',
    lines: [
      [1, 'order', '1', 'D1', 'mia', 5],
      [1, 'correction', '2', 'D1', 'ben', -2],
      [1, 'correction', '3', 'D1', 'ben', 3, 'USD'],
      [1, 'correction', '4', 'D2', '@MIA', -1],
      [1, 'order', '5', 'D2', 'ben', 9],
    ],
    headings: { D1: 'mia', D2: 'mia' },
    payees: ['d2'],
    owed: [
      ...['ben -2 EUR former_creator', 'ben 3 USD no_bank_data', 'd2 8 EUR pay'],
      'mia 5 EUR former_creator',
    ],
  },
  {
    what: 'the same with an account of the deal, which is that of the creator of today',
    lines: [
      [1, 'order', '1', 'D1', 'mia', 5],
      [1, 'correction', '2', 'D1', 'ben', -2],
      [1, 'correction', '3', 'D1', '', -1],
      [1, 'order', '4', 'D2', 'mia', 1],
      [1, 'correction', '5', 'D2', 'ben', 1],
    ],
    headings: { D1: 'mia', D2: 'mia' },
    payees: ['d1', 'mia'],
    owed: ['ben -1 EUR former_creator', 'd1 4 EUR former_creator', 'mia 1 EUR pay'],
  },
  {
    what: 'the same with one account of the deal and of the former creator, who is one person then',
    lines: [
      [1, 'order', '1', 'D1', 'mia', 5],
      [1, 'correction', '2', 'D1', 'ben', -2],
    ],
    headings: { D1: 'mia' },
    payees: ['d1', 'ben'],
    owed: ['d1 3 EUR pay'],
  },
  {
    what: 'a fee of a code of the creator who had it then',
    lines: [[1, 'fixed_fee', 'fee:code mia:2025-01-01', null, '@Mia', 5]],
    payees: ['d1'],
    owed: ['d1 5 EUR pay'],
  },
  {
    what: 'a fee of a code that another creator has by now',
    lines: [[1, 'fixed_fee', 'fee:code mia:2025-01-01', null, 'ben', 5]],
    payees: ['d1', 'ben'],
    owed: ['ben 5 EUR pay'],
  },
  {
    what: 'a fee of a code that never had another owner',
    lines: [[1, 'fixed_fee', 'fee:code mia:2025-01-01', null, null, 5]],
    payees: ['d1'],
    owed: ['d1 5 EUR pay'],
  },
  {
    what: 'a fee of a code that had another owner',
    lines: [[1, 'fixed_fee', 'fee:code old:2025-01-01', null, null, 5]],
    payees: ['d1'],
    owed: ['fee:code old:2025-01-01 5 EUR no_bank_data'],
  },
  {
    what: 'a fee that is taken back from a creator who has the code no more, but a deal',
    lines: [
      [1, 'order', '1', 'D2', 'ben', 5],
      [1, 'fixed_fee', 'fee:code mia:2025-01-01', null, 'ben', -2],
    ],
    headings: { D2: 'ben' },
    payees: ['d2'],
    owed: ['d2 3 EUR pay'],
  },
];

it('what was closed is owed to whom it was closed, and paid only to an account that is known to be of that creator', async () => {
  const db = await open();
  await sql`
    insert into intake.codes (job, line_no, code, code_folded, influencer_handle, handle_folded, deal_id, target)
    values ('orders', 1, 'MIA', 'mia', 'mia', 'mia', 'D1', ''), ('orders', 2, 'OLD', 'old', 'mia', 'mia', 'D1', '')`.execute(
    db,
  );
  await sql`
    insert into intake.code_assignments (job, code, code_folded, influencer_handle, deal_id, assigned_by)
    values ('orders', 'old', 'old', 'ben', 'D2', 'ada')`.execute(db);
  await sql`
    with known as (
      insert into mirror.known_deals (deal_id, first_way, ways) select unnest(array['D7', 'D8', 'D9']), 'list', array['list'])
    insert into mirror.deal_versions (deal_id, influencer_handle, platform, raw, row_hash, valid_from, first_seen_at, run_id)
    values ('D7', '@Ida', 'instagram', '{}', '', now(), now(), 1), ('D8', 'ida', null, '{}', '', now(), now(), 1),
      ('D9', 'mia', 'Instagram', '{}', '', now(), now(), 1)`.execute(db);
  for (const month of [1, 2])
    await sql`
      insert into ops.statements (statement_id, month, time_zone, return_window_days, lines, closed_by, reason, previous_hash, hash)
        overriding system value
      values (${month}, make_date(2025, ${month}, 1), 'UTC', 0, 0, 'jane', 'x', '', ${String(month)})`.execute(
      db,
    );
  const found: (readonly [string, readonly string[]])[] = [];
  for (const { what, lines, headings = {}, payees = [] } of CLOSED)
    await unlessDryRun(db, true, async (trx) => {
      for (const [at, [month, kind, subject, deal, handle, amount, currency = 'EUR']] of lines.entries())
        await sql`
          insert into ops.statement_lines (statement_id, line_no, kind, subject, due_on, deal_id, influencer_handle, currency, earned_amount,
            closed_before, amount)
          values (${month}, ${at + 1}, ${kind}, ${kind === 'fixed_fee' ? subject : `order:${subject}`}, '2025-01-01', ${deal}, ${handle},
            ${currency}, ${amount}, 0, ${amount})`.execute(trx);
      for (const [deal, handle] of Object.entries(headings))
        for (const month of [1, 2])
          await sql`
            insert into ops.statement_headings (statement_id, deal_id, influencer_handle) values (${month}, ${deal}, ${handle})`.execute(
            trx,
          );
      const accounts = payees.map((name) => payee(name, IBANS.mia));
      const owed = await findUnpaid(trx, { ...FIND, minimum: {}, payees: accounts });
      found.push([
        what,
        owed.map(
          ({ creator, amount, currency, becomes }) => `${creator} ${Number(amount)} ${currency} ${becomes}`,
        ),
      ]);
    });
  expect(found).toEqual(CLOSED.map(({ what, owed }) => [what, owed]));
});

function propose(db: Database): Promise<string> {
  return inTransaction(db, async (trx) =>
    insertProposal(trx, {
      month: '2025-02',
      by: 'jane',
      reason: 'month end',
      payments: (await findUnpaid(trx, FIND)).filter(({ becomes }) => becomes === 'pay'),
    }),
  );
}

/** Payments of 10 EUR in each state, and what becomes of them if a file has them, a person cancels them, or pays the rest. */
const ACTS: Readonly<
  Record<string, Readonly<Record<'exported' | 'cancelled' | 'rest' | 'restEarlier', string>>>
> = {
  proposed: {
    exported: 'exported 0 on - new',
    cancelled: 'cancelled 0 on - old by ann',
    rest: 'proposed 0 on - old',
    restEarlier: 'proposed 0 on - old',
  },
  exported: {
    exported: 'exported 0 on - old',
    cancelled: 'cancelled 0 on - old by ann',
    rest: 'paid 10 on 2025-04-01 old by ann; elsewhere 10 on 2025-04-01',
    restEarlier: 'paid 10 on 2025-02-01 old by ann; elsewhere 10 on 2025-02-01',
  },
  partly_paid: {
    exported: 'partly_paid 4 on 2025-03-01 old',
    cancelled: 'cancelled 0 on - old by ann',
    rest: 'paid 10 on 2025-04-01 old by ann; elsewhere 6 on 2025-04-01',
    restEarlier: 'paid 10 on 2025-03-01 old by ann; elsewhere 6 on 2025-02-01',
  },
  ...Object.fromEntries(
    ['paid 10 on 2025-03-01 old', 'returned 0 on - old', 'cancelled 0 on - old by bob'].map((same) => [
      same.split(' ')[0],
      { exported: same, cancelled: same, rest: same, restEarlier: same },
    ]),
  ),
};

it('a payment is exported, cancelled or completed only in the states that allow it, and no other payment with it', async () => {
  const { db } = await setup();
  const [old, changed] = [accountMark(IBANS.mia), accountMark(IBANS.zoe)];
  await sql`
    insert into ops.payment_proposals (month, message_id, proposed_by, reason) values ('2025-02-01', 'IS-M', 'jane', 'x')`.execute(
    db,
  );
  // Two of each state, of which one stays as it is.
  for (const [at, state] of Object.keys(ACTS)
    .flatMap((one) => [one, one])
    .entries()) {
    const isPaid = state === 'partly_paid' || state === 'paid';
    const [paid, isExported] = [isPaid ? (state === 'paid' ? 10 : 4) : 0, state !== 'proposed'];
    const settled = state === 'cancelled' ? 'bob' : null;
    await sql`
      insert into ops.payments (proposal_id, creator, currency, amount, reference, state, exported_as, exported_at, exported_by, account_mark,
        paid_amount, paid_on, settled_by, settle_reason)
      values (1, ${String(at)}, 'EUR', 10, ${`IS-${at}`}, ${state}, ${isExported ? 'csv' : null}, case when ${isExported} then now() end,
        ${isExported ? 'bob' : null}, ${old}, ${paid}, ${isPaid ? '2025-03-01' : null}, ${settled}, ${settled})`.execute(
      db,
    );
  }
  const all = async (trx: Database) =>
    (await listPayments(trx, {})).toReversed().map(({ state, paidAmount, paidOn, ...one }) => {
      const [by, mark] = [
        one.settledBy === null ? '' : ` by ${one.settledBy}`,
        one.accountMark === old ? 'old' : 'new',
      ];
      const elsewhere = one.elsewhere
        .map((part) => `; elsewhere ${Number(part.amount)} on ${part.paidOn}`)
        .join('');
      return `${state} ${Number(paidAmount)} on ${paidOn ?? '-'} ${mark}${by}${elsewhere}`;
    });
  const before = await all(db);
  const acts = {
    exported: (trx: DatabaseTransaction, paymentId: string) =>
      markExported(trx, { payments: [{ paymentId, accountMark: changed }], as: 'csv', by: 'ann' }),
    cancelled: (trx: DatabaseTransaction, paymentId: string) =>
      markCancelled(trx, { paymentId, by: 'ann', reason: 'x' }),
    rest: (trx: DatabaseTransaction, paymentId: string) =>
      markRestPaid(trx, { paymentId, paidOn: '2025-04-01', by: 'ann', reason: 'x' }),
    restEarlier: (trx: DatabaseTransaction, paymentId: string) =>
      markRestPaid(trx, { paymentId, paidOn: '2025-02-01', by: 'ann', reason: 'x' }),
  };
  for (const [at, [state, wanted]] of Object.entries(ACTS).entries())
    for (const [name, act] of Object.entries(acts))
      await unlessDryRun(db, true, async (trx) => {
        const place = 2 * at;
        await act(trx, String(place + 1));
        const after = before.with(place, wanted[name as keyof typeof acts]);
        expect([state, name, await all(trx)]).toEqual([state, name, after]);
      });
});

type Step =
  | readonly [
      'paid' | 'returned',
      amount: string,
      day: string,
      how?: { currency?: string; confirm?: boolean; dismiss?: boolean },
    ]
  | readonly ['rest', day: string]
  | readonly ['cancel'];
type Booked = Extract<Step, readonly ['paid' | 'returned', ...unknown[]]>;
/** What the bank books, or a person pays, of a payment of 15 EUR in a file for the bank, one file each. */
const STATES: readonly (readonly [what: string, steps: readonly Step[], after: string])[] = [
  ['nothing', [], 'exported 0 over 0 on -:'],
  ['all of it', [['paid', '15', '2025-03-03']], 'paid 15 over 0 on 2025-03-03: counted'],
  ['before the month is over', [['paid', '15', '2025-02-28']], 'exported 0 over 0 on -: too_early'],
  ['on the first day after it', [['paid', '15', '2025-03-01']], 'paid 15 over 0 on 2025-03-01: counted'],
  [
    'before the month is over, confirmed',
    [['paid', '15', '2025-02-28', { confirm: true }]],
    'paid 15 over 0 on 2025-02-28: counted',
  ],
  ['a part', [['paid', '14.99', '2025-03-03']], 'partly_paid 14.99 over 0 on 2025-03-03: counted'],
  [
    'two parts, the later one first',
    [
      ['paid', '10', '2025-03-09'],
      ['paid', '5', '2025-03-03'],
    ],
    'paid 15 over 0 on 2025-03-09: counted, counted',
  ],
  ['a cent too much', [['paid', '15.01', '2025-03-03']], 'exported 0 over 0 on -: too_much'],
  [
    'a cent too much, confirmed',
    [['paid', '15.01', '2025-03-03', { confirm: true }]],
    'paid 15 over 0.01 on 2025-03-03: counted',
  ],
  [
    'a cent too much, which is about something else',
    [['paid', '15.01', '2025-03-03', { dismiss: true }]],
    'exported 0 over 0 on -: dismissed',
  ],
  [
    'all of it, after a person cancelled it',
    [['cancel'], ['paid', '15', '2025-03-03']],
    'cancelled 0 over 0 on -: not_exported',
  ],
  [
    'a part that came back less charges, and a person cancelled it',
    [['paid', '10', '2025-03-03'], ['returned', '9', '2025-03-05'], ['cancel']],
    'cancelled 0 over 0 on -: counted, counted; back 9 on 2025-03-05',
  ],
  [
    'all of it, which is neither cancelled nor completed',
    [['paid', '15', '2025-03-03'], ['cancel'], ['rest', '2025-03-04']],
    'paid 15 over 0 on 2025-03-03: counted',
  ],
  [
    'nothing, since the bank paid it in another currency',
    [['rest', '2025-03-04']],
    'paid 15 over 0 on 2025-03-04:; elsewhere 15 on 2025-03-04',
  ],
  [
    'all of it, which comes back, and all of it again',
    [
      ['paid', '15', '2025-03-03'],
      ['returned', '15', '2025-03-05'],
      ['paid', '15', '2025-03-06'],
    ],
    'returned 0 over 0 on -: counted, counted, not_exported; back 15 on 2025-03-05',
  ],
  [
    'all of it, and another currency that comes back',
    [
      ['paid', '15', '2025-03-03'],
      ['returned', '15', '2025-03-05', { currency: 'USD' }],
    ],
    'paid 15 over 0 on 2025-03-03: counted, other_currency',
  ],
  [
    'too much, confirmed, that comes back',
    [
      ['paid', '20', '2025-03-03', { confirm: true }],
      ['returned', '5', '2025-03-09'],
    ],
    'paid 15 over 0 on 2025-03-03: counted, counted; back 5 on 2025-03-09',
  ],
  [
    'all of it, of which a part comes back and is paid again',
    [
      ['paid', '15', '2025-03-03'],
      ['returned', '5', '2025-03-05'],
      ['paid', '5', '2025-03-09'],
    ],
    'paid 15 over 0 on 2025-03-09: counted, counted, counted; back 5 on 2025-03-05',
  ],
  [
    'all of it twice',
    [
      ['paid', '15', '2025-03-03'],
      ['paid', '15', '2025-03-04'],
    ],
    'paid 15 over 0 on 2025-03-03: counted, too_much',
  ],
  [
    'another currency',
    [['paid', '15', '2025-03-03', { currency: 'USD' }]],
    'exported 0 over 0 on -: other_currency',
  ],
  ['what was not paid', [['returned', '15', '2025-03-03']], 'exported 0 over 0 on -: nothing_to_return'],
  [
    'all of it, which comes back',
    [
      ['paid', '15', '2025-03-03'],
      ['returned', '15', '2025-03-05'],
    ],
    'returned 0 over 0 on -: counted, counted; back 15 on 2025-03-05',
  ],
  [
    'all of it, which comes back less charges',
    [
      ['paid', '15', '2025-03-03'],
      ['returned', '14', '2025-03-05'],
    ],
    'partly_paid 1 over 0 on 2025-03-03: counted, counted; back 14 on 2025-03-05',
  ],
  [
    'what comes back before it was paid, in the order of the files',
    [
      ['returned', '15', '2025-03-05'],
      ['paid', '15', '2025-03-03'],
    ],
    'returned 0 over 0 on -: counted, counted; back 15 on 2025-03-05',
  ],
  [
    'more that comes back than was paid',
    [
      ['paid', '15', '2025-03-03'],
      ['returned', '16', '2025-03-05'],
    ],
    'paid 15 over 0 on 2025-03-03: counted, nothing_to_return',
  ],
  [
    'a part, and a person the rest',
    [
      ['paid', '10', '2025-03-03'],
      ['rest', '2025-03-04'],
    ],
    'paid 15 over 0 on 2025-03-04: counted; elsewhere 5 on 2025-03-04',
  ],
  [
    'a part, a person the rest on an earlier day, and then the bank the rest, too',
    [
      ['paid', '10', '2025-03-03'],
      ['rest', '2025-03-03'],
      ['paid', '5', '2025-03-06'],
    ],
    'paid 15 over 0 on 2025-03-03: counted, too_much; elsewhere 5 on 2025-03-03',
  ],
  [
    'a part that comes back after a person paid the rest',
    [
      ['paid', '10', '2025-03-03'],
      ['rest', '2025-03-04'],
      ['returned', '10', '2025-03-06'],
    ],
    'partly_paid 5 over 0 on 2025-03-04: counted, counted; elsewhere 5 on 2025-03-04; back 10 on 2025-03-06',
  ],
];

it('a payment is what the bank booked of it and a person paid, whatever the order of the files is', async () => {
  const db = await openClosed();
  await propose(db);
  const [payment] = await listPayments(db, {});
  const { paymentId = '', reference = '', accountMark = null } = payment ?? {};
  const matched = (trx: Database, ...bookings: readonly Booking[]) =>
    inTransaction(trx, (within) => matchBookings(within, { bookings, file: 'bank.csv', by: 'jane' }));
  const bookingOf = (
    [kind, amount, bookedOn, how]: Booked,
    key: string,
    given: Partial<Booking> = {},
  ): Booking => ({
    key: createHash('sha256').update(key).digest('hex'),
    kind,
    amount,
    bookedOn,
    bankReference: key,
    currency: how?.currency ?? 'EUR',
    endToEndId: reference,
    accountMark: null,
    ...given,
  });
  // Until a file has the payment, nothing counts.
  await matched(db, bookingOf(['paid', '15', '2025-03-03'], 'early'));
  const entries = async (trx: Database) =>
    (await listBankEntries(trx, {})).toSorted(
      (one, other) => Number(one.bankEntryId) - Number(other.bankEntryId),
    );
  expect(await entries(db)).toMatchObject([
    { outcome: 'held', holdReason: 'not_exported', paymentId, matchedBy: 'reference' },
  ]);
  await inTransaction(db, (trx) =>
    markExported(trx, { payments: [{ paymentId, accountMark: accountMark ?? '' }], as: 'csv', by: 'jane' }),
  );
  // Read again, it counts, because a file has it now.
  expect(await matched(db, bookingOf(['paid', '15', '2025-03-03'], 'early'))).toMatchObject({
    known: 1,
    entries: [],
    changed: [{ state: 'paid' }],
  });

  await sql`delete from ops.bank_entries`.execute(db);
  await sql`update ops.payments set state = 'exported', paid_amount = 0, paid_on = null`.execute(db);
  const results: string[][] = [];
  for (const [what, steps] of STATES)
    await unlessDryRun(db, true, async (trx) => {
      for (const [index, step] of steps.entries()) {
        if (step[0] === 'rest') {
          await markRestPaid(trx, { paymentId, paidOn: step[1], by: 'jane', reason: 'cash' });
          continue;
        }
        if (step[0] === 'cancel') {
          await markCancelled(trx, { paymentId, by: 'jane', reason: 'charges' });
          continue;
        }
        await matched(trx, bookingOf(step, `${what} ${index}`));
        const { confirm = false, dismiss = false } = step[3] ?? {};
        if (!confirm && !dismiss) continue;
        const [held] = await listBankEntries(trx, { onlyHeld: true });
        const decision = { isPayment: confirm, by: 'x@shop.example', reason: 'y' };
        const decide = () => decideBooking(trx, { bankEntryId: held?.bankEntryId ?? '', ...decision });
        const outcome = confirm ? 'counted' : 'dismissed';
        const decided = { outcome, holdReason: null, decidedBy: 'x***@***' };
        expect(await decide()).toMatchObject(decided);
        expect(await decide(), 'once').toBeNull();
      }
      const [now] = await listPayments(trx, {});
      const booked = (await entries(trx)).map(({ outcome, holdReason }) => holdReason ?? outcome);
      const [paid, over] = [now?.paidAmount, now?.overpaidAmount].map(Number);
      const state = `${now?.state} ${paid} over ${over} on ${now?.paidOn ?? '-'}: ${booked.join(', ')}`;
      const parts = (name: string, of: readonly (readonly [amount: string, day: string])[]) =>
        of.map(([amount, day]) => `; ${name} ${Number(amount)} on ${day}`).join('');
      const elsewhere = parts('elsewhere', now?.elsewhere.map((one) => [one.amount, one.paidOn]) ?? []);
      const back = parts('back', now?.cameBack.map((one) => [one.amount, one.bookedOn]) ?? []);
      results.push([what, `${state.trimEnd()}${elsewhere}${back}`]);
    });
  expect(results).toEqual(STATES.map(([what, , after]) => [what, after]));

  // Without a reference, only the open amount of the account is a guess, and it waits.
  const guess = (given: Partial<Booking>, ...before: readonly Booked[]) =>
    unlessDryRun(db, true, async (trx) => {
      for (const [index, step] of before.entries()) await matched(trx, bookingOf(step, `before ${index}`));
      const booking = bookingOf(['paid', '15', '2025-03-03'], 'guess', { endToEndId: null, accountMark });
      const { entries: found, others } = await matched(trx, { ...booking, ...given });
      return found[0] === undefined
        ? others.length
        : [found[0].paymentId, found[0].matchedBy, found[0].holdReason];
    });
  expect(await guess({})).toEqual([paymentId, 'account', 'to_confirm']);
  expect(await guess({ endToEndId: 'theirs' })).toEqual([paymentId, 'account', 'to_confirm']);
  expect(await guess({ endToEndId: `IS-${'0'.repeat(26)}` })).toEqual([null, null, 'unknown_reference']);
  expect(await guess({ amount: '14.99' })).toBe(1);
  expect(await guess({ currency: 'USD' })).toBe(1);
  expect(await guess({ kind: 'returned' })).toBe(1);
  expect(await guess({ accountMark: null })).toBe(1);
  expect(await guess({ accountMark: 'x' })).toBe(1);
  // Of a payment that is paid in part, the rest is open; of one that is paid or came back, nothing.
  const part = ['paid', '10', '2025-03-02'] as const;
  expect(await guess({ amount: '5' }, part)).toEqual([paymentId, 'account', 'to_confirm']);
  expect(await guess({}, part)).toBe(1);
  const all = ['paid', '15', '2025-03-02'] as const;
  expect(await guess({ amount: '0' }, all)).toBe(1);
  expect(await guess({}, all, ['returned', '15', '2025-03-03'])).toBe(1);
  // A payment waits for one guess at a time.
  await unlessDryRun(db, true, async (trx) => {
    const [one, other] = ['one', 'other'].map((key) =>
      bookingOf(['paid', '15', '2025-03-03'], key, { endToEndId: null, accountMark }),
    ) as [Booking, Booking];
    expect(await matched(trx, one)).toMatchObject({ entries: [{ paymentId }], others: [] });
    expect(await matched(trx, other)).toMatchObject({ entries: [], others: [other] });
  });
});

const REFERENCES = ['1', '2', '3'].map((digit) => `IS-${digit.repeat(26)}`);
/** A row of a bank's file: payment by its reference, reference of the bank, account of a payment, and what differs from 10 EUR. */
type Row = readonly [
  payment: 1 | 2 | 3 | null,
  bank?: string,
  account?: 'mia' | 'zoe',
  given?: { amount?: string; day?: string; type?: string; currency?: string },
];
type Decision = { readonly confirm: number } | { readonly dismiss: number };
const BACK = { type: 'returned', day: '2025-03-05' };
/** Files, one after the other, with payments of 30 and 10 EUR to mia and of 10 EUR to zoe, and what becomes of each booking. */
const REPEATED: readonly (readonly [
  what: string,
  files: readonly (readonly Row[] | Decision)[],
  after: readonly string[],
])[] = [
  ['the same twice', [[[1, 'B1']], [[1, 'B1']]], ['1 counted']],
  ['one that says more in the second file', [[[1]], [[1, 'B1']]], ['1 counted', '1 may_be_known']],
  ['one that says less in the second file', [[[1, 'B1']], [[1]]], ['1 counted', '1 may_be_known']],
  [
    'two of other references of the bank, in two files',
    [[[1, 'B1']], [[1, 'B2']]],
    ['1 counted', '1 may_be_known'],
  ],
  [
    'the same two in one file',
    [
      [
        [1, 'B1'],
        [1, 'B2'],
      ],
    ],
    ['1 counted', '1 counted'],
  ],
  ['two that are equal in one file', [[[1], [1]]], ['1 counted', '1 counted']],
  [
    'two of one reference of the bank in one file',
    [
      [
        [1, 'B1'],
        [1, 'B1', 'mia'],
      ],
    ],
    ['1 counted', '1 may_be_known'],
  ],
  [
    'two without one, of which one says the account',
    [[[1], [1, '', 'mia']]],
    ['1 counted', '1 may_be_known'],
  ],
  [
    'one without and one with a reference of the bank in one file',
    [[[1], [1, 'B1']]],
    ['1 may_be_known', '1 counted'],
  ],
  [
    'a third one in a second file that has the first two',
    [
      [
        [1, 'B1'],
        [1, 'B2'],
      ],
      [
        [1, 'B1'],
        [1, 'B2'],
        [1, 'B3'],
      ],
    ],
    ['1 counted', '1 counted', '1 counted'],
  ],
  ...(
    [
      ['amount', '9'],
      ['day', '2025-03-04'],
      ['type', 'returned'],
    ] as const
  ).map(
    ([name, value]) =>
      [
        `another ${name}`,
        [[[1]], [[1, 'B1', 'mia', { [name]: value }]]],
        ['1 counted', '1 counted'],
      ] as const,
  ),
  ['another currency', [[[1]], [[1, 'B1', 'mia', { currency: 'USD' }]]], ['1 counted', '1 other_currency']],
  ['another payment of the account, by its reference', [[[1]], [[2]]], ['1 counted', '2 counted']],
  [
    'another payment of the account, by a guess',
    [[[1]], [[null, '', 'mia']]],
    ['1 counted', '2 account may_be_known'],
  ],
  [
    'a guess before the booking of another payment of the account',
    [[[null, '', 'mia']], [[1]]],
    ['2 account may_be_known', '1 counted'],
  ],
  [
    'a guess before the booking of the payment',
    [[[null, 'B1', 'mia']], [[2, 'B1', 'mia']]],
    ['2 account may_be_known', '2 counted'],
  ],
  ['a guess of another account', [[[1]], [[null, '', 'zoe']]], ['1 counted', '3 account to_confirm']],
  [
    'a guess on another day',
    [[[1]], [[null, '', 'mia', { day: '2025-03-04' }]]],
    ['1 counted', '2 account to_confirm'],
  ],
  [
    'a guess beside the booking of another payment, which are two in one file',
    [
      [
        [1, 'B1'],
        [null, 'B2', 'mia'],
      ],
    ],
    ['1 counted', '2 account to_confirm'],
  ],
  [
    'one that is about something else',
    [[[1, 'B1', 'mia', { currency: 'USD' }]], { dismiss: 1 }, [[1, 'B2', 'mia', { currency: 'USD' }]]],
    ['1 dismissed', '1 other_currency'],
  ],
  [
    'one that a person has confirmed',
    [[[1]], [[1, 'B1']], { confirm: 2 }, [[1]]],
    ['1 counted', '1 counted'],
  ],
  [
    'a third one after that',
    [[[1]], [[1, 'B1']], { confirm: 2 }, [[1, 'B3']]],
    ['1 counted', '1 counted', '1 may_be_known'],
  ],
  [
    'a guess that a person has confirmed',
    [[[null, 'B1', 'mia']], { confirm: 1 }, [[2, 'B2', 'mia']]],
    ['2 account counted', '2 may_be_known'],
  ],
  [
    'what comes back from the account without a reference',
    [[[2, 'B1']], [[null, 'B2', 'mia', BACK]]],
    ['2 counted', '2 account to_confirm'],
  ],
  [
    'what came back, as a person confirms',
    [[[2, 'B1']], [[null, 'B2', 'mia', BACK]], { confirm: 2 }],
    ['2 counted', '2 account counted'],
  ],
  [
    'another amount that comes from the account',
    [[[2, 'B1']], [[null, 'B2', 'mia', { ...BACK, amount: '9' }]]],
    ['2 counted'],
  ],
  [
    'what came from the account before',
    [[[2, 'B1']], [[null, 'B2', 'mia', { ...BACK, day: '2025-03-02' }]]],
    ['2 counted'],
  ],
  ['what comes from an account that was paid nothing', [[[null, 'B2', 'mia', BACK]]], []],
];

it('two bookings of a payment are two if one file of the bank tells them apart, and otherwise a person decides', async () => {
  const { db } = await setup();
  await sql`
    insert into ops.payment_proposals (month, message_id, proposed_by, reason) values ('2025-02-01', 'IS-M', 'jane', 'x')`.execute(
    db,
  );
  await sql`
    insert into ops.payments (proposal_id, creator, currency, amount, reference, state, exported_as, exported_at, exported_by, account_mark)
    select 1, creator, 'EUR', amount, reference, 'exported', 'csv', now(), 'jane', mark
    from unnest(array['mia', 'mia.2', 'zoe'], array[30, 10, 10], ${REFERENCES}::text[],
      ${[IBANS.mia, IBANS.mia, IBANS.zoe].map(accountMark)}::text[]) p(creator, amount, reference, mark)`.execute(
    db,
  );
  const found: (readonly [string, readonly string[]])[] = [];
  for (const [what, files] of REPEATED)
    await unlessDryRun(db, true, async (trx) => {
      const booked = async () =>
        (await listBankEntries(trx, {})).toSorted(
          (one, other) => Number(one.bankEntryId) - Number(other.bankEntryId),
        );
      for (const file of files)
        if (!('length' in file)) {
          const [place, isPayment] = 'confirm' in file ? [file.confirm, true] : [file.dismiss, false];
          const bankEntryId = (await booked())[place - 1]?.bankEntryId ?? '';
          expect(
            await decideBooking(trx, { bankEntryId, isPayment, by: 'jane', reason: 'x' }),
            what,
          ).not.toBeNull();
        } else {
          const rows = file.map(([payment, bank = '', account, given = {}]) => {
            const { amount = '10', currency = 'EUR', day = '2025-03-03', type = 'paid' } = given;
            const reference = payment === null ? '' : REFERENCES[payment - 1];
            return [
              reference,
              bank,
              account === undefined ? '' : IBANS[account],
              amount,
              currency,
              day,
              type,
            ].join(';');
          });
          const text = ['reference;bank_reference;iban;amount;currency;day;type', ...rows].join('\n');
          await matchBookings(trx, {
            ...parseBankFile(text, { where: 'a', now: new Date() }),
            file: 'a',
            by: 'jane',
          });
        }
      found.push([
        what,
        (await booked()).map(({ paymentId, matchedBy, outcome, holdReason }) =>
          [paymentId, ...(matchedBy === 'account' ? ['account'] : []), holdReason ?? outcome].join(' '),
        ),
      ]);
    });
  expect(found).toEqual(REPEATED.map(([what, , after]) => [what, after]));
});

it('of two processes that propose payments, close a month, or read or decide about bookings, the second one waits', async () => {
  const db = await openClosed();
  await propose(db);
  const [payment] = await listPayments(db, {});
  const { paymentId = '', reference = '' } = payment ?? {};
  await inTransaction(db, (trx) =>
    markExported(trx, {
      payments: [{ paymentId, accountMark: accountMark(IBANS.mia) }],
      as: 'csv',
      by: 'jane',
    }),
  );
  const text = `reference,amount,currency,day,type\n${reference},99.00,EUR,2025-03-03,paid\n`;
  const read = (trx: DatabaseTransaction) =>
    matchBookings(trx, { ...parseBankFile(text, { where: 'a', now: new Date() }), file: 'a', by: 'jane' });
  const { entries } = await inTransaction(db, read);
  const decision = { bankEntryId: entries[0]?.bankEntryId ?? '', isPayment: false, by: 'jane', reason: 'x' };
  const closing = { month: '2025-02', rules: RULES, closedBy: 'jane', reason: 'x' };
  const acts: readonly (readonly [
    table: string,
    locksPayments: boolean,
    act: (trx: DatabaseTransaction) => unknown,
  ])[] = [
    ['ops.payment_proposals', false, lockProposals],
    ['ops.statements', false, (trx) => closeStatement(trx, closing)],
    ['ops.bank_entries', true, read],
    ['ops.bank_entries', true, (trx) => decideBooking(trx, decision)],
  ];
  const isLocked = async (table: string) => {
    const lock = inTransaction(db, (trx) =>
      sql`lock table ${sql.table(table)} in share row exclusive mode nowait`.execute(trx),
    );
    return lock.then(
      () => false,
      (error: unknown) => String(error).includes('could not obtain lock'),
    );
  };
  const unlocked = async () =>
    (await sql`select from ops.payments for update skip locked`.execute(db)).rows.length;
  for (const [table, locksPayments, act] of acts)
    await unlessDryRun(db, true, async (trx) => {
      await act(trx);
      expect([table, await isLocked(table), await unlocked()]).toEqual([table, true, locksPayments ? 0 : 1]);
    });
  expect(await isLocked('ops.bank_entries'), 'at other times').toBe(false);
});
