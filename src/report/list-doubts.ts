import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { DoubleCredit, Doubt, Evidence } from '../model/ledger.ts';
import { foldHandle } from '../model/text/fold.ts';
import { isDoubt } from './disposition.ts';
import { entrySubject } from './entry-lives.ts';

export type DoubtFilter = {
  readonly job?: string;
  readonly entryId?: string;
  readonly limit?: number;
};

type Row = Omit<Doubt, 'evidence' | 'ageSeconds' | 'since'> & {
  readonly since: Date;
  readonly ageSeconds: string;
  readonly evidence: readonly Evidence[];
};

/** Orders that may have been credited without an answer that says so, oldest first, with what is known about each. */
export async function listDoubts(db: Database, filter: DoubtFilter = {}): Promise<readonly Doubt[]> {
  const { job = null, entryId = null, limit = null } = filter;
  const { rows } = await sql<Row>`
    select e.entry_id as "entryId", e.job, e.effect, ${entrySubject} as subject, e.order_platform as "orderPlatform", e.order_id as "orderId", e.currency, e.amount,
      coalesce(e.deal_id, e.body::jsonb ->> 'deal_id', a.deal_id) as "dealId",
      coalesce(e.collab_id, e.body::jsonb ->> 'collab_id', a.collab_id) as "collabId",
      coalesce(e.body::jsonb ->> 'influencer_handle', a.influencer_handle) as "influencerHandle",
      coalesce(e.state_reason, 'its process was gone before the answer was recorded') as reason,
      e.attempt - e.not_sent as attempts,
      coalesce(first.claimed_at, e.state_changed_at) as since,
      extract(epoch from clock_timestamp() - coalesce(first.claimed_at, e.state_changed_at)) as "ageSeconds",
      coalesce(v.evidence, '[]'::jsonb) as evidence
    from ledger.entries e
    left join lateral (
      select t.claimed_at from ledger.attempts t
      where t.entry_id = e.entry_id and t.attempt = coalesce(e.doubtful_attempt, e.attempt) limit 1) first on true
    left join lateral (select a.* from intake.attributions a where a.entry_id = e.entry_id limit 1) a on true
    left join lateral (
      select jsonb_agg(jsonb_build_object('kind', v.kind, 'dealId', v.deal_id, 'collabId', v.collab_id, 'amount', v.amount::text,
        'currency', v.currency, 'receivedAt', v.received_at) order by v.evidence_id) as evidence
      from ledger.evidence v
      where v.entry_id = e.entry_id or (v.order_id = e.order_id and coalesce(v.order_platform, e.order_platform) = e.order_platform)
    ) v on true
    where ${isDoubt} and (${job}::text is null or e.job = ${job}) and (${entryId}::bigint is null or e.entry_id = ${entryId}::bigint)
    order by since, e.entry_id
    limit ${limit}::bigint`.execute(db);
  return rows.map((row) => ({
    ...row,
    since: row.since.toISOString(),
    ageSeconds: Math.round(Number(row.ageSeconds)),
  }));
}

/** How many of a job there are. */
export async function countDoubts(db: Database, job: string): Promise<number> {
  const { rows } = await sql<{ doubts: string }>`
    select count(*) as doubts from ledger.entries e where ${isDoubt} and e.job = ${job}`.execute(db);
  return Number(rows[0]?.doubts ?? 0);
}

/** Orders for which the service has accepted more than one request, and that are not acknowledged yet. They are rare: the index finds them. */
export async function listDoubleCredits(
  db: Database,
  { job = null }: { readonly job?: string | null } = {},
): Promise<readonly DoubleCredit[]> {
  const { rows } = await sql<Omit<DoubleCredit, 'credits'> & { credits: string }>`
    select e.entry_id as "entryId", e.job, e.order_platform as "orderPlatform", e.order_id as "orderId", ${entrySubject} as subject, e.amount,
      e.currency, e.deal_id as "dealId", e.collab_id as "collabId", d.credits
    from ledger.double_credits d join ledger.entries e using (entry_id)
    where ${job}::text is null or e.job = ${job} order by e.entry_id`.execute(db);
  return rows.map((row) => ({ ...row, credits: Number(row.credits) }));
}

/** A deal of an influencer, as the mirror last read it. */
export type DealOfHandle = {
  readonly dealId: string;
  readonly brandId: string | null;
  readonly isActive: boolean | null;
};

/** The deals that the mirror knows for the handle of a doubt, active ones first; there may be others. */
export async function dealsOfHandle(db: Database, handle: string): Promise<readonly DealOfHandle[]> {
  const { rows } = await sql<DealOfHandle>`
    select deal_id as "dealId", brand_id as "brandId", is_active as "isActive" from mirror.deal_versions
    where is_latest and is_current and lower(ltrim(trim(influencer_handle), '@')) = ${foldHandle(handle)}
    order by is_active desc nulls last, deal_id`.execute(db);
  return rows;
}
