import { type RawBuilder, sql } from 'kysely';
import type { Prunable, Pruned, RetentionClass, RetentionSettings } from '../core/privacy/retention.ts';
import { analyzeGrown } from '../db/analyze.ts';
import { type Database, rowOf } from '../db/statement.ts';
import { blockRanges } from './block-ranges.ts';

/*
 * Deletes data that has exceeded its retention period. Tables that are not listed here are never pruned;
 * docs/privacy.md explains why. These include the ledger, whose guarantees rest on every claim and answer,
 * the current order versions, and the files that were read, which are needed to recognise a known file.
 */

/** The rows of a table that may be deleted, as `t`. */
type PrunableTable = {
  readonly class: RetentionClass;
  readonly table: string;
  /** SQL for the time when a row was stored. */
  readonly at: RawBuilder<Date>;
  /** SQL for further conditions, besides the age. */
  readonly onlyIf: RawBuilder<boolean>;
  readonly remove: (where: RawBuilder<boolean>) => RawBuilder<unknown>;
};

/** Lists the prunable tables, children before parents. */
function prunableTables(): readonly PrunableTable[] {
  const runEnded = sql<boolean>`exists (select from ops.runs r where r.run_id = t.run_id and r.finished_at is not null)`;
  const runStarted = sql<Date>`(select r.started_at from ops.runs r where r.run_id = t.run_id)`;
  return [
    {
      class: 'order_versions',
      table: 'intake.orders',
      // The age counts from the time when a newer version became current.
      at: sql`(select c.first_seen_at from intake.orders c where c.source = t.source and c.order_id = t.order_id and c.is_current limit 1)`,
      onlyIf: sql`not t.is_current
        and exists (select from intake.orders c
          where c.source = t.source and c.order_id = t.order_id and c.is_current
            and (c.order_version_id > t.order_version_id or t.replaces is null)
            and c.stated_version_id is distinct from t.order_version_id)
        and not exists (
          select from ops.job_locks j join intake.attributions a on a.job = j.job and a.source = t.source and a.order_id = t.order_id
          where a.order_version_id = t.order_version_id)`,
      remove: (where) => sql`delete from intake.orders t where ${where}`,
    },
    {
      class: 'rejected_rows',
      table: 'intake.rejected_rows',
      at: sql`t.first_seen_at`,
      onlyIf: sql`exists (select from intake.source_files f where f.source_file_id = t.source_file_id and f.state = 'sealed')`,
      remove: (where) => sql`delete from intake.rejected_rows t where ${where}`,
    },
    {
      class: 'webhook_events',
      table: 'ops.webhook_events',
      at: sql`t.received_at`,
      // The owner of a code or a link depends on all of its events, and so does what orders earned by the rate of the service.
      onlyIf: sql`t.kind <> 'update_commission' and not exists (select from intake.code_changes c where c.event_id = t.event_id)`,
      remove: (where) => sql`delete from ops.webhook_events t where ${where}`,
    },
    {
      class: 'run_activity',
      table: 'ops.run_steps',
      at: runStarted,
      onlyIf: runEnded,
      remove: (where) => sql`delete from ops.run_steps t where ${where}`,
    },
    {
      class: 'run_activity',
      table: 'ops.run_messages',
      at: runStarted,
      onlyIf: runEnded,
      remove: (where) => sql`delete from ops.run_messages t where ${where}`,
    },
    {
      class: 'run_activity',
      table: 'ops.run_requests',
      at: runStarted,
      onlyIf: runEnded,
      remove: (where) => sql`delete from ops.run_requests t where ${where}`,
    },
    {
      class: 'notices',
      table: 'ops.notice_deliveries',
      at: sql`(select n.created_at from ops.notices n where n.notice_id = t.notice_id)`,
      onlyIf: sql`exists (select from ops.notices n where n.notice_id = t.notice_id and ${noticeEnded})`,
      remove: (where) => sql`delete from ops.notice_deliveries t where ${where}`,
    },
    {
      class: 'notices',
      table: 'ops.notices',
      at: sql`t.created_at`,
      onlyIf: sql`exists (select from ops.notices n where n.notice_id = t.notice_id and ${noticeEnded})
        and not exists (select from ops.notice_deliveries d where d.notice_id = t.notice_id)`,
      remove: (where) => sql`delete from ops.notices t where ${where}`,
    },
    {
      class: 'notices',
      table: 'ops.problems',
      at: sql`t.resolved_at`,
      onlyIf: sql`t.state = 'resolved' and not exists (select from ops.notices n where n.problem_id = t.problem_id)`,
      remove: (where) => sql`delete from ops.problems t where ${where}`,
    },
  ];
}

