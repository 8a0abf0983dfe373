import { type RawBuilder, sql } from 'kysely';
import { neverSent } from '../ledger/never-sent.ts';

/** The job has an entry for order `o` that a backfill is to post, or that may have been processed: it goes on answering for the order. */
export function isAnswered(job: string): RawBuilder<boolean> {
  return sql<boolean>`(
    select true from ledger.entries e
    where e.order_id = o.order_id and e.source = o.source and e.job = ${job} and e.effect is not distinct from 'referral'
      and ((e.backfill_id is not null and e.state <> 'held') or not ${neverSent}) limit 1) is not null`;
}
