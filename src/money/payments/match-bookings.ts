import { sql } from 'kysely';
import { OWN_REFERENCE, type PaymentState } from '../../core/money/payments.ts';
import { type DecimalText, isMore, isSameAmount, subtractMoney, sumMoney } from '../../core/money.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import type { DatabaseTransaction } from '../../db/in-transaction.ts';
import { type Database, execute, rowsOf, toJsonParameter } from '../../db/statement.ts';
import { listPayments, type Payment } from './keep-payments.ts';
import type { Booking } from './parse-bank-file.ts';

/*
 * What the bank booked, matched with payments. A booking counts by itself only if it carries the EndToEndId of a payment.
 * One that only has the amount and the account waits for a person. The state of a payment is a fold over its bookings, so it
 * does not depend on the order in which files are read, and a booking counts once however many files have it.
 */

export type HoldReason =
  | 'to_confirm'
  | 'may_be_known'
  | 'unknown_reference'
  | 'other_currency'
  | 'too_much'
  | 'too_early'
  | 'not_exported'
  | 'nothing_to_return';

export type BankEntry = {
  readonly bankEntryId: string;
  readonly paymentId: string | null;
  readonly matchedBy: 'reference' | 'account' | null;
  readonly kind: Booking['kind'];
  readonly bookedOn: string;
  readonly amount: DecimalText;
  readonly currency: string;
  readonly outcome: 'counted' | 'held' | 'dismissed';
  readonly holdReason: HoldReason | null;
  readonly decidedBy: string | null;
  /** Others that it may be the same as, if that is why it is held. */
  readonly resembles: readonly { readonly bankEntryId: string; readonly paymentId: string }[];
};

/**
 * Whether booking `o` has the payment, day and amount of booking `b`; of one that only has the account, the payment of
 * `o` may be another one of this account.
 */
const resembles = sql`
  (o.kind, o.booked_on, o.amount, o.currency) = (b.kind, b.booked_on, b.amount, b.currency)
    and o.outcome <> 'dismissed'
  and (o.payment_id = b.payment_id or (b.matched_by = 'account' and exists (
    select from ops.payments own join ops.payments other using (account_mark)
    where own.payment_id = b.payment_id and other.payment_id = o.payment_id)))`;

/** Lists bookings about payments, in the order in which they happened. */
export function listBankEntries(
  db: Database,
  {
    paymentIds = null,
    ids = null,
    onlyHeld = false,
  }: { paymentIds?: readonly string[] | null; ids?: readonly string[] | null; onlyHeld?: boolean },
): Promise<readonly BankEntry[]> {
  return rowsOf<BankEntry>(db)`
    select bank_entry_id as "bankEntryId", payment_id as "paymentId", matched_by as "matchedBy", kind,
      to_char(booked_on, 'YYYY-MM-DD') as "bookedOn",
      amount::text as amount, currency, outcome, hold_reason as "holdReason", decided_by as "decidedBy",
      coalesce((
        select jsonb_agg(jsonb_build_object('bankEntryId', o.bank_entry_id::text, 'paymentId',
            o.payment_id::text)
          order by o.bank_entry_id)
        from ops.bank_entries o
        where b.hold_reason = 'may_be_known' and o.bank_entry_id <> b.bank_entry_id and ${resembles}),
          '[]') as resembles
    from ops.bank_entries b
    where (${paymentIds}::bigint[] is null or payment_id = any (${paymentIds}::bigint[]))
      and (${ids}::bigint[] is null or bank_entry_id = any (${ids}::bigint[]))
      and (not ${onlyHeld}::boolean or outcome = 'held')
    order by booked_on, kind, bank_entry_id`;
}

export type MatchedFile = {
  /** Bookings about payments that no earlier file had. */
  readonly entries: readonly BankEntry[];
  /** Bookings about payments that an earlier file had. */
  readonly known: number;
  /** Bookings that are about no payment. They are not stored. */
  readonly others: readonly Booking[];
  /** Payments whose state changed. */
  readonly changed: readonly Payment[];
};

type Matched = Booking & Pick<BankEntry, 'paymentId' | 'matchedBy'>;

