import { type RawBuilder, sql } from 'kysely';
import { EXIT } from '../core/exit-code.ts';
import { KnownError } from '../core/known-error.ts';
import type { DecimalText } from '../core/money.ts';
import { lastDayOf } from '../core/time/month.ts';
import { type DatabaseTransaction, inTransaction } from '../db/in-transaction.ts';
import { suitLargeStatements } from '../db/large-statements.ts';
import { type Database, rowOf, rowsOf, toJsonParameter } from '../db/statement.ts';
import type { Exchange } from './convert-lines.ts';
import { closedTo, findKept, type Kept, keptOrders, onlyHandle, standingOrders } from './kept-earnings.ts';
import { ratedOrders } from './rated-orders.ts';
import type {
  Carried,
  HeldOrders,
  Statement,
  StatementLine,
  StatementRules,
  Terms,
  UncountedOrders,
  UnknownFee,
} from './statement.ts';

/** A month, and the deal of which only the lines are wanted; null: all. */
type Wanted = { readonly month: string; readonly dealId?: string | null };

/**
 * How statements determine what was earned (see `ratedOrders`).
 *
 * A statement does not select what happened within its month. It has a line for each order whose earnings differ
 * from the total of all closed statements. So anything late (a refund, a file, a settled doubt, corrected terms)
 * is automatically in the next statement, and nothing is counted twice.
 *
 * @param kept what `inSets` found to be usable. Null: all orders are computed.
 */
export function linesOf(
  rules: StatementRules,
  { month, dealId = null }: Wanted,
  kept: Kept | null = null,
): RawBuilder<unknown> {
  const texts = rules.terms.map(({ line, text }) => ({ line, text }));
  return sql`
    with ${kept === null ? computedOrders(rules, { month, dealId }) : keptOrders(rules, { kept, dealId })},
    ${feesOf(rules, { month, dealId })},
    texts as materialized (
      select t.line, concat('line ', t.line, ': ', t.text) as said
      from jsonb_to_recordset(${toJsonParameter(texts)}::jsonb) as t (line integer, text text)
    ),
    found as (
      select l.*, case when cardinality(l.terms_lines) > 1 then (
          select string_agg(t.said, '; ' order by t.line) from texts t where t.line = any (l.terms_lines))
            else t.said end as terms_text
      from (
        select case standing when 'new' then 'order' else 'correction' end as kind,
          'order:' || entry_id as subject, entry_id, source,
          order_platform, order_id, ordered_on, due_on, deal_id, collab_id, brand_id,
          ${OWNER_OF_ORDER} as influencer_handle, currency, sent_amount, net_amount,
          nullif(excluded_amount, 0) as excluded_amount, rate_percent, rate_from, terms_lines, earned_amount,
          coalesce(closed_amount, 0) as closed_before
        from orders o left join reporting.deal_owners w using (deal_id)
        where standing in ('new', 'correction') and (due_on <= ${lastDay(month)} or standing = 'correction')
        union all
        select kind, subject, null, null, null, null, null, due_on, deal_id, null, brand_id,
          influencer_handle, currency, null, null, null, null, null,
          case when line is not null then array[line] end, earned_amount, closed_before
        from fee_lines) l
      left join texts t on t.line = l.terms_lines[1]
    ),
    ${carriedLines(minimumsOf(rules, month))}`;
}

/**
 * SQL: the creator of an order `o`, or of a row of `reporting.deal_earnings`: to whom it was closed, otherwise who has
 * its deal (`w` of `reporting.deal_owners`), otherwise to whom it was posted.
 */
export const OWNER_OF_ORDER = sql`
  case
    when o.standing = 'correction' and o.influencer_handle <> '' or w.influencer_handle is null
      then o.influencer_handle
    else w.influencer_handle end`;

/** A minimum payout. Null: of every deal without one of its own. */
type Minimum = {
  readonly deal_id: string | null;
  readonly currency: string | null;
  readonly minimum: DecimalText;
};

