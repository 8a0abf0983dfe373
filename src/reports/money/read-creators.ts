import { type RawBuilder, sql } from 'kysely';
import { countOf, type Database, rowsOf } from '../../db/statement.ts';
import { feesOf, isUnknown, OWNER_OF_ORDER } from '../../money/read-statement.ts';
import type { StatementRules } from '../../money/statement.ts';
import type { OwnedCode } from '../codes/list-codes.ts';
import { isOfDeals, type NamedCreator, type ReturnParts } from './list-returns.ts';

/** Net revenue of a creator in a month, without the orders for which it is unknown. */
export type CreatorMonth = {
  /** The handle in lower case. */
  readonly creator: string;
  readonly month: string;
  readonly currency: string;
  readonly net: string;
};

/** Sums the net revenue of the creators of a page by month, as of the last refresh of the reports. */
export function listCreatorMonths(
  db: Database,
  { parts, from }: { parts: readonly ReturnParts[]; from: string | null },
) {
  return rowsOf<CreatorMonth>(db)`
    select lower(influencer_handle) as creator, to_char(month_utc, 'YYYY-MM') as month, currency,
      coalesce(sum(net_at_least_amount), 0)::text as net
    from bi.returns_monthly
    where lower(influencer_handle) = any(${parts.map(({ key }) => key)}::text[]) and ${isOfDeals(parts)}
      and (${from}::text is null or month_utc >= (${from}::text || '-01')::date)
    group by 1, 2, 3 order by 1, 2, 3`;
}

/**
 * Lists the deals that name a creator: in the mirror, with a code, in closed statements, or in the sums of orders. Another
 * creator may have them now. One is empty if orders whose deal is not known name the creator.
 */
export async function listNamedDeals(
  db: Database,
  { handle, spellings }: { handle: string; spellings: readonly string[] },
): Promise<readonly string[]> {
  const isNamed = sql`influencer_handle = any(${[...spellings]}::text[])`;
  const rows = await rowsOf<{ dealId: string }>(db)`
    select deal_id as "dealId" from mirror.deal_versions where is_latest and ${isNamed}
    union select deal_id from intake.codes where deal_id is not null and ${isNamed}
    union select deal_id from ops.statement_headings
    where ledger.fold_handle(influencer_handle) = ledger.fold_handle(${handle}::text)
    union select deal_id from reporting.return_months where ${isNamed}
    union select deal_id from reporting.deal_earnings where ${isNamed}`;
  return rows.map(({ dealId }) => dealId);
}

/** SQL: who has the deals that name a creator, as `w`. */
function ownersOf({ deals }: NamedCreator): RawBuilder<unknown> {
  return sql`(select * from reporting.deal_owners where deal_id = any(${[...deals]}::text[])) w`;
}

/** Lists the deals of which credited orders name a creator, whether or not the mirror knows them. */
export async function listCreatorDeals(
  db: Database,
  { creator, limit }: { creator: NamedCreator; limit: number },
): Promise<readonly string[]> {
  const rows = await rowsOf<{ dealId: string }>(db)`
    select distinct deal_id as "dealId"
    from reporting.return_months r left join ${ownersOf(creator)} using (deal_id)
    where deal_id <> '' and deal_id = any(${[...creator.deals]}::text[])
      and coalesce(w.influencer_handle, r.influencer_handle) = any(${[...creator.spellings]}::text[])
    order by 1
    limit ${limit}::bigint`;
  return rows.map(({ dealId }) => dealId);
}

/** What one deal of a creator brings them in the statement of one month. */
export type CreatorStatement = {
  readonly month: string;
  /** Empty if unknown. */
  readonly dealId: string;
  readonly currency: string;
  readonly orders: number;
  readonly amount: string;
  /** It corrects what was closed to them, and another creator has the deal: their document is not that of the deal. */
  readonly isFormer: boolean;
  /** Ids of the payments that pay it, whatever became of them. */
  readonly payments: readonly string[];
  /** When the statement was closed; null while it is open. */
  readonly closedAt: Date | null;
};

/**
 * Lists what closed statements contain for a creator, who had the deal when it was closed or was paid back then, and,
 * as of the last refresh of the reports, what the open ones will; newest month first. What came too late for a closed
 * month is in the one after it.
 *
 * @param options.handle the creator's handle, in any spelling.
 * @param options.fees the month until whose end fixed fees of deals are due, and the rules that state them. Those of
 *   codes are of no deal, so no statement for a creator has them. Null: the rules cannot be read.
 */
