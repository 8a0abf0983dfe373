import type { RunActivity, RunMessage, RunRequests, RunStep } from '../../core/run.ts';
import type { Database } from '../../db/connect.ts';
import { rowsOf } from '../../db/statement.ts';

/**
 * Reads the steps, requests and messages of a run. They lag about a second behind a running run, and are
 * empty for runs of older versions.
 */
export async function readRunActivity(db: Database, runId: string): Promise<RunActivity> {
  const [steps, requests, messages] = await Promise.all([
    rowsOf<RunStep>(db)`
      select step as name, label, times, started_at as "startedAt", finished_at as "finishedAt", seconds::float8 as seconds, unit,
        done::float8 as done, total::float8 as total
      from ops.run_steps where run_id = ${runId} order by position`,
    rowsOf<RunRequests>(db)`
      select operation, requests::float8 as requests, answered::float8 as answered, refused::float8 as refused,
        throttled::float8 as throttled, failed::float8 as failed, median_ms::float8 as "medianMs", p95_ms::float8 as "p95Ms",
        slowest_ms::float8 as "slowestMs"
      from ops.run_requests where run_id = ${runId} order by requests desc, operation`,
    rowsOf<RunMessage>(db)`
      select message_no as number, at, message from ops.run_messages where run_id = ${runId} order by message_no`,
  ]);
  return { steps, requests, messages };
}