/** The minimum payouts on the last day of a month. */
export function minimumsOf({ terms }: StatementRules, month: string): readonly Minimum[] {
  const isIn = ({ validFrom, validTo }: Terms) =>
    (validFrom ?? month).slice(0, 7) <= month && (validTo === null || validTo >= lastDayOf(month));
  return terms
    .filter(isIn)
    .flatMap(({ dealId, currency, minPayout: minimum }) =>
      minimum === null ? [] : [{ deal_id: dealId, currency, minimum }],
    );
}

/**
 * SQL: the `lines` that are found and paid, and the deals `carried` forward, whose lines come to less than their minimum.
 * What must be taken back is never carried: otherwise a deal without new orders would keep it. Nor is what corrects the
 * lines of a former creator, whom the minimum of the deal does not concern.
 */
function carriedLines(minimums: readonly Minimum[]): RawBuilder<unknown> {
  if (minimums.length === 0)
    return sql`
      carried as (select null as deal_id, null as currency, null as influencer_handle,
        null::numeric as amount, null::numeric as minimum
        where false),
      lines as (select * from found)`;
  return sql`
    minimums as materialized (
      select *
      from jsonb_to_recordset(${toJsonParameter(minimums)}::jsonb) as m (deal_id text, currency text,
        minimum numeric)
    ),
    owned as materialized (
      select f.*, coalesce(f.kind = 'correction' and f.influencer_handle <> ''
        and ledger.fold_handle(f.influencer_handle) <> ledger.fold_handle(w.influencer_handle), false)
          as is_former
      from found f left join reporting.deal_owners w using (deal_id)
    ),
    carried as materialized (
      select f.*, coalesce(own.minimum, every.minimum) as minimum
      from (
        select deal_id, currency,
          ${onlyHandle(sql`influencer_handle`)} as influencer_handle,
          sum(earned_amount - closed_before) as amount from owned
        where deal_id is not null and earned_amount <> closed_before and not is_former group by 1, 2) f
      left join minimums own on own.deal_id = f.deal_id and own.currency = f.currency
      left join minimums every on every.deal_id is null and every.currency = f.currency
      where f.amount >= 0 and f.amount < coalesce(own.minimum, every.minimum)
    ),
    lines as (
      select f.*
      from owned f
      where is_former
        or not exists (select from carried c where c.deal_id = f.deal_id and c.currency = f.currency)
    )`;
}

/** The columns of `Carried`, of `carried`. */
export const carriedColumns = sql`
  deal_id as "dealId", influencer_handle as "influencerHandle", currency,
  amount::numeric(18,4)::text as amount, minimum::numeric(18,4)::text as minimum`;

/** Reads what is carried forward. @param lines `linesOf` of the month. */
export function readCarried(db: Database, lines: RawBuilder<unknown>): Promise<readonly Carried[]> {
  return rowsOf<Carried>(db)`${lines} select ${carriedColumns} from carried order by deal_id, currency`;
}

/** The last day of a month such as `2026-10`. */
export function lastDay(month: string): RawBuilder<Date> {
  return sql`(${`${month}-01`}::date + interval '1 month' - interval '1 day')::date`;
}

/** SQL: `orders` like `keptOrders`, computed from all accepted orders. */
function computedOrders(
  rules: StatementRules,
  { month, dealId }: { month: string; dealId: string | null },
): RawBuilder<unknown> {
  const ofDeal = sql`
    wanted as materialized (select entry_id from ledger.entries
      where deal_id = ${dealId} and effect = 'referral' and state = 'accepted'),
    ${ratedOrders(rules, sql`select entry_id from wanted`)}`;
  return sql`
    ${dealId === null ? ratedOrders(rules) : ofDeal},
    closed_orders as (
      select l.entry_id, sum(l.amount) as amount, ${closedTo} as handle
      from ops.statement_lines l join ops.statements s using (statement_id)
        left join ops.statement_headings h using (statement_id, deal_id)
      where s.month < ${`${month}-01`}::date and l.entry_id is not null
        and (${dealId}::text is null or l.deal_id = ${dealId})
      group by l.entry_id
    ),
    orders as (${standingOrders(sql`closed_orders c using (entry_id)`)})`;
}

