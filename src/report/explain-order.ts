import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';

/** One thing that happened to an order, or one thing that somebody found out about it. */
export type OrderEvent = {
  readonly at: Date;
  readonly kind: 'claimed' | 'answered' | 'evidence' | 'decided' | 'changed' | 'adjusted';
  /** What happened, in words of ours and of the service. No addresses. */
  readonly text: string;
  readonly detail: string | null;
};

export type OrderVersion = {
  readonly uri: string;
  readonly line: string;
  readonly rows: number;
  readonly fileState: string;
  readonly isCurrent: boolean;
  readonly status: string | null;
  readonly currency: string;
  readonly total: string | null;
  readonly subtotal: string | null;
  readonly refunded: string | null;
  readonly codes: readonly string[];
  readonly links: readonly string[];
  readonly exclusion: string | null;
  readonly placedAt: Date | null;
  readonly cancelledAt: Date | null;
  readonly firstSeenAt: Date;
  readonly runId: string;
};

export type OrderAttribution = {
  readonly job: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly matchedBy: string | null;
  readonly matchedValue: string | null;
  readonly influencerHandle: string | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
  readonly brandId: string | null;
  readonly amount: string | null;
  readonly currency: string;
  readonly decidedAt: Date;
};

export type OrderEntry = {
  readonly entryId: string;
  readonly job: string;
  readonly state: string;
  readonly stateReason: string | null;
  readonly stateChangedAt: Date;
  readonly createdAt: Date;
  readonly amount: string | null;
  readonly currency: string | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
  /** The frozen request. */
  readonly body: string;
  /** Attempts, answers, evidence, decisions and adjustments, in the order in which they happened. */
  readonly events: readonly OrderEvent[];
};

/** The whole life of one order of one source. */
export type OrderLife = {
  readonly source: string | null;
  readonly orderId: string;
  readonly orderName: string | null;
  readonly versions: readonly OrderVersion[];
  readonly attributions: readonly OrderAttribution[];
  readonly entries: readonly OrderEntry[];
};

/**
 * The life of an order, from the line of the file to the answer of the service. An id can stand in several sources, so there may be
 * several lives; none: no file that was read has it, and the ledger does not know it.
 *
 * @param options.order its id or its name (`#1001`; the `#` may be left out).
 */
export async function explainOrder(
  db: Database,
  options: { readonly order: string; readonly source?: string },
): Promise<readonly OrderLife[]> {
  const { order, source = null } = options;
  const { rows } = await sql<{ source: string | null; orderId: string; orderName: string | null }>`
    select source, order_id as "orderId", max(order_name) as "orderName" from (
      select source, order_id, order_name from intake.orders where order_id = ${order} or order_name in (${order}, '#' || ${order})
      union all
      select source, order_id, null from ledger.entries where order_id = ${order}
    ) known
    where (${source}::text is null or source = ${source}::text)
    group by source, order_id order by source, order_id limit 20`.execute(db);
  return Promise.all(rows.map((life) => readLife(db, life)));
}

async function readLife(
  db: Database,
  life: Pick<OrderLife, 'source' | 'orderId' | 'orderName'>,
): Promise<OrderLife> {
  return {
    ...life,
    versions: await readVersions(db, life),
    attributions: await readAttributions(db, life),
    entries: await readEntries(db, life),
  };
}

type Of = Pick<OrderLife, 'source' | 'orderId'>;

async function readVersions(db: Database, { source, orderId }: Of): Promise<readonly OrderVersion[]> {
  const { rows } = await sql<OrderVersion>`
    select f.uri, o.line_no as line, o.row_count as rows, f.state as "fileState", o.is_current as "isCurrent", o.status, o.currency, o.total,
      o.subtotal, o.refunded, o.codes, o.links, o.exclusion, o.placed_at as "placedAt", o.cancelled_at as "cancelledAt",
      o.first_seen_at as "firstSeenAt", f.run_id as "runId"
    from intake.orders o join intake.source_files f using (source_file_id)
    where o.source = ${source} and o.order_id = ${orderId} order by o.order_version_id`.execute(db);
  return rows;
}

