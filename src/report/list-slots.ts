import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';

export type ListedSlot = {
  readonly job: string;
  readonly slot: Date;
  readonly state: string;
  readonly reason: string | null;
  readonly runId: string | null;
};

/** What became of the slots of one job. */
export type SlotSummary = {
  readonly job: string;
  /** The latest slot that has come. */
  readonly last: ListedSlot;
  /** Of the last seven days. */
  readonly missed: number;
  readonly skipped: number;
  readonly failed: number;
};

const columns = sql`s.job, s.slot, s.state, s.reason, s.run_id as "runId"`;

/** Slots that did not come to a good end: failed, skipped, missed. Newest first. */
export async function listSlotTroubles(
  db: Database,
  options: { readonly job?: string; readonly limit: number },
): Promise<readonly ListedSlot[]> {
  const { job = null, limit } = options;
  const { rows } = await sql<ListedSlot>`
    select ${columns} from ops.slots s
    where s.state in ('failed', 'skipped', 'missed') and (${job}::text is null or s.job = ${job})
    order by s.slot desc, s.job limit ${limit}::bigint`.execute(db);
  return rows;
}

/** How each job's schedule was kept; jobs without a slot so far are left out. */
export async function summariseSlots(db: Database): Promise<readonly SlotSummary[]> {
  const { rows } = await sql<ListedSlot & { missed: string; skipped: string; failed: string }>`
    select ${columns}, week.missed, week.skipped, week.failed
    from (select distinct job from ops.slots) jobs
    cross join lateral (select * from ops.slots l where l.job = jobs.job order by l.slot desc limit 1) s
    cross join lateral (
      select count(*) filter (where w.state = 'missed') as missed, count(*) filter (where w.state = 'skipped') as skipped,
        count(*) filter (where w.state = 'failed') as failed
      from ops.slots w where w.job = jobs.job and w.slot > clock_timestamp() - interval '7 days'
    ) week
    order by s.job`.execute(db);
  return rows.map(({ missed, skipped, failed, ...last }) => ({
    job: last.job,
    last,
    missed: Number(missed),
    skipped: Number(skipped),
    failed: Number(failed),
  }));
}