/**
 * SQL: `fee_lines`, the lines of fixed fees, and `unknown_fees`, those that are not paid because their deal or code is
 * unknown. Fees are few, so they are always computed. A fee is compared with what was closed in its currency. If the
 * terms now state another one, there is a line for each currency. A fee that was closed is in force whether its deal is
 * still known or not. Brand and influencer are those of the deal, or of the one that owns the code. What corrects a closed
 * fee has the brand and the influencer of the closed lines, whoever has the deal or code by now: a creator pays back
 * what that creator was paid. If it is unknown who owned a code, it stays unknown.
 */
export function feesOf(rules: StatementRules, { month, dealId = null }: Wanted): RawBuilder<unknown> {
  const fees = rules.terms.filter(
    (row) => row.fixedFee !== null && (dealId === null || row.dealId === dealId),
  );
  return sql`
    fees as (
      select concat('fee:', coalesce('deal ' || "dealId", 'code ' || "codeFolded"), ':',
        "validFrom") as subject,
        "validFrom" as due_on,
        "dealId" as deal_id, "codeFolded" as code, currency, "fixedFee" as earned_amount, line
      from jsonb_to_recordset(${toJsonParameter(fees)}::jsonb)
        as f (line integer, "dealId" text, "codeFolded" text, "validFrom" date, currency text,
          "fixedFee" numeric)
    ),
    closed_lines as materialized (
      select l.* from ops.statement_lines l join ops.statements s using (statement_id)
      where s.month < ${`${month}-01`}::date and l.entry_id is null
        and (${dealId}::text is null or l.deal_id = ${dealId})
    ),
    closed_fees as (
      select subject, currency, sum(amount) as amount, min(due_on) as due_on, min(deal_id) as deal_id
      from closed_lines
      group by 1, 2
    ),
    closed_owners as (
      select subject,
        ${onlyHandle(sql`influencer_handle`)} as handle,
        case when count(distinct coalesce(brand_id, '')) = 1 then nullif(min(brand_id), '') end as brand_id
      from closed_lines group by 1
    ),
    owed_fees as (
      select f.*,
        case when f.subject in (select subject from closed_fees) then true else ${isKnown} end as is_known
      from fees f where f.due_on <= ${lastDay(month)} or f.subject in (select subject from closed_fees)
    ),
    unknown_fees as (select deal_id, code, due_on, currency, earned_amount from owed_fees where not is_known),
    due_fees as (
      select case when c.subject is null then 'fixed_fee' else 'correction' end as kind, f.subject, f.due_on,
        f.deal_id, f.currency, f.earned_amount, coalesce(c.amount, 0) as closed_before, f.line
      from owed_fees f left join closed_fees c on c.subject = f.subject and c.currency = f.currency
      where f.is_known and (f.due_on <= ${lastDay(month)} or c.subject is not null)
      union all
      -- A fee that the terms no longer contain.
      select 'correction', c.subject, c.due_on, c.deal_id, c.currency, 0, c.amount, null
      from closed_fees c
      where not exists (select from fees f where f.subject = c.subject and f.currency = c.currency)
    ),
    fee_lines as (
      select f.*, case when c.subject is null then o.brand_id else c.brand_id end as brand_id,
        case when c.subject is null then o.handle
          else coalesce(c.handle,
            case when f.deal_id is not null or ${isOnlyOwner(sql`f.subject`)} then o.handle end) end
          as influencer_handle
      from due_fees f
      left join closed_owners c on c.subject = f.subject
      cross join lateral (${ownerOfFee({ subject: sql`f.subject`, dealId: sql`f.deal_id` })}) o
    )`;
}

const codeOf = (subject: RawBuilder<unknown>) => sql`substring(${subject} from '^fee:code (.*):[^:]*$')`;

/**
 * SQL: one row with `deal_id`, `handle` and `brand_id` of a fee by the codes and the mirror of today. If several own its
 * code, or it is no fee, they are null.
 *
 * @param options.dealId null: the fee is of a code.
 */
