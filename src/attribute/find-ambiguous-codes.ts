import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { CodeProblem } from '../model/run.ts';

const HELP =
  'Leave the code to one of them, or make the windows follow each other. Until then its orders are held.';

/** Rows of the job's codes that give one code to different owners at the same time: a problem for each of the two lines. */
export async function findAmbiguousCodes(
  db: Database,
  { job, brandId }: { readonly job: string; readonly brandId: string },
): Promise<readonly CodeProblem[]> {
  const { rows } = await sql<{ line_no: number; code: string; other_line: number }>`
    select a.line_no, a.code, min(b.line_no) as other_line
    from intake.codes a join intake.codes b on b.job = a.job and b.code_folded = a.code_folded
    where a.job = ${job} and b.line_no <> a.line_no and b.target <> a.target
      and coalesce(a.brand_id, ${brandId}) = coalesce(b.brand_id, ${brandId})
      and coalesce(a.valid_from, '-infinity') < coalesce(b.valid_to, 'infinity')
      and coalesce(b.valid_from, '-infinity') < coalesce(a.valid_to, 'infinity')
    group by a.line_no, a.code order by a.line_no`.execute(db);
  return rows.map((row) => ({
    line: row.line_no,
    column: 'code',
    value: row.code,
    reason: `Line ${row.other_line} gives the code to somebody else at the same time.`,
    help: HELP,
  }));
}
