import type { StatementSettings } from '../config/schema.ts';
import { refusal } from '../core/known-error.ts';
import { accountMark } from '../core/money/iban.ts';
import { type FileKind, formatDebt, isDebt } from '../core/money/payments.ts';
import { type DecimalText, formatAmounts, formatMoney, isSameAmount, subtractMoney } from '../core/money.ts';
import { foldHandle } from '../core/text/fold.ts';
import { plural } from '../core/text/plural.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { type Database, finds } from '../db/statement.ts';
import { digestOf, findUnpaid, requireProposable, type Unpaid } from '../money/payments/find-unpaid.ts';
import {
  insertProposal,
  listPayments,
  lockProposals,
  markCancelled,
  markExported,
  markRestPaid,
  type Payment,
  type PaymentOrder,
} from '../money/payments/keep-payments.ts';
import { findPayee, loadPayees, type Payee } from '../money/payments/load-payees.ts';
import {
  type BankEntry,
  decideBooking,
  listBankEntries,
  type MatchedFile,
  matchBookings,
} from '../money/payments/match-bookings.ts';
import type { BankFile } from '../money/payments/parse-bank-file.ts';
import type { Decided, DecidedWhy } from '../ops/record-audit.ts';

/*
 * What people decide about payments: propose, export, cancel. Commands and the console both call these functions. Nothing
 * here pays: a person sends the file to the bank, and the bank says what became of it.
 */

type Statements = Pick<StatementSettings, 'payments'>;

export type Proposed = {
  /** Null: there is nothing to pay. */
  readonly proposalId: string | null;
  /** What is unpaid: what the proposal pays, and what is carried forward. */
  readonly unpaid: readonly Unpaid[];
};

/**
 * Proposes to pay what is unpaid of the closed statements up to a month.
 *
 * @param options.shown digest of the preview that the person saw. Null: they see the result.
 * @throws KnownError `payments_not_proposed`, `payees_unusable` (exit 2).
 */
export async function proposePayments(
  trx: DatabaseTransaction,
  {
    month,
    statements,
    shown = null,
    ...by
  }: DecidedWhy & { readonly month: string; readonly statements: Statements; readonly shown?: string | null },
): Promise<Proposed> {
  await lockProposals(trx);
  const unpaid = await readUnpaid(trx, { month, statements });
  if (shown !== null && digestOf(unpaid) !== shown)
    throw refusal({
      code: 'payments_not_proposed',
      where: month,
      message: 'The amounts have changed since the page was shown.',
      help: 'Check them again.',
    });
  const payments = unpaid.filter(({ becomes }) => becomes === 'pay');
  if (payments.length === 0) return { proposalId: null, unpaid };
  return { unpaid, proposalId: await keepProposal(trx, { month, payments, ...by }) };
}

/** Reads what is unpaid of the closed statements up to a month. @throws KnownError as `proposePayments`. */
export async function readUnpaid(
  trx: Database,
  { month, statements: { payments } }: { month: string; statements: Statements },
): Promise<readonly Unpaid[]> {
  const from = await requireProposable(trx, { month, from: payments.from });
  const { minimum } = payments;
  return findUnpaid(trx, { month, from, minimum, payees: loadPayees({ payments }) });
}

/**
 * Records that a person paid what is unpaid of a creator in another way, so that it is never proposed. If corrections
 * prevail, it is what the creator owes: it was paid back, or the person agreed not to take it back. The person must say
 * which of the two is meant, since nothing undoes it.
 *
 * @throws KnownError `payments_not_proposed` (exit 2), also if nothing is unpaid, or the other of the two is.
 */