async function readAttributions(db: Database, { source, orderId }: Of): Promise<readonly OrderAttribution[]> {
  const { rows } = await sql<OrderAttribution>`
    select job, outcome, reason, matched_by as "matchedBy", matched_value as "matchedValue", influencer_handle as "influencerHandle",
      deal_id as "dealId", collab_id as "collabId", brand_id as "brandId", amount, currency, decided_at as "decidedAt"
    from intake.attributions where source = ${source} and order_id = ${orderId} order by job`.execute(db);
  return rows;
}

async function readEntries(db: Database, { source, orderId }: Of): Promise<readonly OrderEntry[]> {
  const { rows } = await sql<Omit<OrderEntry, 'events'>>`
    select e.entry_id as "entryId", e.job, e.state, e.state_reason as "stateReason", e.state_changed_at as "stateChangedAt",
      e.created_at as "createdAt", e.amount, e.currency, e.deal_id as "dealId", e.collab_id as "collabId", e.body
    from ledger.entries e
    where e.entry_id in (select a.entry_id from intake.attributions a where a.source = ${source} and a.order_id = ${orderId})
      or (e.order_id = ${orderId} and e.source is not distinct from ${source})
    order by e.entry_id`.execute(db);
  return Promise.all(rows.map(async (entry) => ({ ...entry, events: await readEvents(db, entry.entryId) })));
}

/** Two decimals at least, four at most. */
const MONEY = sql.lit('FM99999999999990.0099');

async function readEvents(db: Database, entryId: string): Promise<readonly OrderEvent[]> {
  const { rows } = await sql<OrderEvent>`
    select at, kind, text, detail from (
      select claimed_at as at, 1 as step, 'claimed' as kind, 'attempt ' || attempt || ' by run ' || run_id as text, null as detail
      from ledger.attempts where entry_id = ${entryId}::bigint
      union all
      select answered_at, 2, 'answered', 'attempt ' || attempt || ': ' || kind || coalesce(', HTTP ' || http_status, '')
        || coalesce(', deal ' || deal_id, '') || coalesce(', collaboration ' || collab_id, '')
        || case via when 'direct' then '' else ', by ' || via end || case when applied then ''
          when kind = 'accepted' and exists (select from ledger.double_credits d where d.entry_id = ${entryId}::bigint) then ' (accepted a second time: a double credit)'
          else ' (came too late to count)' end, message
      from ledger.answers where entry_id = ${entryId}::bigint
      union all
      select l.found_at, 2, 'answered', 'a claim of ledger ' || left(l.ledger_id::text, 8) || ' that this database had lost: ' || replace(l.disposition, '_', ' ')
        || coalesce(', HTTP ' || l.http_status, '') || coalesce(', deal ' || l.deal_id, '')
        || case when l.disposition = 'accepted' and exists (select from ledger.double_credits d where d.entry_id = ${entryId}::bigint)
          then ' (accepted a second time: a double credit)' else '' end, l.message
      from ledger.recovered_claims r join ledger.lost_claims l using (lost_claim_id) where r.entry_id = ${entryId}::bigint
      union all
      select v.received_at, 3, 'evidence', v.kind || coalesce(', deal ' || v.deal_id, '') || coalesce(', ' || to_char(v.amount, ${MONEY}) || ' ' || v.currency, ''), null
      from ledger.evidence v join ledger.entries e on e.entry_id = ${entryId}::bigint
      where v.entry_id = e.entry_id or (v.order_id = e.order_id and coalesce(v.order_platform, e.order_platform) = e.order_platform)
      union all
      select decided_at, 4, 'decided', decision || ' of attempt ' || attempt || ' by ' || decided_by, reason
      from ledger.decisions where entry_id = ${entryId}::bigint
      union all
      select changed_at, 5, 'changed', case kind
          when 'held' then 'held: ' || reason
          when 'released' then 'released, was held: ' || coalesce(reason, 'no reason')
          else 'another request takes its place' end, null
      from ledger.changes where entry_id = ${entryId}::bigint
      union all
      select noted_at, 6, 'adjusted', kind || ' in run ' || run_id || coalesce(': ' || to_char(old_amount, ${MONEY}), '') || coalesce(' to ' || to_char(new_amount, ${MONEY}), '')
        || coalesce(' ' || currency, ''), detail
      from ledger.adjustments where entry_id = ${entryId}::bigint
    ) events order by at, step`.execute(db);
  return rows;
}
