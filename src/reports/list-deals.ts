import { sql } from 'kysely';
import { type Database, rowOf, rowsOf } from '../db/statement.ts';
import type { Page } from './wanted-rows.ts';

export type ListedDeal = {
  readonly dealId: string;
  readonly influencerHandle: string | null;
  readonly platform: string | null;
  readonly brandId: string | null;
  readonly brandName: string | null;
  readonly dealflowName: string | null;
  readonly isActive: boolean | null;
  readonly funnelStep: number | null;
  readonly totalClicks: string | null;
  readonly totalReferrals: string | null;
  readonly totalSales: string | null;
  readonly totalPayouts: string | null;
  readonly totalCommission: string | null;
  readonly totalFixedFee: string | null;
  readonly isDeleted: boolean;
  readonly firstSeenAt: Date;
  readonly changedAt: Date;
  readonly syncedAt: Date | null;
};

/** SQL for what a deal and each of its versions have. */
const versioned = sql`
  influencer_handle as "influencerHandle", platform, brand_id as "brandId", is_active as "isActive",
  funnel_step as "funnelStep", total_clicks as "totalClicks", total_referrals as "totalReferrals",
  total_sales_in_account_currency as "totalSales", total_payouts_in_account_currency as "totalPayouts",
  total_commission_in_account_currency as "totalCommission",
  total_fixed_fee_in_account_currency as "totalFixedFee"`;

const columns = sql`
  deal_id as "dealId", brand_name as "brandName", dealflow_name as "dealflowName", ${versioned},
  is_deleted as "isDeleted", first_seen_at as "firstSeenAt", changed_at as "changedAt",
  synced_at as "syncedAt"`;

/** How a deal stands at the service, as the mirror last read it. What the service does not say is unknown, and not active. */
export function stateOfDeal({
  isActive,
  isDeleted,
}: Pick<ListedDeal, 'isActive' | 'isDeleted'>): 'active' | 'inactive' | 'gone' | 'unknown' {
  if (isDeleted) return 'gone';
  return isActive === null ? 'unknown' : isActive ? 'active' : 'inactive';
}

/** Lists the deals in the mirror by id. */
export function listDeals(
  db: Database,
  options: Page & {
    /** Part of the handle. */
    readonly handle?: string | null;
    /** Spellings of one handle (`spellingsOf`). */
    readonly spellings?: readonly string[] | null;
    readonly brand?: string | null;
    readonly state?: 'active' | 'inactive' | 'gone' | null;
  },
) {
  const { limit, after = null, handle = null, spellings = null, brand = null, state = null } = options;
  const only =
    state === null
      ? sql`true`
      : {
          active: sql`is_active and not is_deleted`,
          inactive: sql`is_active is not true and not is_deleted`,
          gone: sql`is_deleted`,
        }[state];
  return rowsOf<ListedDeal>(db)`
    select ${columns} from bi.deals
    where (${after}::text is null or deal_id > ${after}) and (${brand}::text is null or brand_id = ${brand})
      and (${handle}::text is null or position(lower(${handle}::text) in lower(influencer_handle)) > 0)
      and (${spellings === null} or influencer_handle = any(${[...(spellings ?? [])]}::text[])) and ${only}
    order by deal_id limit ${limit}`;
}

/** @returns null if the deal is not in the mirror. */
export async function findDeal(db: Database, dealId: string): Promise<ListedDeal | null> {
  const row = await rowOf<ListedDeal>(db)`select ${columns} from bi.deals where deal_id = ${dealId}`;
  return row ?? null;
}

/** A version of a deal, with the service's own counts. Amounts are in the currency of the account. */
export type DealVersion = Omit<
  ListedDeal,
  'dealId' | 'brandName' | 'dealflowName' | 'isDeleted' | 'firstSeenAt' | 'changedAt' | 'syncedAt'
> & { readonly validFrom: Date; readonly validTo: Date | null; readonly dealflowId: string | null };

/** Lists the versions of a deal, newest first. */
export function listDealVersions(db: Database, { dealId, limit }: { dealId: string; limit: number }) {
  return rowsOf<DealVersion>(db)`
    select valid_from as "validFrom", valid_to as "validTo", dealflow_id as "dealflowId", ${versioned}
    from bi.deal_history where deal_id = ${dealId} order by valid_from desc limit ${limit}`;
}

/** Clicks that the service counted between two readings of a deal, in the month of the later reading. */
export type ClicksOfMonth = { readonly month: string; readonly clicks: number };

/** Lists the months in which the service's count of clicks changed, newest first. Months are in UTC. */
export function listDealClicks(db: Database, { dealId, limit }: { dealId: string; limit: number }) {
  return rowsOf<ClicksOfMonth>(db)`
    select month, sum(clicks)::float8 as clicks
    from (
      select to_char(valid_from at time zone 'UTC', 'YYYY-MM') as month,
        total_clicks - lag(total_clicks) over (order by valid_from) as clicks
      from bi.deal_history where deal_id = ${dealId} and total_clicks is not null) changes
    where clicks > 0
    group by month order by month desc limit ${limit}`;
}

/** This project's counts of a deal's orders of one month, as of the last refresh of the reports. */
export type DealMonth = {
  readonly month: string;
  readonly currency: string;
  readonly accepted: number;
  readonly open: number;
  readonly amount: string;
};

/** Lists the months of a deal, newest first. */
export function listDealMonths(db: Database, { dealId, limit }: { dealId: string; limit: number }) {
  return rowsOf<DealMonth>(db)`
    select to_char(day_utc, 'YYYY-MM') as month, currency, sum(accepted_orders)::float8 as accepted,
      sum(ready_orders + in_doubt_orders + held_orders + rejected_orders)::float8 as open,
      sum(accepted_amount) as amount
    from reporting.deal_days where deal_id = ${dealId} group by 1, 2 order by 1 desc, 2 limit ${limit}`;
}

/** How complete the mirror is for the deals discovered in one way. The way `all` covers every deal. */
export type Coverage = {
  readonly way: string;
  readonly publishedAt: Date;
  readonly known: number;
  readonly alsoKnown: number;
  readonly fresh: number;
  readonly stale: number;
  readonly unread: number;
  readonly failing: number;
  readonly deleted: number;
  /** When the deal that was read longest ago was read. Null if no deal was read. */
  readonly oldestReadAt: Date | null;
};

const WAYS: Readonly<Record<string, string>> = {
  all: 'any of these',
  referral: 'orders',
  click: 'clicks',
  create_deal: 'created',
  note: 'notes',
  event: 'events',
  codes: 'codes.csv',
  order: 'exports',
  handle: 'handles',
  autocomplete: 'autocomplete',
  deal: 'other deals',
};

/** What people call a way in which deals are discovered. */
export function sayWay(way: string): string {
  return WAYS[way] ?? way.replaceAll('_', ' ');
}

/** Reads the coverage of the newest publication, `all` first. Empty before the first publication. */
export function readCoverage(db: Database) {
  return rowsOf<Coverage>(db)`
    select way, published_at as "publishedAt", known_deals::float8 as known,
      also_known_deals::float8 as "alsoKnown", fresh_deals::float8 as fresh, stale_deals::float8 as stale,
      unread_deals::float8 as unread, failing_deals::float8 as failing, deleted_deals::float8 as deleted,
      oldest_read_at as "oldestReadAt"
    from bi.mirror_coverage where is_latest order by way = 'all' desc, known_deals desc, way`;
}