export async function recordPaidElsewhere(
  trx: DatabaseTransaction,
  {
    month,
    statements,
    creator,
    currency,
    paidOn,
    isOwed,
    ...by
  }: DecidedWhy & {
    readonly month: string;
    readonly statements: Statements;
    readonly creator: string;
    readonly currency: string;
    /** Day on which it was paid. */
    readonly paidOn: string;
    /** Whether the person means what the creator owes. */
    readonly isOwed: boolean;
  },
): Promise<{ readonly proposalId: string; readonly paid: Unpaid }> {
  await requirePast(trx, paidOn);
  await lockProposals(trx);
  const unpaid = await readUnpaid(trx, { month, statements });
  const own = unpaid.filter((one) => one.currency === currency && !isSameAmount(one.amount, '0'));
  const like = own.filter((one) => foldHandle(one.creator) === foldHandle(creator));
  // A deal may be written as the handle of somebody else is, but for its case.
  const paid = own.find((one) => one.creator === creator) ?? (like.length === 1 ? like[0] : undefined);
  if (paid === undefined)
    throw refusal({
      code: 'payments_not_proposed',
      where: month,
      message:
        like.length > 1
          ? `Several are written like that: ${like.map((one) => one.creator).join(', ')}.`
          : `Nothing in ${currency} is open with this creator that is not in a payment yet.`,
      help: 'Write creator and currency as payments propose --dry-run lists them. Cancel a payment first if it is not to be sent.',
    });
  if (isDebt(paid) !== isOwed)
    throw refusal({
      code: 'payments_not_proposed',
      where: month,
      message: isOwed
        ? `${paid.creator} owes nothing: ${formatMoney(paid.amount, currency)} is unpaid.`
        : `There is nothing to pay: with the corrections, ${paid.creator} owes ${formatDebt(paid)}.`,
      help: isOwed
        ? 'If you paid it in another way, use payments settle without --owed.'
        : 'If it was paid back, or you agreed not to take it back, use payments settle with --owed. A bonus or an advance is a fixed_fee of the terms: the next statement has it, and settle records that it is paid.',
    });
  const proposalId = await keepProposal(trx, { month, payments: [paid], paidElsewhereOn: paidOn, ...by });
  return { proposalId, paid };
}

async function keepProposal(
  trx: DatabaseTransaction,
  {
    month,
    payments,
    decidedBy,
    reason,
    audit,
    paidElsewhereOn = null,
  }: DecidedWhy & {
    readonly month: string;
    readonly payments: readonly Unpaid[];
    readonly paidElsewhereOn?: string | null;
  },
): Promise<string> {
  const proposalId = await insertProposal(trx, { month, payments, by: decidedBy, reason, paidElsewhereOn });
  const debt = payments.find(isDebt);
  const until = `of ${month} and before`;
  await audit({
    action: paidElsewhereOn === null ? 'propose_payments' : 'record_payment',
    subjectKind: 'proposal',
    subject: proposalId,
    summary:
      paidElsewhereOn === null
        ? `Proposal ${proposalId} pays ${plural(payments.length, 'creator')} ${formatAmounts(payments)}, ${until}.`
        : debt === undefined
          ? `${formatAmounts(payments)} ${until} were paid elsewhere on ${paidElsewhereOn}.`
          : `${formatDebt(debt)} that ${debt.creator} owed ${until} are settled on ${paidElsewhereOn}.`,
    reason,
    after: { payments: payments.length, amounts: formatAmounts(payments) },
  });
  return proposalId;
}

type Export = {
  readonly proposalId: string;
  readonly as: FileKind;
  readonly statements: Statements;
  /** Whether a file of this kind can pay an account. What it cannot pay is left for the other kind. */
  readonly canPay: (payment: PaymentOrder) => boolean;
};

/**
 * Takes the payments of a proposal for a file of one kind, and records that they are exported. The first file decides: a
 * payment is never in files of two kinds, and the same file can be written again, less what was cancelled.
 *
 * @throws KnownError `payments_not_exported` (exit 2), also if an account is missing or another one than was proposed.
 */
export async function exportPayments(
  trx: DatabaseTransaction,
  { decidedBy, audit, reason = null, ...of }: Decided & Export & { readonly reason?: string | null },
): Promise<readonly PaymentOrder[]> {
  const { proposalId, as, statements } = of;
  const payments = await listPayments(trx, { proposalId, lock: true });
  const orders = takeOrders(payments, { ...of, payees: loadPayees(statements) });
  await refuseBooked(trx, orders, `proposal ${proposalId}`);
  await markExported(trx, {
    payments: orders.map(({ paymentId, payee }) => ({ paymentId, accountMark: accountMark(payee.iban) })),
    as,
    by: decidedBy,
  });
  await audit({
    action: 'export_payments',
    subjectKind: 'proposal',
    subject: proposalId,
    reason,
    summary: `Exported ${plural(orders.length, 'payment')} of proposal ${proposalId} as ${as}: ${formatAmounts(orders)}.`,
    after: { payments: orders.map(({ paymentId }) => paymentId), as },
  });
  return orders;
}

