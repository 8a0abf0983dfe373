import { sql } from 'kysely';
import type { CustomerHash } from '../core/customer.ts';
import { toUuidArrayParameter } from '../db/array-parameters.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';

/** Rows about influencers whom the service found among customers. */
export type InfluencerRows = {
  /** Deleted decisions about outreach. */
  readonly candidates: number;
  /** Outreach requests that name these influencers. The ledger keeps them. */
  readonly requests: number;
};

/**
 * Deletes the decisions of `submit-outreach` about influencers who are known only through the customers to be
 * forgotten. The job's next run withdraws batches that were not sent. Call it before the look-ups of these
 * customers are deleted.
 */
export async function forgetInfluencers(
  trx: DatabaseTransaction,
  hashes: readonly CustomerHash[],
): Promise<InfluencerRows> {
  const { rows } = await sql<{ candidates: string; requests: string }>`
    with looked_up as (
      select customer_hash, lower(platform) as platform, user_id,
        coalesce(lower(platform), '?') || ':' || coalesce(user_id, '@' || lower(username), profile_url, '?') as influencer
      from intake.lookups where outcome = 'influencer'
    ),
    mine as materialized (
      select * from looked_up where customer_hash = any (${toUuidArrayParameter(hashes)}::uuid[])
    ),
    theirs as (
      select influencer from mine
      except select influencer from looked_up where customer_hash <> all (${toUuidArrayParameter(hashes)}::uuid[])
    ),
    deleted as (
      delete from intake.outreach_candidates where influencer in (select influencer from theirs) returning 1
    )
    select (select count(*) from deleted) as candidates,
      (select count(*) from ledger.entries e
       where e.effect = 'outreach' and exists (
         select from mine m where e.details ->> 'platform' = m.platform and e.details -> 'ids' ? m.user_id)) as requests`.execute(
    trx,
  );
  return { candidates: Number(rows[0]?.candidates ?? 0), requests: Number(rows[0]?.requests ?? 0) };
}