/** Matches the bookings of a file, and records those that are about payments. */
export async function matchBookings(
  trx: DatabaseTransaction,
  { bookings, file, by }: { bookings: readonly Booking[]; file: string; by: string },
): Promise<MatchedFile> {
  // One reader at a time, so that two files with the same booking do not both propose it for a payment.
  await execute(trx)`lock table ops.bank_entries in share row exclusive mode`;
  const payments = await listPayments(trx, { lock: true });
  const byReference = new Map(payments.map((payment) => [payment.reference, payment]));
  const seen = await rowsOf<{ key: string; paymentId: string | null }>(trx)`
    select entry_key as key, payment_id as "paymentId" from ops.bank_entries
    where entry_key = any (${bookings.map(({ key }) => key)}::text[])`;
  const known = new Set(seen.map(({ key }) => key));
  // A payment that this database did not know when it read the booking, and does now.
  const unnamed = new Set(seen.flatMap(({ key, paymentId }) => (paymentId === null ? key : [])));
  const found = bookings.flatMap(({ key, endToEndId }) => {
    const named = unnamed.has(key) ? byReference.get(endToEndId ?? '') : undefined;
    return named === undefined ? [] : [{ key, paymentId: named.paymentId }];
  });
  await execute(trx)`
    update ops.bank_entries b set payment_id = g."paymentId", matched_by = 'reference'
    from jsonb_to_recordset(${toJsonParameter(found)}::jsonb) as g (key text, "paymentId" bigint)
    where b.entry_key = g.key and b.outcome = 'held'`;
  const proposed = new Set(
    (await listBankEntries(trx, { onlyHeld: true })).flatMap(({ paymentId }) => paymentId ?? []),
  );
  const others: Booking[] = [];
  const matched = bookings
    .filter(({ key }) => !known.has(key))
    .flatMap((booking): readonly Matched[] => {
      const reference = booking.endToEndId ?? '';
      const named = byReference.get(reference);
      if (named !== undefined) return [{ ...booking, paymentId: named.paymentId, matchedBy: 'reference' }];
      // Of a payment that this database lost.
      if (OWN_REFERENCE.test(reference)) return [{ ...booking, paymentId: null, matchedBy: null }];
      // The oldest that is open, and the newest that may have come back.
      const inTurn = booking.kind === 'paid' ? payments.toReversed() : payments;
      const similar = inTurn.find((one) => !proposed.has(one.paymentId) && isSimilar(booking, one));
      if (similar === undefined) {
        others.push(booking);
        return [];
      }
      proposed.add(similar.paymentId);
      return [{ ...booking, paymentId: similar.paymentId, matchedBy: 'account' }];
    });
  const written = await rowsOf<{ id: string }>(trx)`
    insert into ops.bank_entries (entry_key, payment_id, matched_by, kind, booked_on, amount, currency,
      outcome, hold_reason, file_name, read_by)
    select key, "paymentId", "matchedBy", kind, "bookedOn", amount, currency, 'held',
      case when "paymentId" is null then 'unknown_reference' else 'to_confirm' end, ${maskAddresses(file)},
      ${maskAddresses(by)}
    from jsonb_to_recordset(${toJsonParameter(matched)}::jsonb)
      as g (key text, "paymentId" bigint, "matchedBy" text, kind text, "bookedOn" date, amount numeric,
        currency text)
    returning bank_entry_id as id`;
  await holdRepeated(trx, { bookings, fresh: [...found, ...matched].map(({ key }) => key) });
  // Those of known bookings, too: a payment may have been exported since.
  const touched = [...new Set([...seen, ...found, ...matched].flatMap(({ paymentId }) => paymentId ?? []))];
  const changed = await settlePayments(trx, touched);
  const entries = await listBankEntries(trx, { ids: written.map(({ id }) => id) });
  return { entries, known: known.size, others, changed };
}

/**
 * Holds bookings that may be the same as another one: of two, the guess that waits, or else the one that was read later, or
 * else the one without a reference of the bank. One file has two bookings if their references of the bank differ, or if they
 * have none and are equal in all they say.
 *
 * @param options.fresh keys of the bookings in the file whose payment was not known before.
 */