/** Reads the payments of a file that was exported, to write it again. @throws KnownError as `exportPayments`. */
export async function readExportedAgain(
  db: Database,
  of: Omit<Export, 'canPay'>,
): Promise<readonly PaymentOrder[]> {
  const payments = await listPayments(db, { proposalId: of.proposalId });
  const exported = payments.filter(({ state }) => state === 'exported');
  const orders = takeOrders(exported, { ...of, canPay: () => false, payees: loadPayees(of.statements) });
  await refuseBooked(db, orders, `proposal ${of.proposalId}`);
  return orders;
}

/**
 * Refuses to pay what the bank may have paid: a held booking is about one of the payments, or names a payment that this
 * database does not know and has the amount of one that no file had.
 */
async function refuseBooked(db: Database, payments: readonly Payment[], where: string): Promise<void> {
  const held = await listBankEntries(db, { onlyHeld: true });
  const booked = held.find((entry) =>
    payments.some((one) =>
      entry.paymentId === null
        ? one.state === 'proposed' && one.amount === entry.amount && one.currency === entry.currency
        : one.paymentId === entry.paymentId,
    ),
  );
  if (booked !== undefined)
    throw refusal({
      where,
      code: 'payments_not_exported',
      message: `The bank may have paid one of them: booking ${booked.bankEntryId} of ${formatMoney(booked.amount, booked.currency)} is held.`,
      help: 'Read the file of the bank again and decide about the booking (payments --held). If it paid, dismiss it, cancel the payment and record it with payments settle.',
    });
}

/** The payments of a file, each with its account. */
function takeOrders(
  payments: readonly Payment[],
  { proposalId, as, canPay, payees }: Omit<Export, 'statements'> & { readonly payees: readonly Payee[] },
): readonly PaymentOrder[] {
  const where = `proposal ${proposalId}`;
  const all = payments.toReversed();
  if (all.length === 0)
    throw refusal({
      where,
      code: 'payments_not_exported',
      message: 'There is no such proposal.',
      help: 'npx influencer-sync payments lists the payments.',
    });
  // A MsgId stands for one set of payments: what the first file left out is in no later one, which would pay the others again.
  const hasFile = all.some(({ exportedAs }) => exportedAs === as);
  const open = all.filter(({ state, exportedAs }) =>
    hasFile ? state === 'exported' && exportedAs === as : state === 'proposed',
  );
  const lacking = open.filter((payment) => findPayee(payees, accountOf(payment)) === null);
  if (lacking.length > 0)
    throw refusal({
      where,
      code: 'payments_not_exported',
      message: `payees.csv has no account any more for ${lacking.map(({ creator, currency }) => `${creator} (${currency})`).join(', ')}.`,
      help: 'Add the row again, or cancel these payments.',
    });
  const orders = open
    .map((payment): PaymentOrder => {
      const payee = findPayee(payees, accountOf(payment));
      if (payee === null) throw new Error('a payment without an account was not refused');
      return { ...payment, payee };
    })
    .filter((payment) => payment.state === 'exported' || canPay(payment));
  const moved = orders.filter(
    (one) => one.accountMark !== null && one.accountMark !== accountMark(one.payee.iban),
  );
  if (moved.length > 0)
    throw refusal({
      where,
      code: 'payments_not_exported',
      message: `The account has changed since the proposal: ${moved.map(({ creator }) => creator).join(', ')}.`,
      help: 'If the change is right, cancel these payments and propose them again; a file that was written may be at the bank. Otherwise, restore the account in payees.csv.',
    });
  if (orders.length === 0)
    throw refusal({
      where,
      code: 'payments_not_exported',
      message: `No payment of the proposal can be in a file of this kind: ${describeOthers(all)}.`,
      help: 'pain.001 pays EUR to accounts in the SEPA area. A payment that was exported is in files of that kind only: name it with --format. What the first file left out needs another proposal: cancel it and propose again.',
    });
  return orders;
}

function accountOf({ creator, currency }: Payment) {
  return { dealId: creator, handle: null, currency };
}

function describeOthers(all: readonly Payment[]): string {
  const states = Map.groupBy(all, ({ state, exportedAs }) =>
    state === 'exported' ? `exported as ${exportedAs ?? ''}` : state.replace('_', ' '),
  );
  return [...states].map(([state, { length }]) => `${length} ${state}`).join(', ');
}

/**
 * Cancels a payment, so that its amounts can be proposed again.
 *
 * @param options.isNotAtBank the person says that no bank will pay it, or pay it again. Required once it was exported.
 * @throws KnownError `payment_not_settled` (exit 2).
 */
