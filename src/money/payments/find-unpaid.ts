import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import { configurationError } from '../../core/known-error.ts';
import { accountMark } from '../../core/money/iban.ts';
import { type DecimalText, isMore, sumMoney } from '../../core/money.ts';
import { foldHandle } from '../../core/text/fold.ts';
import { type Database, rowOf, rowsOf } from '../../db/statement.ts';
import { isOnlyOwner, ownerOfFee } from '../read-statement.ts';
import { findPayee, type Payee } from './load-payees.ts';

/** An amount of a closed statement that nothing pays yet: what it has of one deal, or one fee of a code, in a currency. */
export type UnpaidItem = {
  readonly statementId: string;
  /** `2026-10`. */
  readonly month: string;
  /** SHA-256 of the statement, which makes the item unique among all databases. */
  readonly hash: string;
  readonly subject: string;
  /** Deal of the lines. Null: a fee of a code, or an order that was credited without a deal. */
  readonly dealId: string | null;
  /** Deal that is paid: that of the lines, or the one that owns the code, if its creator is the one who had it then. */
  readonly paidDealId: string | null;
  /**
   * Creator of the deal, owner of the code or creator of the order without a deal when the statement was closed; of the last
   * two also if only other closed lines say so. Null: unknown, or there are several.
   */
  readonly handle: string | null;
  readonly currency: string;
  readonly amount: DecimalText;
};

/** What becomes of the unpaid amounts of a creator in one currency. */
export type Unpaid = {
  /**
   * The row of payees.csv, else the handle, else the deal or the subject; `mia.test without a deal`, `order:7 without a
   * deal`.
   */
  readonly creator: string;
  readonly currency: string;
  /** Sum of the items. */
  readonly amount: DecimalText;
  readonly items: readonly UnpaidItem[];
  /**
   * `pay`: it is proposed. Otherwise it is carried forward: `no_bank_data` in payees.csv for this currency; `no_deal`:
   * its orders name no deal, and a handle alone does not say whose account it is; `below_minimum`; `not_positive`:
   * corrections prevail; `former_creator`: the deal had another creator then, of whom no row says whether they are the
   * one of today.
   */
  readonly becomes: 'pay' | 'former_creator' | 'no_bank_data' | 'no_deal' | 'below_minimum' | 'not_positive';
  /** Of the account. Null without bank data. */
  readonly accountMark: string | null;
};

/**
 * SQL: the amounts of closed statements from a month on, with what identifies them, and to whom they were closed. If a
 * statement has lines of a deal that correct what was closed to another creator (`is_former`), those of each creator
 * are an amount.
 */
export function closedAmounts({
  from,
  to,
  byBrand = false,
}: {
  readonly from: string;
  readonly to: string;
  /** Adds a column `brand_id`, and a row for each brand. */
  readonly byBrand?: boolean;
}): RawBuilder<unknown> {
  const brand = byBrand ? sql`, l.brand_id` : sql``;
  return sql`
    select statement_id, month, hash, deal_id, currency, amount, former is not null as is_former,
      case when deal_id is null or former is not null then handle else heading end as handle,
      case when bool_or(former is not null) over (partition by statement_id, deal_id)
        then concat('deal:', deal_id, ' of ', coalesce(former, ledger.fold_handle(heading), '?'))
        else coalesce('deal:' || deal_id, subject) end as subject ${byBrand ? sql`, brand_id` : sql``}
    from (
      select s.statement_id, s.month, s.hash, case when l.deal_id is null then l.subject end as subject,
        l.deal_id, l.currency, h.influencer_handle as heading, f.former,
        sum(l.amount) as amount, min(l.influencer_handle) as handle ${brand}
      from ops.statements s join ops.statement_lines l using (statement_id)
      left join ops.statement_headings h on h.statement_id = l.statement_id and h.deal_id = l.deal_id
      cross join lateral (
        select case when l.kind = 'correction' and l.deal_id is not null and l.influencer_handle <> ''
            and l.influencer_handle is distinct from h.influencer_handle
            and ledger.fold_handle(l.influencer_handle) is distinct from ledger.fold_handle(h.influencer_handle)
          then ledger.fold_handle(l.influencer_handle) end as former) f
      where s.month between ${`${from}-01`}::date and ${`${to}-01`}::date
      group by 1, 2, 3, 4, 5, 6, 7, 8 ${brand}) parts`;
}

/**
 * SQL: whether payment item `i` claims the amount `l` of `closedAmounts`; the item of a deal claims those of all its
 * creators.
 */
export const claims = sql`
  i.is_live and i.statement_id = l.statement_id and i.currency = l.currency
    and i.subject in (l.subject, 'deal:' || l.deal_id)`;

/**
 * Finds what closed statements owe and no live payment has claimed, by creator and currency. What an earlier proposal left,
 * such as an amount below the minimum, is in it again: that is how it is carried forward.
 *
 * Orders without a deal are not paid. If corrections of those of a creator prevail, or of deals and fees of codes that have
 * another creator by now, they are set off against a deal of the creator.
 */