/** SQL that is true if notice `n` has no pending delivery and its problem is resolved. */
const noticeEnded = sql<boolean>`
  not exists (select from ops.notice_deliveries p where p.notice_id = n.notice_id and p.state = 'pending')
  and not exists (select from ops.problems o where o.problem_id = n.problem_id and o.state <> 'resolved')`;

export type PruneOptions = {
  readonly retention: RetentionSettings;
  /** If true, counts what would be deleted. */
  readonly isDryRun: boolean;
  /** Called before each batch. Returns true if the time is over or the process must stop. */
  readonly isOver: () => boolean;
  /** Called with the number of rows of each batch, which may be 0. */
  readonly onBatch?: (rows: number) => void;
};

/**
 * Deletes or counts the rows that have exceeded their retention period, some blocks of a table at a time.
 * Another call continues where this one stopped.
 */
export async function prune(
  db: Database,
  { retention, isDryRun, isOver, onBatch }: PruneOptions,
): Promise<Pruned> {
  const tables: Prunable[] = [];
  for (const prunable of prunableTables()) {
    const days = retention[prunable.class];
    if (days === null) continue;
    let [rows, bytes, oldestAt] = [0, 0, null as Date | null];
    for await (const range of blockRanges(db, { table: prunable.table, alias: 't' })) {
      if (isOver()) return { tables: [...tables, toPrunable()], isCutShort: true };
      const batch = await pruneBatch(db, prunable, { range, days, isDryRun });
      onBatch?.(Number(batch.rows));
      rows += Number(batch.rows);
      bytes += Number(batch.bytes);
      if (batch.oldest !== null && (oldestAt === null || batch.oldest < oldestAt)) oldestAt = batch.oldest;
    }
    tables.push(toPrunable());

    function toPrunable(): Prunable {
      return { class: prunable.class, table: prunable.table, days: days ?? 0, rows, bytes, oldestAt };
    }
  }
  if (!isDryRun)
    await analyzeGrown(
      db,
      tables.flatMap(({ table, rows }) => (rows > 0 ? [table] : [])),
    );
  return { tables, isCutShort: false };
}

type Batch = { readonly rows: string; readonly bytes: string; readonly oldest: Date | null };

async function pruneBatch(
  db: Database,
  { table, at, onlyIf, remove }: PrunableTable,
  { range, days, isDryRun }: { range: RawBuilder<boolean>; days: number; isDryRun: boolean },
): Promise<Batch> {
  const where = sql<boolean>`${range} and ${at} < clock_timestamp() - ${days}::double precision * interval '1 day' and ${onlyIf}`;
  const old = sql`pg_column_size(t.*) as bytes, ${at} as at`;
  const chosen = isDryRun
    ? sql`select ${old} from ${sql.table(table)} t where ${where}`
    : sql`${remove(where)} returning ${old}`;
  const batch = await rowOf<Batch>(db)`
    with gone as (${chosen}) select count(*) as rows, coalesce(sum(bytes), 0) as bytes, min(at) as oldest
    from gone`;
  return batch ?? { rows: '0', bytes: '0', oldest: null };
}
