import { sql } from 'kysely';
import type { Gauges } from '../../core/report.ts';
import type { WorkerSeen } from '../../core/work.ts';
import type { Database } from '../../db/connect.ts';
import { isDoubt } from '../../rollups/disposition.ts';
import { listHeldFiles } from '../files/list-held-files.ts';
import { sumRefused } from '../list-refused.ts';
import { listOpenProblems } from '../notices/list-notices.ts';
import { listPausedJobs } from '../runs/list-slots.ts';
import { listWorkers } from '../runs/list-workers.ts';

/**
 * Reads the gauges of /metrics. No query reads settled entries, so they stay cheap however long the ledger
 * is: indexes find waiting entries, refused ones and held files; runs are read from the newest, and slots of
 * one day.
 */
export async function readGauges(
  db: Database,
  { jobs, sources }: { readonly jobs: readonly string[]; readonly sources: readonly string[] },
): Promise<Gauges> {
  const held = Map.groupBy(await listHeldFiles(db, { sources }), ({ source }) => source);
  return {
    ...(await readEntries(db)),
    refused: await readRefused(db),
    heldFiles: [...held].map(([source, files]) => ({ source, files: files.length })),
    lastSuccess: await readLastSuccess(db, jobs),
    pausedJobs: (await listPausedJobs(db)).map(({ job }) => job),
    slots: await readSlots(db),
    servingProcesses: await countServing(db),
    workers: countByVersion(await listWorkers(db)),
    openUnits: await countOpenUnits(db),
    problems: (await listOpenProblems(db)).map(({ kind, job, severity }) => ({
      kind,
      job: job ?? '',
      severity,
    })),
    deliveries: await readDeliveries(db),
  };
}

async function readEntries(db: Database): Promise<Pick<Gauges, 'entries' | 'doubtAmounts'>> {
  const { rows } = await sql<{
    job: string;
    state: string;
    currency: string | null;
    entries: string;
    amount: string;
    oldest: string;
  }>`
    select e.job, case when ${isDoubt} then 'in_doubt' else e.state end as state, e.currency, count(*) as entries,
      coalesce(sum(e.amount), 0) as amount, extract(epoch from clock_timestamp() - min(e.created_at)) as oldest
    from ledger.entries e where not e.is_settled
    group by 1, 2, 3 order by 1, 2, 3`.execute(db);
  return {
    entries: [...Map.groupBy(rows, ({ job, state }) => `${job} ${state}`).values()].flatMap((group) =>
      group.slice(0, 1).map(({ job, state }) => ({
        job,
        state,
        entries: group.reduce((sum, { entries }) => sum + Number(entries), 0),
        oldestSeconds: Math.max(...group.map(({ oldest }) => Number(oldest))),
      })),
    ),
    doubtAmounts: rows.flatMap(({ job, state, currency, amount }) =>
      state === 'in_doubt' && currency !== null ? [{ job, currency, amount: Number(amount) }] : [],
    ),
  };
}

async function readRefused(db: Database): Promise<Gauges['refused']> {
  return [...Map.groupBy(await sumRefused(db), ({ job }) => job)].map(([job, sums]) => ({
    job,
    entries: sums.reduce((total, { entries }) => total + entries, 0),
  }));
}

async function readLastSuccess(db: Database, jobs: readonly string[]): Promise<Gauges['lastSuccess']> {
  const { rows } = await sql<Omit<Gauges['lastSuccess'][number], 'counts'> & { counts: object | null }>`
    select j.job, r.started_at as "startedAt", r.finished_at as at, r.counts
    from unnest(${jobs}::text[]) as j (job)
    cross join lateral (
      select started_at, finished_at, counts from ops.runs r
      where r.job = j.job and r.status in ('ok', 'issues') order by r.run_id desc limit 1
    ) r`.execute(db);
  return rows.map(({ counts, ...row }) => ({ ...row, counts: counts ?? {} }));
}

async function readSlots(db: Database): Promise<Gauges['slots']> {
  const { rows } = await sql<{ job: string; state: string; slots: string }>`
    select job, state, count(*) as slots from ops.slots
    where not is_settled or slot > clock_timestamp() - interval '1 day'
    group by 1, 2 order by 1, 2`.execute(db);
  return rows.map(({ job, state, slots }) => ({ job, state, slots: Number(slots) }));
}

async function countServing(db: Database): Promise<number> {
  const { rows } = await sql<{ processes: string }>`
    select count(*) as processes from ops.leases
    where starts_with(name, 'serve:') and expires_at > clock_timestamp()`.execute(db);
  return Number(rows[0]?.processes ?? 0);
}

function countByVersion(workers: readonly WorkerSeen[]): Gauges['workers'] {
  return [...Map.groupBy(workers, ({ version }) => version)].map(([version, group]) => ({
    version,
    workers: group.length,
  }));
}

async function countOpenUnits(db: Database): Promise<Gauges['openUnits']> {
  const { rows } = await sql<{ kind: string; units: string }>`
    select kind, count(*) as units from ops.work_units where state in ('open', 'returned') group by 1 order by 1`.execute(
    db,
  );
  return rows.map(({ kind, units }) => ({ kind, units: Number(units) }));
}

async function readDeliveries(db: Database): Promise<Gauges['deliveries']> {
  const { rows } = await sql<{ channel: string; state: string; deliveries: string; oldest: string }>`
    select channel, state, count(*) as deliveries,
      greatest(0, extract(epoch from clock_timestamp() - min(due_at))) as oldest
    from ops.notice_deliveries
    where state = 'pending' or (state = 'given_up' and due_at > clock_timestamp() - interval '2 days')
    group by 1, 2 order by 1, 2`.execute(db);
  return rows.map(({ channel, state, deliveries, oldest }) => ({
    channel,
    state,
    deliveries: Number(deliveries),
    oldestSeconds: Number(oldest),
  }));
}