export async function findUnpaid(
  db: Database,
  {
    month,
    from,
    minimum,
    payees,
  }: {
    month: string;
    from: string;
    minimum: Readonly<Record<string, DecimalText>>;
    payees: readonly Payee[];
  },
): Promise<readonly Unpaid[]> {
  const rows = await rowsOf<
    UnpaidItem & {
      readonly isOnSeveral: boolean | null;
      readonly hasNoDeal: boolean;
      /** Creator who has the deal now. Null: unknown, or the handle may be of several people. */
      readonly owner: string | null;
      /** Another creator has the deal now, or of two in the statement it is unknown who has it. */
      readonly hasMoved: boolean;
    }
  >(db)`
    with closed as materialized (${closedAmounts({ from, to: month })}),
    several as materialized (
      select ledger.fold_handle(influencer_handle) as handle from mirror.deals
      where influencer_handle <> ''
      group by 1
      having count(distinct coalesce(nullif(ledger.fold_platform(platform), ''), '?')) > 1),
    owed as (
    select l.statement_id as "statementId", to_char(l.month, 'YYYY-MM') as month, l.hash, l.subject,
      l.deal_id as "dealId", coalesce(l.deal_id, o.deal_id) as "paidDealId",
      -- A statement is paid to the creator to whom it was closed, whoever has the deal now. If that is unknown, it stays unknown.
      case when l.deal_id is not null then l.handle else coalesce(n.handle, o.handle) end as handle,
      l.subject like 'order:%' as "hasNoDeal",
      case when ledger.fold_handle(w.influencer_handle) not in (select handle from several)
        then w.influencer_handle end as owner,
      coalesce(ledger.fold_handle(w.influencer_handle) <> ledger.fold_handle(l.handle), l.is_former)
        as "hasMoved", l.currency, l.amount::numeric(24,4)::text as amount
    from closed l
    left join reporting.deal_owners w on w.deal_id = l.deal_id
    -- An order that is cancelled names nobody any more.
    left join lateral (
      select min(x.influencer_handle) as handle from ops.statement_lines x
      where l.deal_id is null and x.subject = l.subject and x.influencer_handle <> ''
      having count(distinct ledger.fold_handle(x.influencer_handle)) = 1) e on true
    cross join lateral (select coalesce(nullif(l.handle, ''), e.handle) as handle) n
    -- The deal of a code is paid if it is that of the creator who is named. Earlier versions named nobody.
    left join lateral (
      select o.deal_id, o.handle from (${ownerOfFee({ subject: sql`l.subject`, dealId: sql`null::text` })}) o
      where l.deal_id is null and case when n.handle is null then ${isOnlyOwner(sql`l.subject`)}
        else ledger.fold_handle(n.handle) = ledger.fold_handle(o.handle) end) o on true
    where not exists (select from ops.payment_items i where ${claims}))
    select owed.*, ledger.fold_handle(owed.handle) in (select handle from several) as "isOnSeveral" from owed
    order by month, subject, currency`;
  // A handle on several platforms may be several people, so only their deals say who they are. An unknown one may be
  // another one.
  const owed = rows.map(({ isOnSeveral, hasNoDeal, owner, hasMoved, ...row }): Owed => {
    const handle = isOnSeveral === true ? null : row.handle;
    const { currency } = row;
    const ofDeal = findPayee(payees, { dealId: row.paidDealId, handle: hasMoved ? owner : handle, currency });
    if (!hasMoved) return { item: row, handle, payee: hasNoDeal ? null : ofDeal, hasNoDeal, isFormer: false };
    const own = findPayee(payees, { dealId: null, handle, currency });
    // Two creators of a deal with one account are one person. A row of the deal alone is that of the creator of today.
    const payee = own !== null && own.iban === ofDeal?.iban ? ofDeal : own;
    return { item: { ...row, paidDealId: null }, handle, payee, hasNoDeal, isFormer: true };
  });
  // Of what was closed to the former creator of a deal or code, too, only the handle is known.
  const isOfHandle = ({ item, payee, hasNoDeal }: Owed) =>
    hasNoDeal || (payee === null && item.paidDealId === null);
  const [withoutDeal, ofDeals] = [owed.filter(isOfHandle), owed.filter((one) => !isOfHandle(one))];
  const creatorOf = ({ item, handle, payee }: Owed) =>
    payee?.creator ?? (foldHandle(handle ?? '') || (item.paidDealId ?? item.subject));
  const creators = new Map(ofDeals.map((one) => [keyOf(foldHandle(one.handle ?? ''), one), creatorOf(one)]));
  const orders = Map.groupBy(withoutDeal, (one) =>
    keyOf(foldHandle(one.item.handle ?? '') || one.item.subject, one),
  );
  const setOff = new Set([...orders.values()].filter((group) => isMore('0', sumOf(group))).flat());
  const nameOf = (one: Owed) => {
    const { item, handle, hasNoDeal } = one;
    const known = foldHandle(handle ?? '');
    if (known !== '' && setOff.has(one)) return creators.get(keyOf(known, one)) ?? known;
    if (!hasNoDeal) return creatorOf(one);
    return `${foldHandle(item.handle ?? '') || item.subject} without a deal`;
  };
  // Who owes it may be the creator of today under another handle.
  const unknownDebts = new Set(
    withoutDeal.flatMap((one) => {
      const isOpen = setOff.has(one) && !creators.has(keyOf(foldHandle(one.handle ?? ''), one));
      return one.isFormer && isOpen && isMore('0', one.item.amount) ? keyOf(one.item.dealId ?? '', one) : [];
    }),
  );
  const isUndecided = (one: Owed) => unknownDebts.has(keyOf(one.item.dealId ?? '', one));
  const groups = Map.groupBy([...ofDeals, ...withoutDeal], (one) => keyOf(nameOf(one), one));
  return [...groups.values()]
    .map((group): Unpaid => {
      // One of a deal, if there is one.
      const [first] = group;
      if (first === undefined) throw new Error('a group of amounts is empty');
      const amount = sumOf(group);
      const { currency } = first.item;
      const { payee, hasNoDeal } = first;
      return {
        creator: nameOf(first),
        currency,
        amount,
        items: group.map(({ item }) => item),
        becomes: group.some(isUndecided)
          ? 'former_creator'
          : becomesOf({ amount, payee, hasNoDeal, minimum: minimum[currency] ?? '0' }),
        accountMark: payee === null ? null : accountMark(payee.iban),
      };
    })
    .sort((one, other) => (`${one.creator} ${one.currency}` < `${other.creator} ${other.currency}` ? -1 : 1));
}