export function listCreatorStatements(
  db: Database,
  {
    handle,
    creator,
    fees,
    limit,
  }: {
    handle: string;
    creator: NamedCreator;
    fees: { readonly rules: StatementRules; readonly month: string } | null;
    limit: number;
  },
) {
  const folded = sql`ledger.fold_handle(${handle}::text)`;
  return rowsOf<CreatorStatement>(db)`
    with ${fees === null ? sql`` : sql`${feesOf(fees.rules, fees)},`}
    open as (
      select due_month, deal_id, currency, case standing when 'new' then orders else 0 end as orders,
        earned_amount - closed_amount as amount,
        coalesce(ledger.fold_handle(w.influencer_handle) <> ${folded}, false) as is_former
      from reporting.deal_earnings o left join ${ownersOf(creator)} using (deal_id)
      where deal_id = any(${[...creator.deals]}::text[])
        and ${OWNER_OF_ORDER} = any(${[...creator.spellings]}::text[]) and standing in ('new', 'correction')
      ${
        fees === null
          ? sql``
          : sql`
      union all
      select date_trunc('month', due_on)::date, deal_id, currency, 0, earned_amount - closed_before, false
      from fee_lines
      where deal_id is not null
        and ledger.fold_handle(influencer_handle) = ${folded}
        and earned_amount <> closed_before`
      }
    )
    select to_char(greatest(due_month, c.next), 'YYYY-MM') as month, deal_id as "dealId", currency,
      sum(orders)::float8 as orders,
      sum(amount)::text as amount, bool_or(is_former) as "isFormer", null::timestamptz as "closedAt",
      '{}'::text[] as payments
    from open, (select (max(month) + interval '1 month')::date as next from ops.statements) c
    group by 1, 2, 3
    union all
    select to_char(s.month, 'YYYY-MM'), d.deal_id, d.currency, l.orders, l.amount::text,
      ledger.fold_handle(h.influencer_handle) is distinct from ${folded}, s.closed_at, array(
      select distinct i.payment_id::text from ops.payment_items i
      where i.statement_id = s.statement_id and i.currency = d.currency
        and i.subject in ('deal:' || d.deal_id, concat('deal:', d.deal_id, ' of ', ${folded})))
    from reporting.statement_deals d
    join ops.statements s using (statement_id)
    left join ops.statement_headings h on h.statement_id = s.statement_id and h.deal_id = d.deal_id
    -- What corrects the lines of a former creator is theirs. If it was unknown whose deal it was, it belongs to no
    -- creator. The handle may have been spelled otherwise then.
    cross join lateral (
      select count(*) filter (where l.kind = 'order')::float8 as orders, sum(l.amount) as amount
      from ops.statement_lines l
      where l.statement_id = d.statement_id and l.currency = d.currency and l.deal_id = d.deal_id
        and ledger.fold_handle(case when l.kind = 'correction' and l.influencer_handle <> ''
            then l.influencer_handle else h.influencer_handle end) = ${folded}
      having count(*) > 0) l
    where d.deal_id = any(${[...creator.deals]}::text[])
    order by month desc, "closedAt" nulls first, "dealId", currency limit ${limit}::bigint`;
}

/**
 * Counts the accepted orders of which it is unknown what they earn, as of the last refresh of the reports. They are in
 * no line of an open statement.
 *
 * @param creator null: of all.
 */
export async function countUnknownEarnings(db: Database, creator: NamedCreator | null): Promise<number> {
  const ofCreator = (of: NamedCreator) => sql`
    left join ${ownersOf(of)} using (deal_id)
    where deal_id = any(${[...of.deals]}::text[])
      and ${OWNER_OF_ORDER} = any(${[...of.spellings]}::text[]) and`;
  return countOf(db)`
    select coalesce(sum(orders), 0) as count from reporting.deal_earnings o
    ${creator === null ? sql`where` : ofCreator(creator)} ${isUnknown}`;
}

/** A code of a creator, with the time in which it is theirs. */
export type CreatorCode = Pick<
  OwnedCode,
  'code' | 'validFrom' | 'validTo' | 'validFromText' | 'validToText'
> & {
  /** The jobs that know it. */
  readonly jobs: readonly string[];
};

/** Lists the codes that name a creator or one of their deals, as the last run of each job loaded them. */
export function listCreatorCodes(
  db: Database,
  { creator, deals, limit }: { creator: string; deals: readonly string[]; limit: number },
) {
  return rowsOf<CreatorCode>(db)`
    select code, array_agg(distinct job order by job) as jobs, valid_from as "validFrom",
      valid_to as "validTo", valid_from_text as "validFromText", valid_to_text as "validToText"
    from intake.codes
    where code is not null and (handle_folded = ${creator} or deal_id = any(${[...deals]}::text[]))
    group by code, valid_from, valid_to, valid_from_text, valid_to_text order by code, valid_from limit ${limit}`;
}
