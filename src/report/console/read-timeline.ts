import { sql } from 'kysely';
import type { Database } from '../../db/connect.ts';
import { shownState } from '../list-slots.ts';

/** Slots of one job and span that stand alike. */
export type SlotGroup = {
  readonly job: string;
  /** Which span of the timeline: 0 is the first. */
  readonly span: number;
  /** As in `ops.slots`; `late` for one that should have begun by now. */
  readonly state: string;
  readonly slots: number;
  /** The last run of them; null where none ran. */
  readonly runId: string | null;
};

/**
 * What became of the slots of some jobs, in spans of the same length.
 *
 * @param options.from where the first span begins.
 * @param options.until where the last one ends.
 */
export async function readTimeline(
  db: Database,
  options: {
    readonly jobs: readonly string[];
    readonly from: Date;
    readonly until: Date;
    readonly spanSeconds: number;
  },
): Promise<readonly SlotGroup[]> {
  const { jobs, from, until, spanSeconds } = options;
  const { rows } = await sql<Omit<SlotGroup, 'slots'> & { slots: string }>`
    select g.job, (extract(epoch from g.begins - ${from}::timestamptz) / ${spanSeconds}::integer)::integer as span, g.state, g.slots, g."runId"
    from (
      select s.job, date_bin(make_interval(secs => ${spanSeconds}::integer), s.slot, ${from}::timestamptz) as begins, ${shownState} as state,
        count(*) as slots, max(s.run_id) as "runId"
      from ops.slots s
      where s.job = any(${[...jobs]}::text[]) and s.slot >= ${from}::timestamptz and s.slot < ${until}::timestamptz
      group by 1, 2, 3) g
    order by 1, 2, 3`.execute(db);
  return rows.map((row) => ({ ...row, slots: Number(row.slots) }));
}

/** The slot that a run was started for. */
export type SlotOfRun = {
  readonly slot: Date;
  readonly attempts: number;
  readonly requestedBy: string | null;
};

/** @returns null for a run that somebody started by hand. */
export async function findSlotOfRun(db: Database, runId: string): Promise<SlotOfRun | null> {
  const { rows } = await sql<SlotOfRun>`
    select s.slot, s.attempts, s.requested_by as "requestedBy" from ops.slots s where s.run_id = ${runId}::bigint limit 1`.execute(
    db,
  );
  return rows[0] ?? null;
}
