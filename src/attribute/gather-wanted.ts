import { sql, type Transaction } from 'kysely';
import type { DB } from '../db/tables.ts';
import { toJsonParameter } from '../db/to-json-parameter.ts';
import { referralBody, referralKey } from './referral-body.ts';

export type PrepareEntriesOptions = {
  readonly job: string;
  readonly runId: string;
  /** Account of the service that the database is bound to. */
  readonly accountId: string;
  /** `order_platform` of each of the job's sources. */
  readonly orderPlatformBySource: Readonly<Record<string, string>>;
};

/**
 * `wanted_entries`: what the ledger has not taken note of, with the body that it would send now. Temporary tables, because several
 * statements need it and the planner must know its size.
 */
export async function gatherWanted(trx: Transaction<DB>, options: PrepareEntriesOptions): Promise<number> {
  const platforms = Object.entries(options.orderPlatformBySource).map(([source, platform]) => ({
    source,
    platform,
  }));
  await sql`drop table if exists pg_temp.wanted_entries, pg_temp.compared_entries`.execute(trx);
  await sql`create temporary table wanted_entries (
    source text, order_id text, order_version_id bigint, outcome text, reason text, amount numeric(18,4), currency text, brand_id text,
    linked_id bigint, order_platform text, key text, body text, body_hash text, refunded numeric(18,4), cancelled_at timestamptz
  ) on commit drop`.execute(trx);
  const { numAffectedRows } = await sql`
    insert into wanted_entries
    select b.source, b.order_id, b.order_version_id, b.outcome, b.reason, b.amount, b.currency, b.brand_id, b.linked_id,
      b.order_platform, b.key, b.body, encode(sha256(convert_to(b.body, 'UTF8')), 'hex'), b.refunded, b.cancelled_at
    from (
      select w.*, ${referralKey('w')} as key, case when w.outcome = 'attributed' then ${referralBody('w')} end as body
      from (
        select a.source, a.order_id, a.order_version_id, a.outcome, a.reason, a.amount, a.currency, a.brand_id, a.deal_id, a.collab_id,
          a.influencer_handle, a.entry_id as linked_id, p.platform as order_platform, o.codes, o.refunded, o.cancelled_at
        from intake.attributions a
        join jsonb_to_recordset(${toJsonParameter(platforms)}::jsonb) as p(source text, platform text) on p.source = a.source
        cross join lateral (
          select o.codes, o.refunded, o.cancelled_at from intake.orders o where o.order_version_id = a.order_version_id limit 1) o
        where a.job = ${options.job} and a.is_pending
      ) w
    ) b`.execute(trx);
  await sql`analyze wanted_entries`.execute(trx);
  return Number(numAffectedRows ?? 0);
}

/** `compared_entries`: those of them that have an entry which says otherwise, or whose state must be looked at. */
export async function compareWithLedger(
  trx: Transaction<DB>,
  { job, accountId }: PrepareEntriesOptions,
): Promise<void> {
  await sql`create temporary table compared_entries (
    source text, order_id text, order_version_id bigint, outcome text, reason text, amount numeric(18,4), currency text, brand_id text,
    order_platform text, key text, body text, body_hash text, refunded numeric(18,4), cancelled_at timestamptz,
    entry_id bigint, is_own boolean, is_same_job boolean, is_withdrawn boolean
  ) on commit drop`.execute(trx);
  await sql`
    insert into compared_entries
    select w.source, w.order_id, w.order_version_id, w.outcome, w.reason, w.amount, w.currency, w.brand_id, w.order_platform, w.key,
      w.body, w.body_hash, w.refunded, w.cancelled_at, e.entry_id,
      e.job = ${job} and e.source is not distinct from w.source, e.job = ${job},
      e.state = 'held' and e.state_reason = 'no_longer_attributed'
    from wanted_entries w
    cross join lateral (
      select e.entry_id, e.body_hash, e.state, e.state_reason, e.job, e.source from ledger.entries e
      where e.account_id = ${accountId} and e.effect = 'referral' and e.key = w.key limit 1) e
    where e.body_hash is distinct from w.body_hash or e.state = 'held' or e.job <> ${job} or e.source is distinct from w.source
      or (select true from ledger.adjustments d where d.entry_id = e.entry_id limit 1)`.execute(trx);
  await sql`analyze compared_entries`.execute(trx);
}
