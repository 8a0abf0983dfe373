import { sql } from 'kysely';
import type { Database } from '../../db/connect.ts';
import { GONE_AFTER } from '../../model/work.ts';

/** Returns a text that changes whenever data on a page of the console changes. Costs a few index look-ups. */
export async function readChangeVersion(db: Database): Promise<string> {
  const { rows } = await sql<{ version: string }>`
    select concat_ws('/',
      (select run_id || status from ops.runs order by run_id desc limit 1),
      (select count(*) from (select status from ops.runs order by run_id desc limit 50) r where r.status <> 'running'),
      (select string_agg(concat_ws('.', s.run_id, s.position, s.times, s.done), ',') from ops.run_steps s
        join (select run_id, status from ops.runs order by run_id desc limit 50) r using (run_id) where r.status = 'running'),
      (select max(audit_id) from ops.audit), (select max(notice_id) from ops.notices),
      (select string_agg(bulk_id || state || (ended_at is null), ',' order by bulk_id) from (select * from ops.bulk_actions order by bulk_id desc limit 20) b),
      (select string_agg(worker_id::text || (draining_since is null), ',' order by worker_id) from ops.workers where seen_at > clock_timestamp() - ${GONE_AFTER}::interval),
      (select max(decision_id) from ledger.decisions),
      (select max(claim_no) from ledger.attempts where exists (select from ops.leases where expires_at > clock_timestamp())),
      (select string_agg(job || slot || state, ',' order by job) from (select distinct on (job) job, slot, state from ops.slots order by job, slot desc) s)
    ) as version`.execute(db);
  return rows[0]?.version ?? '';
}
