import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { KnownError } from '../../src/core/known-error.ts';
import type { Database } from '../../src/db/connect.ts';
import { inTransaction, unlessDryRun } from '../../src/db/in-transaction.ts';
import { closeStatement } from '../../src/money/close-statement.ts';
import {
  digestOf,
  findUnpaid,
  requireProposable,
  type Unpaid,
} from '../../src/money/payments/find-unpaid.ts';
import {
  insertProposal,
  listPayments,
  markCancelled,
  markExported,
  markRestPaid,
} from '../../src/money/payments/keep-payments.ts';
import { decideBooking, listBankEntries, matchBookings } from '../../src/money/payments/match-bookings.ts';
import type { Booking } from '../../src/money/payments/parse-bank-file.ts';
import { rulesOf, termsOf } from '../support/terms.ts';
import { open } from './few-orders.ts';
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
      ...{ code: 'payments_not_proposed', exitCode: 2, where: month, safe: 'Nothing was changed.' },
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
    ...{
      paymentId: '2',
      proposalId: '2',
      month: '2025-02',
      creator: 'd1',
      currency: 'EUR',
      amount: '15.0000',
    },
    ...{
      state: 'proposed',
      exportedAs: null,
      exportedAt: null,
      paidAmount: '0.0000',
      overpaidAmount: '0.0000',
      paidOn: null,
    },
    ...{ elsewhereAmount: '0.0000', elsewhere: [], cameBack: [], settledBy: null, settleReason: null },
    ...{ accountMark: expect.stringMatching(/3000$/), proposedAt: expect.any(Date) },
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
});

function propose(db: Database): Promise<string> {
  return inTransaction(db, async (trx) =>
    insertProposal(trx, {
      ...{ month: '2025-02', by: 'jane', reason: 'month end' },
      payments: (await findUnpaid(trx, FIND)).filter(({ becomes }) => becomes === 'pay'),
    }),
  );
}

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
    'cancelled 0 over 0 on -: counted, counted',
  ],
  [
    'all of it, which is neither cancelled nor completed',
    [['paid', '15', '2025-03-03'], ['cancel'], ['rest', '2025-03-04']],
    'paid 15 over 0 on 2025-03-03: counted',
  ],
  [
    'nothing, since the bank paid it in another currency',
    [['rest', '2025-03-04']],
    'paid 15 over 0 on 2025-03-04:',
  ],
  [
    'all of it, which comes back, and all of it again',
    [
      ['paid', '15', '2025-03-03'],
      ['returned', '15', '2025-03-05'],
      ['paid', '15', '2025-03-06'],
    ],
    'returned 0 over 0 on -: counted, counted, not_exported',
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
    'paid 15 over 0 on 2025-03-03: counted, counted',
  ],
  [
    'all of it, of which a part comes back and is paid again',
    [
      ['paid', '15', '2025-03-03'],
      ['returned', '5', '2025-03-05'],
      ['paid', '5', '2025-03-09'],
    ],
    'paid 15 over 0 on 2025-03-09: counted, counted, counted',
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
    'returned 0 over 0 on -: counted, counted',
  ],
  [
    'all of it, which comes back less charges',
    [
      ['paid', '15', '2025-03-03'],
      ['returned', '14', '2025-03-05'],
    ],
    'partly_paid 1 over 0 on 2025-03-03: counted, counted',
  ],
  [
    'what comes back before it was paid, in the order of the files',
    [
      ['returned', '15', '2025-03-05'],
      ['paid', '15', '2025-03-03'],
    ],
    'returned 0 over 0 on -: counted, counted',
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
    'paid 15 over 0 on 2025-03-04: counted',
  ],
  [
    'a part, a person the rest on an earlier day, and then the bank the rest, too',
    [
      ['paid', '10', '2025-03-03'],
      ['rest', '2025-03-03'],
      ['paid', '5', '2025-03-06'],
    ],
    'paid 15 over 0 on 2025-03-03: counted, too_much',
  ],
  [
    'a part that comes back after a person paid the rest',
    [
      ['paid', '10', '2025-03-03'],
      ['rest', '2025-03-04'],
      ['returned', '10', '2025-03-06'],
    ],
    'partly_paid 5 over 0 on 2025-03-04: counted, counted',
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
    ...{ key: createHash('sha256').update(key).digest('hex'), kind, amount, bookedOn, bankReference: key },
    ...{ currency: how?.currency ?? 'EUR', endToEndId: reference, accountMark: null, ...given },
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
      results.push([what, state.trimEnd()]);
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
