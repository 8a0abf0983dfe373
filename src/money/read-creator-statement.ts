import type { DecimalText } from '../core/money.ts';
import { foldHandle } from '../core/text/fold.ts';
import { type Database, rowOf, rowsOf } from '../db/statement.ts';
import { readStatement } from './read-statement.ts';
import type { Statement, StatementLine, StatementRules } from './statement.ts';

/** What an earlier statement said about an order or a fee. */
export type Earlier = {
  readonly subject: string;
  readonly netAmount: DecimalText | null;
  readonly ratePercent: DecimalText | null;
};

/** Everything that the statement for the creator of one deal says. */
export type DealStatement = {
  readonly dealId: string;
  readonly influencerHandle: string | null;
  /** Another creator has the deal now, so that what is known of the deal is not of this one. */
  readonly hasMoved: boolean;
  /** Handle, folded, of the former creator of the deal whose corrections it has. Null: of the creator of the deal. */
  readonly former: string | null;
  /** Former creators of the deal, of whom the month corrects something: each has a statement of their own. */
  readonly formerCreators: readonly string[];
  readonly brandId: string | null;
  /** As the account names it. Null: unknown. */
  readonly brandName: string | null;
  /** Only what is about the deal and the creator. A closed one is what was stored, so its document never changes. */
  readonly statement: Statement;
  /** What people call the orders, by entry, where an export says it. */
  readonly orderNames: ReadonlyMap<string, string>;
  /** What the last statement before said about what is corrected, by subject. */
  readonly earlier: ReadonlyMap<string, Earlier>;
};

/**
 * Reads the statement of one deal for its creator. What it corrects of a former creator is in the statement of that one.
 *
 * @param options.creator handle of a former creator. Null: of the one who has the deal, or had it when the month was closed.
 * @param options.rules not needed for a closed statement.
 * @returns null if nothing is known of such a deal, or the month corrects nothing of that creator.
 */
export async function readCreatorStatement(
  db: Database,
  {
    month,
    dealId,
    creator = null,
    rules,
  }: { month: string; dealId: string; creator?: string | null; rules: StatementRules | null },
): Promise<DealStatement | null> {
  const noRules = { terms: [], returnWindowDays: 0, timeZone: 'UTC', customersSince: {} };
  const whole = await readStatement(db, { month, rules: rules ?? noRules, dealId });
  if (rules === null && whole.closed === null)
    throw new Error('an open statement cannot be read without its rules');
  // That of the closing, if there is one. Otherwise the creator who has the deal now, by the mirror or by the codes that
  // people assigned to it; none if these name several. Its lines do not tell: an order may be another creator's by now, and
  // the service goes on paying the deal.
  const deal = await rowOf<{
    handle: string | null;
    brandId: string | null;
    brandName: string | null;
    owner: string | null;
  }>(db)`
    select handle, brand_id as "brandId", brand_name as "brandName", (
        select w.influencer_handle from reporting.deal_owners w where w.deal_id = ${dealId}) as owner
    from (
    select h.influencer_handle as handle, h.brand_id, h.brand_name, 1 as place
    from ops.statement_headings h join ops.statements s using (statement_id)
    where s.month = ${`${month}-01`}::date and h.deal_id = ${dealId}
    union all
    select w.influencer_handle, d.brand_id, b.name, 2
    from (select ${dealId}::text as deal_id) asked
    left join mirror.deals d using (deal_id) left join mirror.brands b using (brand_id)
    left join reporting.deal_owners w using (deal_id)
    where w.deal_id is not null
      or exists (select from ledger.entries e where e.deal_id = asked.deal_id)
    ) known order by place limit 1`;
  if (deal === undefined && whole.lines.length === 0) return null;
  const heading = deal?.handle ?? null;
  const formerOf = ({ kind, influencerHandle }: StatementLine): string | null => {
    const isFormer =
      kind === 'correction' && foldHandle(influencerHandle ?? '') !== foldHandle(heading ?? '');
    return isFormer ? influencerHandle : null;
  };
  const formers = new Map(
    whole.lines.flatMap((line) => formerOf(line) ?? []).map((one) => [foldHandle(one), one]),
  );
  const former =
    creator === null || foldHandle(creator) === foldHandle(heading ?? '')
      ? null
      : formers.get(foldHandle(creator));
  if (former === undefined) return null;
  const lines = whole.lines.filter((line) => foldHandle(formerOf(line) ?? '') === foldHandle(former ?? ''));
  const statement = {
    ...whole,
    lines,
    ...(former === null ? {} : { carried: [], uncounted: [], held: [], unknownFees: [] }),
  };
  const influencerHandle = former ?? heading;
  const owner = deal?.owner ?? null;
  const entryIds = lines.flatMap(({ entryId }) => entryId ?? []);
  const names = await rowsOf<{ entryId: string; name: string }>(db)`
    select e.entry_id as "entryId", max(o.order_name) as name
    from ledger.entries e
      join intake.orders o on o.source = e.source and o.order_id = e.order_id and o.is_current
    where e.entry_id = any(${entryIds}::bigint[]) and o.order_name is not null group by 1`;
  const corrected = lines.flatMap(({ kind, subject }) => (kind === 'correction' ? subject : []));
  const earlier = await rowsOf<Earlier>(db)`
    select distinct
      on (l.subject) l.subject, l.net_amount::numeric(18,4)::text as "netAmount",
      trim_scale(l.rate_percent)::text as "ratePercent"
    from ops.statement_lines l join ops.statements s using (statement_id)
    where l.subject = any(${corrected}::text[]) and s.month < ${`${month}-01`}::date
    order by l.subject, s.month desc`;
  return {
    dealId,
    influencerHandle,
    former: former === null ? null : foldHandle(former),
    formerCreators: [...formers.values()],
    hasMoved: owner === null ? former !== null : foldHandle(owner) !== foldHandle(influencerHandle ?? owner),
    brandId: deal?.brandId ?? lines.find(({ brandId }) => brandId !== null)?.brandId ?? null,
    brandName: deal?.brandName ?? null,
    statement: { ...statement, held: statement.held.filter((one) => one.dealId === dealId) },
    orderNames: new Map(names.map(({ entryId, name }) => [entryId, name])),
    earlier: new Map(earlier.map((one) => [one.subject, one])),
  };
}
