import type { RunActivity } from '../core/run.ts';
import type { Database } from '../db/connect.ts';
import { execute } from '../db/statement.ts';

/**
 * Writes what a run has done so far, in one statement. Replaces the steps and requests written before;
 * messages are only added.
 *
 * @param activity complete steps and operations, and the messages that were not written before.
 */
export async function saveRunActivity(
  db: Database,
  { runId, activity }: { readonly runId: string; readonly activity: RunActivity },
): Promise<void> {
  const steps = activity.steps.map((step, position) => ({ ...step, position }));
  await execute(db)`
    with steps as (
      insert into ops.run_steps (run_id, step, position, label, times, started_at, seconds, finished_at, unit, done, total)
      select ${runId}::bigint, s.name, s.position, s.label, s.times, s."startedAt", s.seconds, s."finishedAt", s.unit, s.done, s.total
      from jsonb_to_recordset(${JSON.stringify(steps)}::jsonb) as s (
        name text, position integer, label text, times integer, "startedAt" timestamptz, seconds numeric, "finishedAt" timestamptz,
        unit text, done bigint, total bigint)
      on conflict (run_id, step) do update set label = excluded.label, times = excluded.times, seconds = excluded.seconds,
        finished_at = excluded.finished_at, done = excluded.done, total = excluded.total
    ), requests as (
      insert into ops.run_requests (run_id, operation, requests, answered, refused, throttled, failed, median_ms, p95_ms, slowest_ms)
      select ${runId}::bigint, r.operation, r.requests, r.answered, r.refused, r.throttled, r.failed, r."medianMs", r."p95Ms", r."slowestMs"
      from jsonb_to_recordset(${JSON.stringify(activity.requests)}::jsonb) as r (
        operation text, requests bigint, answered bigint, refused bigint, throttled bigint, failed bigint,
        "medianMs" numeric, "p95Ms" numeric, "slowestMs" numeric)
      on conflict (run_id, operation) do update set requests = excluded.requests, answered = excluded.answered, refused = excluded.refused,
        throttled = excluded.throttled, failed = excluded.failed, median_ms = excluded.median_ms, p95_ms = excluded.p95_ms,
        slowest_ms = excluded.slowest_ms
    )
    insert into ops.run_messages (run_id, message_no, at, message)
    select ${runId}::bigint, m.number, m.at, m.message
    from jsonb_to_recordset(${JSON.stringify(activity.messages)}::jsonb) as m (number integer, at timestamptz, message text)
    on conflict do nothing`;
}
