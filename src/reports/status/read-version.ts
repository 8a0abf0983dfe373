import { GONE_AFTER } from '../../core/work.ts';
import type { Database } from '../../db/connect.ts';
import { rowOf } from '../../db/statement.ts';
import { jobsOf } from '../runs/list-runs.ts';

/** Returns a text that changes whenever data on a page of the console changes. Costs a few index look-ups. */
export async function readChangeVersion(db: Database): Promise<string> {
  const row = await rowOf<{ version: string }>(db)`
    select concat_ws('/',
      (select run_id || status from ops.runs order by run_id desc limit 1),
      (select count(*) from (select status from ops.runs order by run_id desc limit 50) r where r.status <> 'running'),
      (select string_agg(concat_ws('.', s.run_id, s.position, s.times, s.done), ',') from ops.run_steps s
        join (select run_id, status from ops.runs order by run_id desc limit 50) r using (run_id) where r.status = 'running'),
      (select max(audit_id) from ops.audit), (select max(notice_id) from ops.notices),
      (select string_agg(bulk_id || state || (ended_at is null), ',' order by bulk_id) from (select * from ops.bulk_actions order by bulk_id desc limit 20) b),
      (select string_agg(worker_id::text || (draining_since is null), ',' order by worker_id) from ops.workers where seen_at > clock_timestamp() - ${GONE_AFTER}::interval),
      (select max(decision_id) from ledger.decisions),
      (select max(t.claim_no) from (select run_id, status from ops.runs order by run_id desc limit 50) r
        cross join lateral (
          select max(claim_no) as claim_no from ledger.attempts a
          where a.run_id = r.run_id and a.claimed_at > statement_timestamp() - interval '1 minute') t
        where r.status = 'running'),
      (select string_agg(s.job || s.slot || s.state, ',' order by s.job) from ${jobsOf('ops.slots')} j
        cross join lateral (select job, slot, state from ops.slots l where l.job = j.job order by l.slot desc limit 1) s)
    ) as version`;
  return row?.version ?? '';
}
