import type { Database } from '../../db/connect.ts';
import { rowOf, rowsOf } from '../../db/statement.ts';
import { shownState } from './list-slots.ts';

/** Slots of one job in one span with the same state. */
export type SlotGroup = {
  readonly job: string;
  /** Index of the span in the timeline, from 0. */
  readonly span: number;
  /** State as in `ops.slots`, or `late` if the slot should have started by now. */
  readonly state: string;
  readonly slots: number;
  /** The last run of these slots; null if none ran. */
  readonly runId: string | null;
};

/**
 * Counts the slots of some jobs by state, in spans of equal length.
 *
 * @param options.from beginning of the first span.
 * @param options.until end of the last span.
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
  return rowsOf<SlotGroup>(db)`
    select g.job, (extract(epoch from g.begins - ${from}::timestamptz) / ${spanSeconds}::integer)::integer as span, g.state, g.slots, g."runId"
    from (
      select s.job, date_bin(make_interval(secs => ${spanSeconds}::integer), s.slot, ${from}::timestamptz) as begins, ${shownState} as state,
        count(*)::float8 as slots, max(s.run_id) as "runId"
      from ops.slots s
      where s.job = any(${[...jobs]}::text[]) and s.slot >= ${from}::timestamptz and s.slot < ${until}::timestamptz
      group by 1, 2, 3) g
    order by 1, 2, 3`;
}

/** The slot for which a run was started. */
export type SlotOfRun = {
  readonly slot: Date;
  readonly attempts: number;
  readonly requestedBy: string | null;
};

/** @returns null for a run that was started by hand. */
export async function findSlotOfRun(db: Database, runId: string): Promise<SlotOfRun | null> {
  const row = await rowOf<SlotOfRun>(db)`
    select s.slot, s.attempts, s.requested_by as "requestedBy" from ops.slots s where s.run_id = ${runId}::bigint limit 1`;
  return row ?? null;
}