export async function cancelPayment(
  trx: DatabaseTransaction,
  {
    paymentId,
    isNotAtBank,
    decidedBy,
    reason,
    audit,
  }: DecidedWhy & { readonly paymentId: string; readonly isNotAtBank: boolean },
): Promise<Payment> {
  const { where, payment, entries } = await lockPayment(trx, paymentId);
  const { state, amount, paidAmount, elsewhereAmount, currency } = payment;
  const counted = (kind: BankEntry['kind']) =>
    entries.filter((one) => one.outcome === 'counted' && one.kind === kind).length;
  // The bank keeps its charges, so that the whole of such a payment never comes back. What was paid elsewhere has not.
  const cameBack =
    state === 'partly_paid' && isSameAmount(elsewhereAmount, '0') && counted('returned') >= counted('paid');
  if (state !== 'proposed' && state !== 'exported' && !cameBack)
    throw refusal({
      where,
      code: 'payment_not_settled',
      message: `It is ${state.replace('_', ' ')}.`,
      help: `A payment can be cancelled until the bank has booked it, or once each booking came back, less charges.${state === 'partly_paid' ? ' If you paid the rest in another way, record that: npx influencer-sync payments complete --help' : ''}`,
    });
  if (state === 'exported' && !isNotAtBank)
    throw refusal({
      where,
      code: 'payment_not_settled',
      message:
        'It was exported, so its file may already be at the bank. If it is, it is paid although you cancel it, and a new proposal pays it again.',
      help: 'Stop it at the bank first, then confirm with --not-at-bank that no bank will pay it. If the bank paid it in another currency, use payments complete.',
    });
  await markCancelled(trx, { paymentId, by: decidedBy, reason });
  await audit({
    action: 'cancel_payment',
    subjectKind: 'payment',
    subject: paymentId,
    reason,
    summary: `Payment ${paymentId} of ${formatMoney(amount, currency)} is cancelled.${state === 'exported' ? ' It had been exported; the person says that no bank will pay it.' : ''}${cameBack ? ` It came back, less ${formatMoney(paidAmount, currency)}.` : ''}`,
    before: { state },
    after: { state: 'cancelled' },
  });
  return payment;
}

/**
 * Records that a person paid the rest of a partly paid payment in another way, or agreed with the creator that it is
 * not owed; or that the bank paid the payment in another currency, of which the booking was dismissed.
 * Then the payment is paid, and what the bank pays after that is held. If the bank's part comes back, the payment is partly
 * paid again.
 *
 * @throws KnownError `payment_not_settled` (exit 2).
 */
export async function completePayment(
  trx: DatabaseTransaction,
  {
    paymentId,
    paidOn,
    decidedBy,
    reason,
    audit,
  }: DecidedWhy & { readonly paymentId: string; readonly paidOn: string },
): Promise<{ readonly payment: Payment; readonly rest: DecimalText }> {
  const { where, payment, entries } = await lockPayment(trx, paymentId);
  const { state, amount, paidAmount, currency } = payment;
  // Such bookings are dismissed, since it is unknown what they come to in the currency of the payment.
  const inOther = (kind: BankEntry['kind']) =>
    entries.filter((one) => one.kind === kind && one.currency !== currency);
  const isPaidInOther = state === 'exported' && inOther('paid').length > inOther('returned').length;
  if (state !== 'partly_paid' && !isPaidInOther)
    throw refusal({
      where,
      code: 'payment_not_settled',
      message: `It is ${state.replace('_', ' ')}.`,
      help: 'Only a payment that the bank paid in part, or in another currency, can be completed. If you paid all of it in another way, cancel it and use payments settle.',
    });
  await requirePast(trx, paidOn);
  const first = entries.find(({ outcome }) => outcome === 'counted');
  if (first !== undefined && paidOn < first.bookedOn)
    throw refusal({
      where,
      code: 'payment_not_settled',
      message: `The bank first paid a part of it on ${first.bookedOn}, so there was no rest on ${paidOn}.`,
      help: 'Write the day on which you paid the rest, or agreed that it is not owed.',
    });
  const rest = subtractMoney(amount, paidAmount);
  await markRestPaid(trx, { paymentId, paidOn, by: decidedBy, reason });
  await audit({
    action: 'record_payment',
    subjectKind: 'payment',
    subject: paymentId,
    reason,
    summary: isPaidInOther
      ? `${formatMoney(rest, currency)} of payment ${paymentId} were paid on ${paidOn} in another currency: ${formatAmounts(inOther('paid'))}.`
      : `${formatMoney(rest, currency)}, the rest of payment ${paymentId}, was paid elsewhere on ${paidOn}.`,
    before: { state },
    after: { state: 'paid' },
  });
  return { payment, rest };
}