async function holdRepeated(
  trx: DatabaseTransaction,
  { bookings, fresh }: { bookings: readonly Booking[]; fresh: readonly string[] },
): Promise<void> {
  await execute(trx)`
    with file as (
      select key, "bankReference" as bank, jsonb_build_array("endToEndId", "accountMark") as said
      from jsonb_to_recordset(${toJsonParameter(bookings)}::jsonb) as g (key text, "bankReference" text,
        "endToEndId" text, "accountMark" text)
    ),
    ranked as (
      select e.*, bank, said, is_fresh,
        row(matched_by = 'account' and outcome = 'held', is_fresh, bank is null, bank_entry_id) as rank
      from ops.bank_entries e
        left join file on key = entry_key, lateral (select entry_key = any (${fresh}::text[]) as is_fresh) f
      where payment_id is not null
    )
    update ops.bank_entries held set hold_reason = 'may_be_known'
    from ranked b join ranked o on ${resembles} and o.rank < b.rank and (o.is_fresh or b.is_fresh)
    where held.bank_entry_id = b.bank_entry_id and b.outcome = 'held' and b.decided_by is null
      and case when o.said is null or b.said is null then true
        when o.bank is null and b.bank is null then o.said <> b.said
        else coalesce(o.bank = b.bank, true) end`;
}

/**
 * Whether a booking without a reference may be a payment, or one that came back: the same account, currency, and the amount
 * that is open, or that the bank paid.
 */
function isSimilar(
  { kind, accountMark, bookedOn, amount, currency }: Booking,
  { state, paidOn, ...payment }: Payment,
): boolean {
  if (accountMark === null || accountMark !== payment.accountMark || currency !== payment.currency)
    return false;
  if (kind === 'paid')
    return (
      (state === 'exported' || state === 'partly_paid') &&
      isSameAmount(amount, subtractMoney(payment.amount, payment.paidAmount))
    );
  const byBank = subtractMoney(
    sumMoney([payment.paidAmount, payment.overpaidAmount]),
    payment.elsewhereAmount,
  );
  return (
    (state === 'paid' || state === 'partly_paid') &&
    paidOn !== null &&
    paidOn <= bookedOn &&
    isSameAmount(amount, byBank)
  );
}

/** Computes the states of payments from their bookings. @returns those that changed. */
async function settlePayments(
  trx: DatabaseTransaction,
  paymentIds: readonly string[],
): Promise<readonly Payment[]> {
  const payments = await listPayments(trx, { paymentIds, lock: true });
  const entries = await listBankEntries(trx, { paymentIds });
  const folded = payments.map((payment) => ({
    payment,
    ...foldPayment(
      payment,
      entries.filter(({ paymentId }) => paymentId === payment.paymentId),
    ),
  }));
  const outcomes = folded.flatMap(({ holds }) => [...holds].map(([id, reason]) => ({ id, reason })));
  await execute(trx)`
    update ops.bank_entries b
    set outcome = case when g.reason is null then 'counted' else 'held' end, hold_reason = g.reason
    from jsonb_to_recordset(${toJsonParameter(outcomes)}::jsonb) as g (id bigint, reason text)
    where b.bank_entry_id = g.id`;
  const states = folded.flatMap(({ payment, state, paidAmount, overpaidAmount, paidOn }) =>
    state === payment.state &&
    isSameAmount(paidAmount, payment.paidAmount) &&
    isSameAmount(overpaidAmount, payment.overpaidAmount) &&
    paidOn === payment.paidOn
      ? []
      : [{ id: payment.paymentId, state, paidAmount, overpaidAmount, paidOn }],
  );
  await execute(trx)`
    update ops.payments p
    set state = g.state, paid_amount = g."paidAmount", overpaid_amount = g."overpaidAmount",
      paid_on = g."paidOn"
    from jsonb_to_recordset(${toJsonParameter(states)}::jsonb)
      as g (id bigint, state text, "paidAmount" numeric, "overpaidAmount" numeric, "paidOn" date)
    where p.payment_id = g.id`;
  return listPayments(trx, { paymentIds: states.map(({ id }) => id) });
}

/**
 * The state of a payment from its bookings in order, and from what a person paid elsewhere: what each booking counts, or why
 * it does not. A booking is never counted in part, unless a person confirmed that it pays more than the payment.
 */
