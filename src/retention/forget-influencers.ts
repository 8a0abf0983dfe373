import { sql } from 'kysely';
import { toUuidArrayParameter } from '../db/array-parameters.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import type { CustomerHash } from '../model/customer.ts';

/** Rows about influencers whom the service found among customers. */
export type InfluencerRows = {
  /** Decisions about outreach that were deleted. */
  readonly candidates: number;
  /** Requests of outreach that name them, and that the ledger keeps. */
  readonly requests: number;
};

/**
 * Deletes what `submit-outreach` has decided about influencers who are known only by the customers that are to be forgotten. Batches that were
 * not sent are withdrawn by its next run. To be called while their look-ups are still there.
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
