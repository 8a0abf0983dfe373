import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { FileKind, PaymentState } from '../../core/money/payments.ts';
import type { DecimalText } from '../../core/money.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import type { DatabaseTransaction } from '../../db/in-transaction.ts';
import { countOf, type Database, execute, rowsOf, toJsonParameter } from '../../db/statement.ts';
import type { Unpaid } from './find-unpaid.ts';
import type { Payee } from './load-payees.ts';

/*
 * Payments of closed statements. As the ledger does with orders, a payment claims its amounts before anything leaves the
 * house: an amount of a closed statement is in one live payment at most, which a unique index holds. Its references are
 * digests of what it pays, so the same file is the same to the bank however often it is written.
 */

export type Payment = {
  readonly paymentId: string;
  readonly proposalId: string;
  /** Last month of the proposal, `2026-10`. */
  readonly month: string;
  readonly creator: string;
  readonly currency: string;
  readonly amount: DecimalText;
  /** EndToEndId. */
  readonly reference: string;
  /** MsgId of the proposal's file. */
  readonly messageId: string;
  readonly state: PaymentState;
  readonly exportedAs: FileKind | null;
  readonly exportedAt: Date | null;
  /** Of the account when it was proposed. Null: it was paid elsewhere, or is of an earlier version and not exported. */
  readonly accountMark: string | null;
  /** What the bank paid, less what came back, and what was paid elsewhere. */
  readonly paidAmount: DecimalText;
  /** What was paid beyond the amount, and has not come back: it belongs to no statement, and is set off against nothing. */
  readonly overpaidAmount: DecimalText;
  /** Day on which the last of it was paid. What came back has days of its own. */
  readonly paidOn: string | null;
  /** Part of `paidAmount` that a person paid without the bank's file. */
  readonly elsewhereAmount: DecimalText;
  /** Each part of it, in the order in which they were recorded. */
  readonly elsewhere: readonly { readonly paidOn: string; readonly amount: DecimalText }[];
  /** What the bank booked as come back, and counts. */
  readonly cameBack: readonly { readonly bookedOn: string; readonly amount: DecimalText }[];
  readonly proposedAt: Date;
  readonly settledBy: string | null;
  readonly settleReason: string | null;
};

/** A payment with the account that it goes to. */
export type PaymentOrder = Payment & { readonly payee: Payee };

export type PaymentFilter = {
  readonly proposalId?: string | null;
  readonly state?: PaymentState | null;
  readonly creator?: string | null;
  readonly paymentIds?: readonly string[] | null;
  /** Only those that pay amounts of this closed statement, or what it has of one deal. */
  readonly of?: { readonly statementId: string; readonly dealId: string | null } | null;
  /** Id of the last payment of the previous page. */
  readonly after?: string | null;
  readonly limit?: number | null;
  /** Locks the rows until the end of the transaction. */
  readonly lock?: boolean;
};

/** Lists payments, the newest first. */
export async function listPayments(db: Database, filter: PaymentFilter): Promise<readonly Payment[]> {
  const { proposalId = null, state = null, creator = null, after = null, limit = null } = filter;
  const [ids, of] = [filter.paymentIds ?? null, filter.of ?? null];
  return rowsOf<Payment>(db)`
    select p.payment_id as "paymentId", p.proposal_id as "proposalId", to_char(r.month, 'YYYY-MM') as month,
      p.creator, p.currency, p.amount::text as amount, p.reference, r.message_id as "messageId", p.state,
      p.exported_as as "exportedAs",
      p.exported_at as "exportedAt", p.account_mark as "accountMark", p.paid_amount::text as "paidAmount",
      p.overpaid_amount::text as "overpaidAmount",
      to_char(p.paid_on, 'YYYY-MM-DD') as "paidOn", p.elsewhere_amount::text as "elsewhereAmount",
      coalesce((
        select jsonb_agg(jsonb_build_object('paidOn', x.paid_on, 'amount', x.amount::text)
          order by x.recorded_at nulls first)
        from ops.payments_elsewhere x where x.payment_id = p.payment_id), '[]') as elsewhere,
      coalesce((
        select jsonb_agg(jsonb_build_object('bookedOn', b.booked_on, 'amount', b.amount::text)
          order by b.booked_on, b.bank_entry_id)
        from ops.bank_entries b
        where b.payment_id = p.payment_id and b.kind = 'returned' and b.outcome = 'counted'),
          '[]') as "cameBack",
      r.proposed_at as "proposedAt", p.settled_by as "settledBy", p.settle_reason as "settleReason"
    from ops.payments p join ops.payment_proposals r using (proposal_id)
    where (${proposalId}::bigint is null or p.proposal_id = ${proposalId}::bigint)
      and (${state}::text is null or p.state = ${state})
      and (${creator}::text is null or p.creator = ${creator})
      and (${ids}::bigint[] is null or p.payment_id = any (${ids}::bigint[]))
      and (${after}::bigint is null or p.payment_id < ${after}::bigint)
      and (${of?.statementId ?? null}::bigint is null or exists (
        select from ops.payment_items i
        where i.payment_id = p.payment_id and i.statement_id = ${of?.statementId ?? null}::bigint
          and (${of?.dealId ?? null}::text is null or i.deal_id = ${of?.dealId ?? null})))
    order by p.payment_id desc limit ${limit}::bigint ${filter.lock === true ? sql`for update of p` : sql``}`;
}

/**
 * Makes other proposals wait until the end of the transaction, so that two processes make one. Call it before `findUnpaid`.
 */
export async function lockProposals(trx: DatabaseTransaction): Promise<void> {
  await execute(trx)`lock table ops.payment_proposals in share row exclusive mode`;
}

