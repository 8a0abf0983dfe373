import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { Gauges } from '../model/report.ts';
import { isDoubt } from './disposition.ts';
import { listOpenProblems } from './list-notices.ts';

/**
 * The figures of /metrics. None of the queries reads what is settled, so they stay cheap however long the ledger is: the entries that wait
 * by their index, the runs from the newest on, the slots of a day.
 */
export async function readGauges(db: Database, jobs: readonly string[]): Promise<Gauges> {
  return {
    entries: await readEntries(db),
    lastSuccess: await readLastSuccess(db, jobs),
    slots: await readSlots(db),
    problems: (await listOpenProblems(db)).map(({ kind, job, severity }) => ({
      kind,
      job: job ?? '',
      severity,
    })),
    deliveries: await readDeliveries(db),
  };
}

async function readEntries(db: Database): Promise<Gauges['entries']> {
  const { rows } = await sql<{ job: string; state: string; entries: string; oldest: string }>`
    select e.job, case when ${isDoubt} then 'in_doubt' else e.state end as state, count(*) as entries,
      extract(epoch from clock_timestamp() - min(e.created_at)) as oldest
    from ledger.entries e where not e.is_settled
    group by 1, 2 order by 1, 2`.execute(db);
  return rows.map(({ job, state, entries, oldest }) => ({
    job,
    state,
    entries: Number(entries),
    oldestSeconds: Number(oldest),
  }));
}

async function readLastSuccess(db: Database, jobs: readonly string[]): Promise<Gauges['lastSuccess']> {
  const { rows } = await sql<{ job: string; at: Date }>`
    select j.job, r.finished_at as at
    from unnest(${jobs}::text[]) as j (job)
    cross join lateral (
      select finished_at from ops.runs r where r.job = j.job and r.status in ('ok', 'issues') order by r.run_id desc limit 1
    ) r`.execute(db);
  return rows;
}

async function readSlots(db: Database): Promise<Gauges['slots']> {
  const { rows } = await sql<{ job: string; state: string; slots: string }>`
    select job, state, count(*) as slots from ops.slots
    where not is_settled or slot > clock_timestamp() - interval '1 day'
    group by 1, 2 order by 1, 2`.execute(db);
  return rows.map(({ job, state, slots }) => ({ job, state, slots: Number(slots) }));
}

async function readDeliveries(db: Database): Promise<Gauges['deliveries']> {
  const { rows } = await sql<{ channel: string; state: string; deliveries: string }>`
    select channel, state, count(*) as deliveries from ops.notice_deliveries
    where state = 'pending' or (state = 'given_up' and due_at > clock_timestamp() - interval '2 days')
    group by 1, 2 order by 1, 2`.execute(db);
  return rows.map((row) => ({ ...row, deliveries: Number(row.deliveries) }));
}