export function ownerOfFee({
  subject,
  dealId,
}: {
  subject: RawBuilder<unknown>;
  dealId: RawBuilder<unknown>;
}): RawBuilder<unknown> {
  return sql`
    select d.deal_id, coalesce(w.influencer_handle, k.handle) as handle,
      nullif(m.brand_id, '') as brand_id
    from (select 1) one
    left join lateral (
      select min(nullif(influencer_handle, '')) as handle, min(nullif(deal_id, '')) as deal_id
      from intake.codes c
      where c.deal_id = ${dealId} or ${dealId} is null and c.code_folded = ${codeOf(subject)}
      having count(distinct coalesce(handle_folded, '')) = 1 and count(distinct coalesce(deal_id, '')) = 1) k
        on true
    cross join lateral (select coalesce(${dealId}, k.deal_id) as deal_id) d
    left join reporting.deal_owners w on w.deal_id = d.deal_id
    left join mirror.deals m on m.deal_id = d.deal_id`;
}

/**
 * Condition: neither an assignment in the console, a credited order nor a closed line says that the code of a fee was ever
 * of another owner than `o`, that of today (`ownerOfFee`). codes.csv does not say who owned a code before.
 */
export function isOnlyOwner(subject: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`not exists (
    select from (
      select deal_id, influencer_handle as handle
      from intake.code_assignments
      where code_folded = ${codeOf(subject)}
      union all
      select e.deal_id, t.influencer_handle from intake.attributions t join ledger.entries e using (entry_id)
      where t.matched_by = 'code' and ledger.fold_handle(t.matched_value) = ltrim(${codeOf(subject)}, '@')
      union all
      select null, influencer_handle
      from ops.statement_lines x
      where x.subject = ${subject} and influencer_handle <> '') x
    where (case
        when x.handle <> ''
          and o.handle is not null then ledger.fold_handle(x.handle) = ledger.fold_handle(o.handle)
      else reporting.deal_id_of(x.deal_id) = reporting.deal_id_of(o.deal_id) end) is not true)`;
}

/**
 * Condition: the deal of the fee `f` was read by the mirror at any time, owns a code or link, belongs to a creator of a
 * list, or was credited; or its code is in a codes.csv or was the evidence of an order. A code that is in no codes.csv
 * is compared without regard to case, which at worst leaves a fee unknown. The cheapest questions come first.
 */
const isKnown = sql`(
  exists (select from mirror.deal_versions d where d.deal_id = f.deal_id and d.is_latest)
  or exists (select from intake.creators c where c.deal_id = f.deal_id)
  or exists (select from intake.codes c where c.deal_id = f.deal_id or c.code_folded = f.code)
  or f.deal_id is not null and exists (select from ledger.entries e where e.deal_id = f.deal_id)
  or f.code is not null and exists (
    select from intake.attributions t
    where t.matched_by = 'code' and t.entry_id is not null and lower(t.matched_value) = f.code))`;

/**
 * Reads a closed statement from storage, or its lines of one deal. Null if the month is open. It needs no rules, which
 * may be broken by now.
 */
export async function readClosed(
  db: Database,
  month: string,
  dealId: string | null = null,
): Promise<Statement | null> {
  const closed = await findClosed(db, month);
  if (closed === null) return null;
  const lines = await rowsOf<StatementLine>(db)`
    select ${columns}
    from ops.statement_lines l
    where statement_id = ${closed.statementId}::bigint and (${dealId}::text is null or l.deal_id = ${dealId})
    order by line_no`;
  const { timeZone, returnWindowDays, carried, ...closing } = closed;
  const exchange = await readClosedExchange(db, closed.statementId);
  return {
    month,
    closed: closing,
    exchange,
    timeZone,
    returnWindowDays,
    lines,
    carried: dealId === null ? carried : carried.filter((one) => one.dealId === dealId),
    uncounted: [],
    held: [],
    unknownFees: [],
  };
}

/** Reads a statement, or its lines of one deal, as it was closed; for an open month, what closing it would write now. */
export async function readStatement(
  db: Database,
  { month, rules, dealId = null }: Wanted & { readonly rules: StatementRules },
): Promise<Statement> {
  const closed = await readClosed(db, month, dealId);
  if (closed !== null) return closed;
  const { timeZone, returnWindowDays } = rules;
  return inSets(db, { month, rules }, async (trx, kept) => {
    const all = linesOf(rules, { month, dealId }, kept);
    return {
      month,
      closed: null,
      exchange: null,
      timeZone,
      returnWindowDays,
      lines: await rowsOf<StatementLine>(trx)`
        ${all}
        select ${columns}
        from (select *, earned_amount - closed_before as amount from lines) l
        where amount <> 0 ${inOrder}`,
      uncounted: await rowsOf<UncountedOrders>(trx)`${all} ${uncountedOrders(month)}`,
      carried: minimumsOf(rules, month).length === 0 ? [] : await readCarried(trx, all),
      held: await listHeld(trx),
      unknownFees: await listUnknownFees(trx, { month, rules, dealId }),
    };
  });
}