async function requirePast(trx: DatabaseTransaction, day: string): Promise<void> {
  const isToCome = await finds(trx)`
    select where ${day}::date > (clock_timestamp() at time zone 'UTC' + interval '14 hours')::date`;
  if (isToCome)
    throw refusal({
      code: 'payment_not_settled',
      where: day,
      message: 'This day is yet to come.',
      help: 'Record a payment once it was made, with its day.',
    });
}

/** Locks a payment, and reads what the bank booked about it. */
async function lockPayment(
  trx: DatabaseTransaction,
  paymentId: string,
): Promise<{ readonly where: string; readonly payment: Payment; readonly entries: readonly BankEntry[] }> {
  const where = `payment ${paymentId}`;
  const [payment] = await listPayments(trx, { paymentIds: [paymentId], lock: true });
  if (payment === undefined)
    throw refusal({
      where,
      code: 'payment_not_settled',
      message: 'There is no such payment.',
      help: 'npx influencer-sync payments lists them.',
    });
  const entries = await listBankEntries(trx, { paymentIds: [paymentId] });
  const booked = entries.find(({ outcome }) => outcome === 'held');
  if (booked !== undefined)
    throw refusal({
      where,
      code: 'payment_not_settled',
      message: `The bank booked something about it, which waits for a decision: booking ${booked.bankEntryId}.`,
      help: 'Confirm or dismiss the booking first: npx influencer-sync payments --held',
    });
  return { where, payment, entries };
}

/**
 * Reads a file of the bank: matches its bookings with payments. The same file again changes nothing.
 *
 * @throws KnownError `bank_file_unreadable` (exit 2).
 */
export async function readBankFile(
  trx: DatabaseTransaction,
  {
    text,
    file,
    now,
    decidedBy,
    audit,
  }: Decided & { readonly text: string; readonly file: string; readonly now: Date },
): Promise<MatchedFile & Pick<BankFile, 'announced' | 'problems'>> {
  const { parseBankFile } = await import('../money/payments/parse-bank-file.ts');
  const { bookings, announced, problems } = parseBankFile(text, { where: file, now });
  const matched = await matchBookings(trx, { bookings, file, by: decidedBy });
  const { entries, known, changed } = matched;
  if (entries.length > 0)
    await audit({
      action: 'read_bank_file',
      subjectKind: 'payment',
      subject: null,
      summary: `Read ${plural(entries.length, 'booking')} about payments; ${known} were known. ${plural(changed.length, 'payment')} changed.`,
      after: { counted: entries.filter(({ outcome }) => outcome === 'counted').length, known },
    });
  return { ...matched, announced, problems };
}

/**
 * Confirms that a held booking is the payment that it resembles, or dismisses it as about something else.
 *
 * @throws KnownError `booking_not_decided` (exit 2).
 */
export async function settleBooking(
  trx: DatabaseTransaction,
  {
    bankEntryId,
    isPayment,
    reason,
    decidedBy,
    audit,
  }: DecidedWhy & { readonly bankEntryId: string; readonly isPayment: boolean },
): Promise<BankEntry> {
  const entry = await decideBooking(trx, { bankEntryId, isPayment, by: decidedBy, reason });
  if (entry === null)
    throw refusal({
      code: 'booking_not_decided',
      where: `booking ${bankEntryId}`,
      message: isPayment
        ? 'It is not held, or it cannot be the payment: its currency is another one, or no file has the payment.'
        : 'It is not held.',
      help: 'npx influencer-sync payments --held lists the bookings that wait.',
    });
  const { amount, currency, outcome } = entry;
  await audit({
    action: 'settle_booking',
    subjectKind: 'payment',
    subject: entry.paymentId,
    reason,
    summary: `Booking ${bankEntryId} of ${formatMoney(amount, currency)} ${isPayment ? 'is confirmed' : 'is dismissed: it does not count'}.`,
    before: { outcome: 'held' },
    after: { outcome },
  });
  return entry;
}