function foldPayment(
  payment: Payment,
  entries: readonly BankEntry[],
): {
  readonly state: PaymentState;
  readonly paidAmount: DecimalText;
  readonly overpaidAmount: DecimalText;
  readonly paidOn: string | null;
  readonly holds: ReadonlyMap<string, HoldReason | null>;
} {
  const holds = new Map<string, HoldReason | null>();
  const { state, amount, currency, elsewhereAmount } = payment;
  if (payment.exportedAs === null || state === 'returned' || state === 'cancelled') {
    // Its amounts may be in another payment by now, so nothing more counts for it.
    for (const entry of entries) if (entry.outcome === 'held') holds.set(entry.bankEntryId, 'not_exported');
    const { paidAmount, overpaidAmount, paidOn } = payment;
    return { state, paidAmount, overpaidAmount, paidOn, holds };
  }
  // A person who paid the rest knew what counted, so that goes on counting. Of what the bank books after that, what comes back
  // is subtracted first.
  const isKept = ({ outcome }: BankEntry) => isMore(elsewhereAmount, '0') && outcome === 'counted';
  const rankOf = (entry: BankEntry) => (isKept(entry) ? 0 : entry.kind === 'returned' ? 1 : 2);
  const inTurn = isMore(elsewhereAmount, '0')
    ? entries.toSorted((one, other) => rankOf(one) - rankOf(other))
    : entries;
  // What the bank paid, less what came back.
  const lastElsewhere =
    payment.elsewhere
      .map((part) => part.paidOn)
      .toSorted()
      .at(-1) ?? null;
  let [net, isReturned, paidOn]: [DecimalText, boolean, string | null] = ['0', false, lastElsewhere];
  const whyNot = (entry: BankEntry, after: DecimalText): HoldReason | null => {
    if (isKept(entry)) return null;
    if (entry.holdReason === 'may_be_known' && entry.decidedBy === null) return 'may_be_known';
    if (entry.matchedBy === 'account' && entry.decidedBy === null) return 'to_confirm';
    if (entry.currency !== currency) return 'other_currency';
    // A month is closed, and paid, once it is over.
    if (entry.bookedOn.slice(0, 7) <= payment.month && entry.decidedBy === null) return 'too_early';
    if (after.startsWith('-')) return 'nothing_to_return';
    const isTooMuch = entry.kind === 'paid' && isMore(sumMoney([after, elsewhereAmount]), amount);
    return isTooMuch && entry.decidedBy === null ? 'too_much' : null;
  };
  for (const entry of inTurn) {
    if (entry.outcome === 'dismissed') continue;
    const after = entry.kind === 'paid' ? sumMoney([net, entry.amount]) : subtractMoney(net, entry.amount);
    const why = whyNot(entry, after);
    holds.set(entry.bankEntryId, why);
    if (why !== null) continue;
    net = after;
    if (entry.kind === 'returned') isReturned = true;
    else if (paidOn === null || paidOn < entry.bookedOn) paidOn = entry.bookedOn;
  }
  const paid = sumMoney([net, elsewhereAmount]);
  const isNothing = isSameAmount(paid, '0');
  const isWhole = !isMore(amount, paid);
  return {
    state: isNothing ? (isReturned ? 'returned' : 'exported') : isWhole ? 'paid' : 'partly_paid',
    // What is too much stays with the creator, until it comes back.
    paidAmount: isWhole ? amount : paid,
    overpaidAmount: isWhole ? subtractMoney(paid, amount) : '0',
    paidOn: isNothing ? null : paidOn,
    holds,
  };
}

/**
 * Records what a person says of a booking that is held: it is the payment, or it is about something else.
 *
 * @returns the booking; null if it is not held, or it names no payment that could be confirmed.
 */
export async function decideBooking(
  trx: DatabaseTransaction,
  {
    bankEntryId,
    isPayment,
    by,
    reason,
  }: { bankEntryId: string; isPayment: boolean; by: string; reason: string },
): Promise<BankEntry | null> {
  await execute(trx)`lock table ops.bank_entries in share row exclusive mode`;
  const [entry] = await listBankEntries(trx, { ids: [bankEntryId], onlyHeld: true });
  const canConfirm = ['to_confirm', 'may_be_known', 'too_early', 'too_much'].includes(
    entry?.holdReason ?? '',
  );
  if (entry === undefined || (isPayment && !canConfirm)) return null;
  await execute(trx)`
    update ops.bank_entries
    set decided_by = ${maskAddresses(by)}, decided_reason = ${maskAddresses(reason)},
      outcome = case when ${isPayment} then outcome else 'dismissed' end,
      hold_reason = case when ${isPayment} then hold_reason end
    where bank_entry_id = ${bankEntryId}::bigint`;
  if (entry.paymentId !== null) await settlePayments(trx, [entry.paymentId]);
  const [decided] = await listBankEntries(trx, { ids: [bankEntryId] });
  return decided ?? null;
}
