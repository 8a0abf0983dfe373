import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { ProblemKind, Severity } from '../model/notify/notice.ts';

/** A problem that is open. */
export type OpenProblem = {
  readonly problemId: string;
  readonly kind: ProblemKind;
  readonly job: string | null;
  readonly severity: Severity;
};

export async function readOpenProblems(db: Database): Promise<readonly OpenProblem[]> {
  const { rows } = await sql<OpenProblem>`
    select problem_id as "problemId", kind, job, severity from ops.problems where resolved_at is null order by problem_id`.execute(
    db,
  );
  return rows;
}

/** When problems of a kind were last observed, by job. */
export async function lastObservations(
  db: Database,
  kind: ProblemKind,
): Promise<readonly { readonly job: string | null; readonly at: Date }[]> {
  const { rows } = await sql<{ job: string | null; at: Date }>`
    select job, max(observed_at) as at from ops.problems where kind = ${kind} group by job`.execute(db);
  return rows;
}
