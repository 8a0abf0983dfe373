import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { BackfillRunReport } from '../model/backfill.ts';
import type { RunAmount } from '../model/report.ts';

/** What a process that planned or executed a backfill did: to be called when it has settled what it claimed. */
export async function reportBackfill(db: Database, runId: string): Promise<BackfillRunReport> {
  const { rows: files } = await sql<{ files: number; rows: number; rejected: number }>`
    select count(*)::float8 as files, coalesce(sum(rows_read), 0)::float8 as rows, coalesce(sum(rejected_rows), 0)::float8 as rejected
    from intake.source_files where run_id = ${runId}::bigint and state = 'sealed'`.execute(db);
  const { rows: plans } = await sql<{ orders: number }>`
    select (
        select coalesce(sum((g ->> 'orders')::bigint), 0)::float8 from jsonb_array_elements(b.plan -> 'groups') g
        where g ->> 'standing' = 'to_post') as orders
    from ops.backfills b where b.run_id = ${runId}::bigint`.execute(db);
  const { rows: sent } = await sql<{ state: string; currency: string; orders: number; amount: string }>`
    select e.state, e.currency, count(*)::float8 as orders, sum(e.amount)::text as amount
    from ledger.attempts t join ledger.entries e on e.entry_id = t.entry_id and e.attempt = t.attempt
    where t.run_id = ${runId}::bigint group by e.state, e.currency order by e.state, e.currency`.execute(db);
  const countOf = (which: string): number =>
    sent.reduce((sum, { state, orders }) => (state === which ? sum + orders : sum), 0);
  const [read] = files;
  return {
    counts: {
      files: read?.files ?? 0,
      rows: read?.rows ?? 0,
      rejected_rows: read?.rejected ?? 0,
      planned: plans[0]?.orders ?? null,
      entries: {
        accepted: countOf('accepted'),
        rejected: countOf('rejected'),
        in_doubt: countOf('in_doubt'),
      },
    },
    amounts: sent
      .filter(({ state }) => state === 'accepted')
      .map(({ currency, amount }): RunAmount => ({ currency, accepted: amount })),
  };
}