/** Lists the fees of an open month that are not paid, because their deal or code is unknown. */
export function listUnknownFees(
  db: Database,
  { rules, ...wanted }: Wanted & { readonly rules: StatementRules },
): Promise<readonly UnknownFee[]> {
  return rowsOf<UnknownFee>(db)`
    with ${feesOf(rules, wanted)}
    select deal_id as "dealId", code, ${day('due_on')} as "dueOn", currency,
      earned_amount::numeric(18,4)::text as amount
    from unknown_fees order by deal_id nulls last, code, due_on, currency`;
}

/**
 * SQL: the entries that were held, and of which the last adjustment `l` is such, with that adjustment. Looked up one by
 * one, as few are held.
 */
export function onceHeld(isSuch: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`
  select h.entry_id, l.adjustment_id
  from (select distinct entry_id from ledger.adjustments where kind = 'held' and not is_elsewhere) h
  cross join lateral (
    select l.adjustment_id, l.kind, l.is_decision
    from ledger.adjustments l
    where l.entry_id = h.entry_id and not l.is_elsewhere
    order by l.adjustment_id + 0 desc
    limit 1) l
  where ${isSuch}`;
}

/**
 * Lists accepted orders whose newest state is unknown since their last adjustment, by deal and currency. There are few
 * of them.
 */
export function listHeld(db: Database): Promise<readonly HeldOrders[]> {
  return rowsOf<HeldOrders>(db)`
    select e.deal_id as "dealId", e.currency, count(*)::integer as orders,
      sum(e.amount)::numeric(24,4)::text as "sentAmount"
    from (${onceHeld(sql`l.kind = 'held'`)}) d
    join ledger.entries e using (entry_id)
    where e.effect = 'referral' and e.state = 'accepted' and e.attempt > 0
    group by 1, 2 order by 1 nulls last, 2`;
}

/**
 * Runs the queries of an open month in a transaction for large statements. They join all accepted orders, and with
 * nested loops that takes hours. All of them see the same snapshot, and may use the kept earnings (`findKept`).
 *
 * In a transaction of the caller, which may have another snapshot for each statement, all orders are computed.
 */
export function inSets<Result>(
  db: Database,
  of: { readonly month: string; readonly rules: StatementRules },
  work: (trx: DatabaseTransaction, kept: Kept | null) => Promise<Result>,
): Promise<Result> {
  if (db.isTransaction)
    return inTransaction(db, async (trx) => {
      await suitLargeStatements(trx);
      return work(trx, null);
    });
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (trx) => {
      await suitLargeStatements(trx);
      return work(trx, await findKept(trx, of));
    });
}

/** Condition: it is unknown what an order earns. Written as in the index of `reporting.deal_earnings`. */
export const isUnknown = sql`standing like 'unknown%'`;

/** Why an order is in no line. */
export const WHY = sql`case standing when 'new' then 'pending' else standing end`;

/** Condition: an order is in no line. `due` and `ordered` say that it is due, or was placed, by then. */
export const isUncounted = (due: RawBuilder<unknown>, ordered: RawBuilder<unknown>) =>
  sql`(${ordered} and (${isUnknown} or standing = 'new' and not ${due}))`;

