import { sql } from 'kysely';
import { type Database, rowsOf } from '../../db/statement.ts';
import { type ColumnKey, hasAll, type Page } from '../wanted-rows.ts';

/** An influencer among the customers of a brand: the public profile, without an e-mail address. */
export type FoundInfluencer = {
  readonly brandId: string;
  readonly brandName: string | null;
  readonly platform: string | null;
  readonly username: string | null;
  readonly followers: string | null;
  readonly orders: number | null;
  readonly spent: string | null;
  readonly currency: string | null;
  readonly dealId: string | null;
  readonly lookedUpAt: Date;
};

/** A reason for which the service refused customers, and their number. */
export type Refusal = { readonly brandId: string; readonly message: string; readonly customers: number };

/** Results of real-time look-ups, by brand. */
export type Lookups = {
  readonly brandId: string;
  readonly influencers: number;
  readonly noMatch: number;
  readonly refused: number;
};

export function readLookups(db: Database) {
  return rowsOf<Lookups>(db)`
    select brand_id as "brandId", count(*) filter (where outcome = 'influencer')::float8 as influencers,
      count(*) filter (where outcome = 'no_match')::float8 as "noMatch",
      count(*) filter (where outcome = 'refused')::float8 as refused
    from intake.lookups group by 1 order by 1`;
}

/** Lists reasons for refusals, the most frequent first. */
export function listRefusals(db: Database, { limit }: { limit: number }) {
  return rowsOf<Refusal>(db)`
    select b.brand_id as "brandId",
      reporting.without_addresses(coalesce(b.message, 'no reason given')) as message,
      sum(b.customers)::float8 as customers
    from intake.identify_batches b
    where b.state = 'refused'
    group by 1, 2
    order by 3 desc, 1, 2
    limit ${limit}`;
}

type InfluencerKey = ColumnKey<'followers' | 'platform' | 'userId' | 'brandId'>;

/**
 * Lists influencers found among customers, those with the most followers first; with `isWithoutDeal`, only those
 * without a known deal.
 */
export function listInfluencers(
  db: Database,
  {
    limit,
    after = null,
    brand = null,
    isWithoutDeal = false,
  }: Page<InfluencerKey> & { brand?: string | null; isWithoutDeal?: boolean },
) {
  const isAfter =
    after !== null &&
    sql`(-i.rank, i.place, i.who, i."brandId")
      > (-${after.followers}::bigint, ${after.platform}, ${after.userId}, ${after.brandId})`;
  return rowsOf<FoundInfluencer & { readonly key: InfluencerKey }>(db)`
    select i."brandId", i."brandName", i.platform, i.username, i.followers, i.orders, i.spent, i.currency,
      i."dealId", i."lookedUpAt",
      jsonb_build_object('followers', i.rank::text, 'platform', i.place, 'userId', i.who, 'brandId',
        i."brandId") as key
    from (
      select brand_id as "brandId", brand_name as "brandName", platform, username, followers,
        orders_count as orders, spent_amount as spent,
        currency, deal_id as "dealId", looked_up_at as "lookedUpAt", coalesce(followers, -1) as rank,
        coalesce(platform, '') as place, coalesce(platform_user_id, username, '') as who
      from bi.influencers_among_customers
    ) i
    where ${hasAll({ 'i.brandId': brand }, isWithoutDeal && sql`i."dealId" is null`, isAfter)}
    order by -i.rank, i.place, i.who, i."brandId" limit ${limit}`;
}
