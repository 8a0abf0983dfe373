import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import { unreportedRuns } from './unreported-runs.ts';

/** What a run has read of files in which each row stands for itself. */
export type RowFiles = {
  readonly sealed: number;
  readonly duplicates: number;
  /** Rows of sealed files: those of a held file are neither used nor lost, the file is shown instead. */
  readonly rows: number;
  readonly rejectedRows: number;
  /** Rows that state nothing that is looked for, by reason. */
  readonly passedOver: Readonly<Record<string, number>>;
  /** Whether every row is accounted for. */
  readonly addUp: boolean;
};

/** Files of a run, and of runs of its job before it that could not report them. */
export async function readRowFiles(db: Database, runId: string): Promise<RowFiles> {
  const ofRun = sql`f.run_id in ${unreportedRuns(runId, 'reported')}`;
  const { rows } = await sql<Record<'sealed' | 'duplicates' | 'rows' | 'used' | 'rejected', string>>`
    select count(*) filter (where f.state = 'sealed') as sealed, count(*) filter (where f.state = 'duplicate') as duplicates,
      coalesce(sum(f.rows_read) filter (where f.state = 'sealed'), 0) as rows,
      coalesce(sum(f.other_rows) filter (where f.state = 'sealed'), 0) as used,
      coalesce(sum(f.rejected_rows) filter (where f.state = 'sealed'), 0) as rejected
    from intake.source_files f where ${ofRun}`.execute(db);
  const { rows: passed } = await sql<{ why: string; rows: string }>`
    select p.key as why, sum(p.value::bigint) as rows from intake.source_files f cross join lateral jsonb_each_text(f.passed_over) p
    where ${ofRun} and f.state = 'sealed' group by p.key order by p.key`.execute(db);
  const of = (key: 'sealed' | 'duplicates' | 'rows' | 'used' | 'rejected') => Number(rows[0]?.[key] ?? 0);
  return {
    sealed: of('sealed'),
    duplicates: of('duplicates'),
    rows: of('rows'),
    rejectedRows: of('rejected'),
    passedOver: Object.fromEntries(passed.map((row) => [row.why, Number(row.rows)])),
    addUp: of('rows') === of('used') + of('rejected'),
  };
}