/** The accepted orders that earn something, or of which that is unknown, in no line of an open statement. Needs `linesOf`. */
export function uncountedOrders(month: string): RawBuilder<unknown> {
  const isDue = sql`due_on <= ${lastDay(month)}`;
  return sql`
    select ${WHY} as why,
      deal_id as "dealId",
      ${onlyHandle(OWNER_OF_ORDER)} as "influencerHandle", currency, count(*)::integer as orders,
      (count(*) filter (where ${isDue}))::integer as "dueOrders",
      sum(net_amount)::numeric(24,4)::text as "netAmount",
      case
        when bool_and(earned_amount is not null)
          then sum(earned_amount)::numeric(24,4)::text end as "earnedAmount"
    from orders o left join reporting.deal_owners w using (deal_id)
    where ${isUncounted(isDue, sql`ordered_on <= ${lastDay(month)}`)}
    group by 1, 2, 4 order by 1, 2 nulls last, 4`;
}

/** Sorts lines by deal, currency and day, for readers. */
export const inOrder = sql`order by deal_id nulls last, currency, due_on, kind, subject`;

const day = (column: string) => sql`to_char(${sql.ref(column)}, 'YYYY-MM-DD')`;

/** The columns of a line `l`. */
export const columns = sql`
  l.kind, l.subject, l.entry_id as "entryId", l.source, l.order_platform as "orderPlatform",
  l.order_id as "orderId",
  ${day('l.ordered_on')} as "orderedOn", ${day('l.due_on')} as "dueOn", l.deal_id as "dealId",
  l.collab_id as "collabId", l.brand_id as "brandId", l.influencer_handle as "influencerHandle", l.currency,
  l.sent_amount::numeric(18,4)::text as "sentAmount", l.net_amount::numeric(18,4)::text as "netAmount",
  l.excluded_amount::numeric(18,4)::text as "excludedAmount",
  trim_scale(l.rate_percent)::text as "ratePercent", l.rate_from as "rateFrom",
  l.terms_lines as "termsLines", l.terms_text as "termsText",
  l.earned_amount::numeric(18,4)::text as "earnedAmount",
  l.closed_before::numeric(18,4)::text as "closedBefore", l.amount::numeric(18,4)::text as amount`;

type Closed = NonNullable<Statement['closed']> & Pick<Statement, 'timeZone' | 'returnWindowDays' | 'carried'>;

/** @returns null if the month is open. */
export async function findClosed(db: Database, month: string): Promise<Closed | null> {
  const closed = await rowOf<Closed>(db)`
    select statement_id as "statementId", closed_by as by, closed_at as at, hash, time_zone as "timeZone",
      return_window_days as "returnWindowDays",
      -- Those closed by earlier versions name no influencer.
      coalesce((select jsonb_agg('{"influencerHandle": null}' || c) from jsonb_array_elements(carried) c),
        '[]') as carried
    from ops.statements where month = ${`${month}-01`}::date`;
  return closed ?? null;
}

/**
 * Of an open month before a closed one, no statement can be made: the closed one has its orders, and would be paid twice.
 *
 * @throws KnownError `statement_contained` (exit 2) that names the closed one.
 */
export async function refuseContained(db: Database, month: string): Promise<void> {
  const open = await rowOf<{ later: string | null }>(db)`
    select to_char(min(month), 'YYYY-MM') as later from ops.statements
    where month > ${`${month}-01`}::date
      and not exists (select from ops.statements where month = ${`${month}-01`}::date)`;
  const later = open?.later ?? null;
  if (later !== null)
    throw new KnownError({
      code: 'statement_contained',
      message: `The statement of ${later} is closed, and it includes the orders of ${month}.`,
      where: month,
      help: `See it with  npx influencer-sync statement --month ${later}`,
      safe: 'Nothing was changed.',
      exitCode: EXIT.configuration,
    });
}

/** Reads the exchange rates with which a statement was closed. Null if it has no total of all currencies. */
export async function readClosedExchange(db: Database, statementId: string): Promise<Exchange | null> {
  const exchange = await rowOf<Exchange>(db)`
    select s.reporting_currency as "reportingCurrency", coalesce((
      select jsonb_agg(jsonb_build_object('currency', l.currency, 'day', to_char(l.due_on, 'YYYY-MM-DD'),
          'rate', l.exchange_rate::text))
      from (
        select distinct currency, due_on, exchange_rate from ops.statement_lines
        where statement_id = ${statementId}::bigint and exchange_rate is not null) l), '[]') as rates
    from ops.statements s where s.statement_id = ${statementId}::bigint and s.reporting_currency is not null`;
  return exchange ?? null;
}