/** Keeps a proposal: claims the items of its payments. @returns its id. */
export async function insertProposal(
  trx: DatabaseTransaction,
  {
    month,
    payments,
    by,
    reason,
    paidElsewhereOn = null,
  }: {
    readonly month: string;
    readonly payments: readonly Unpaid[];
    readonly by: string;
    readonly reason: string;
    /** Day on which a person paid it without a file of this tool, so that it is paid at once. */
    readonly paidElsewhereOn?: string | null;
  },
): Promise<string> {
  const given = await Promise.all(
    payments.map(async (one) => ({ ...one, reference: referenceOf(one, await attemptsOf(trx, one)) })),
  );
  const messageId = `IS-${digest(given.map(({ reference }) => reference).toSorted())}`;
  const { proposal_id: proposalId } = await trx
    .insertInto('ops.payment_proposals')
    .values({
      month: sql<Date>`${`${month}-01`}::date`,
      message_id: messageId,
      proposed_by: maskAddresses(by),
      reason: maskAddresses(reason),
    })
    .returning('proposal_id')
    .executeTakeFirstOrThrow();
  await execute(trx)`
    with given as (
      select *
      from jsonb_to_recordset(${toJsonParameter(given)}::jsonb) as g (creator text, currency text,
        amount numeric, reference text, "accountMark" text, items jsonb)
    ),
    made as (
      insert into ops.payments (proposal_id, creator, currency, amount, reference, account_mark, state,
        paid_amount, paid_on, elsewhere_amount, elsewhere_on, settled_by, settle_reason)
      select ${proposalId}::bigint, creator, currency, amount, reference,
        case when d.day is null then "accountMark" end,
        case when d.day is null then 'proposed' else 'paid' end,
        p.paid, d.day, p.paid, d.day, case when d.day is not null then ${maskAddresses(by)} end,
        case when d.day is not null then ${maskAddresses(reason)} end
      from given, (select ${paidElsewhereOn}::date as day) d,
        lateral (select case when d.day is null then 0 else amount end as paid) p
      order by creator, currency
      returning payment_id, reference
    )
    insert into ops.payment_items (payment_id, statement_id, subject, deal_id, currency, amount)
    select m.payment_id, i."statementId", i.subject, i."dealId", i.currency, i.amount
    from made m join given g using (reference),
      jsonb_to_recordset(g.items) as i ("statementId" bigint, subject text, "dealId" text, currency text,
        amount numeric)`;
  return proposalId;
}

/**
 * The EndToEndId: a digest of the statements' hashes and of what is paid of them, so that even a database that was restored
 * gives the same payment the same reference. A payment that is made again, after a return, gets another one.
 */
function referenceOf({ creator, currency, items }: Unpaid, attempts: number): string {
  const parts = items.map(({ hash, subject, amount }) => [hash, subject, amount]);
  return `IS-${digest([creator, currency, attempts, ...parts])}`;
}

/** 26 characters, of the 35 that an id may have, in the characters that every bank takes. */
function digest(of: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(of)).digest('hex').slice(0, 26).toUpperCase();
}

/** How many payments that are not live any more had items of this one. */
function attemptsOf(trx: DatabaseTransaction, { items }: Unpaid): Promise<number> {
  return countOf(trx)`
    select count(distinct i.payment_id)
    from ops.payment_items i
    join jsonb_to_recordset(${toJsonParameter(items)}::jsonb) as g ("statementId" bigint, subject text,
      currency text)
      on g."statementId" = i.statement_id and g.subject = i.subject and g.currency = i.currency
    where not i.is_live`;
}

/** Records that payments are written into a file for the bank, before a byte of it is. A second time changes nothing. */
export async function markExported(
  trx: DatabaseTransaction,
  {
    payments,
    as,
    by,
  }: {
    payments: readonly { readonly paymentId: string; readonly accountMark: string }[];
    as: FileKind;
    by: string;
  },
): Promise<void> {
  await execute(trx)`
    update ops.payments p
    set state = 'exported', exported_as = ${as}, exported_at = clock_timestamp(),
      exported_by = ${maskAddresses(by)}, account_mark = g."accountMark"
    from jsonb_to_recordset(${toJsonParameter(payments)}::jsonb) as g ("paymentId" bigint, "accountMark" text)
    where p.payment_id = g."paymentId" and p.state = 'proposed'`;
}

/** Cancels a payment, so that its amounts can be proposed again. What a bank kept of one that came back is no payment. */
export async function markCancelled(
  trx: DatabaseTransaction,
  { paymentId, by, reason }: { paymentId: string; by: string; reason: string },
): Promise<void> {
  await trx
    .updateTable('ops.payments')
    .set({ state: 'cancelled', paid_amount: '0', paid_on: null, settled_by: maskAddresses(by) })
    .set({ settle_reason: maskAddresses(reason) })
    .where('payment_id', '=', paymentId)
    .where('state', 'in', ['proposed', 'exported', 'partly_paid'])
    .execute();
}

/**
 * Records that a person paid the rest of an exported or partly paid payment on a day, beside what was paid elsewhere
 * before.
 */
export async function markRestPaid(
  trx: DatabaseTransaction,
  { paymentId, paidOn, by, reason }: { paymentId: string; paidOn: string; by: string; reason: string },
): Promise<void> {
  await execute(trx)`
    update ops.payments
    set state = 'paid', elsewhere_amount = elsewhere_amount + amount - paid_amount,
      elsewhere_on = ${paidOn}::date,
      paid_amount = amount, paid_on = greatest(paid_on, ${paidOn}::date), settled_by = ${maskAddresses(by)},
      settle_reason = ${maskAddresses(reason)}
    where payment_id = ${paymentId}::bigint and state in ('exported', 'partly_paid')`;
}