type Owed = {
  readonly item: UnpaidItem;
  /** Null: unknown, or a handle that may be of several people. */
  readonly handle: string | null;
  readonly payee: Payee | null;
  readonly hasNoDeal: boolean;
  /** It was closed to a creator who may not have the deal any more. */
  readonly isFormer: boolean;
};

/** What belongs together: of one name, in one currency. */
function keyOf(name: string, { item }: Owed): string {
  return JSON.stringify([name, item.currency]);
}

function sumOf(group: readonly Owed[]): DecimalText {
  return sumMoney(group.map(({ item }) => item.amount));
}

function becomesOf({
  amount,
  payee,
  hasNoDeal,
  minimum,
}: {
  amount: DecimalText;
  payee: Payee | null;
  hasNoDeal: boolean;
  minimum: DecimalText;
}): Unpaid['becomes'] {
  if (!isMore(amount, '0')) return 'not_positive';
  if (hasNoDeal) return 'no_deal';
  if (payee === null) return 'no_bank_data';
  return isMore(minimum, amount) ? 'below_minimum' : 'pay';
}

/** Digest of what a preview showed. If it is another one when somebody confirms, nothing is done. */
export function digestOf(unpaid: readonly Unpaid[]): string {
  const shown = unpaid.map(({ items: _items, ...one }) => one);
  return createHash('sha256').update(JSON.stringify(shown)).digest('hex').slice(0, 16);
}

/**
 * The months of a proposal: from `statements.payments.from` to the last closed one.
 *
 * @throws KnownError `payments_not_proposed` (exit 2): the first month is not set, the month is open or before the first one,
 * or a later one is closed, whose corrections would be missing.
 */
export async function requireProposable(
  db: Database,
  { month, from }: { month: string; from: string | null },
): Promise<string> {
  const refused = { where: month, safe: 'Nothing was changed.' };
  if (from === null)
    throw configurationError({
      ...refused,
      code: 'payments_not_proposed',
      message: 'It is not known which statements were paid before this tool paid any.',
      help: `Write the first month that it pays under statements: payments: {from: ${month}}. Earlier statements count as paid elsewhere.`,
    });
  if (month < from)
    throw configurationError({
      ...refused,
      code: 'payments_not_proposed',
      message: `Statements before ${from} were paid elsewhere, according to statements.payments.from.`,
      help: 'Propose a later month.',
    });
  const closed = await rowOf<{ last: string | null; isClosed: boolean | null }>(db)`
    select to_char(max(month), 'YYYY-MM') as last, bool_or(month = ${`${month}-01`}::date) as "isClosed"
    from ops.statements`;
  const last = closed?.last ?? null;
  if (closed?.isClosed !== true)
    throw configurationError({
      ...refused,
      code: 'payments_not_proposed',
      message: `The statement of ${month} is not closed.`,
      help: `Close it first:  npx influencer-sync statement close --month ${month} --reason '…'`,
    });
  if (last !== null && last > month)
    throw configurationError({
      ...refused,
      code: 'payments_not_proposed',
      message: `The statement of ${last} is closed, too. It may take back what ${month} owes.`,
      help: `Propose ${last}: that includes what is unpaid of earlier months.`,
    });
  return from;
}
