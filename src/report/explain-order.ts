import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import { type EntryLife, readEntryLives } from './entry-lives.ts';

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

/** The whole life of one order of one source. */
export type OrderLife = {
  readonly source: string | null;
  readonly orderId: string;
  readonly orderName: string | null;
  readonly versions: readonly OrderVersion[];
  readonly attributions: readonly OrderAttribution[];
  readonly entries: readonly EntryLife[];
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

async function readEntries(db: Database, { source, orderId }: Of): Promise<readonly EntryLife[]> {
  return readEntryLives(
    db,
    sql`e.entry_id in (select a.entry_id from intake.attributions a where a.source = ${source} and a.order_id = ${orderId})
      or (e.order_id = ${orderId} and e.source is not distinct from ${source})`,
  );
}
