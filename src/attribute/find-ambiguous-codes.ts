import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import type { CodeProblem } from '../model/report.ts';

const HELP =
  'Give it to one of them, or let their validity periods follow each other. Until then its orders are held.';

/**
 * Rows of the job's codes that give one code, or one custom link, to different owners at the same time: a problem for each of the two. What
 * an event told of stands in no line.
 */
export async function findAmbiguousCodes(
  db: Database,
  { job, brandId }: { readonly job: string; readonly brandId: string },
): Promise<readonly CodeProblem[]> {
  const { rows } = await sql<{
    line_no: number;
    code: string | null;
    link: string | null;
    other_line: number;
    other: string;
  }>`
    with owners as (
      select c.*, coalesce(c.code_folded, array_to_string(c.link_folded, ' ')) as folded, c.code is null as is_link
      from intake.codes c where c.job = ${job}
    ),
    -- Only what has several owners is compared: a nested loop over all codes would take minutes.
    shared as materialized (
      select * from (
        select o.*, min(target) over same <> max(target) over same as is_shared from owners o window same as (partition by folded, is_link)
      ) o where is_shared
    )
    select a.line_no, a.code, a.link, min(b.line_no) as other_line, min(b.target) as other
    from shared a join shared b on b.folded = a.folded and b.is_link = a.is_link
    where b.line_no <> a.line_no and b.target <> a.target
      and coalesce(a.brand_id, ${brandId}) = coalesce(b.brand_id, ${brandId})
      and coalesce(a.valid_from, '-infinity') < coalesce(b.valid_to, 'infinity')
      and coalesce(b.valid_from, '-infinity') < coalesce(a.valid_to, 'infinity')
    group by a.line_no, a.code, a.link order by a.line_no`.execute(db);
  return rows.map((row) => ({
    line: row.line_no,
    column: row.code === null ? 'link' : 'code',
    value: row.code ?? row.link,
    reason:
      row.other_line > 0
        ? `Line ${row.other_line} gives the code to another owner at the same time.`
        : `An event of the service gave it to ${row.other} for the same time.`,
    help: HELP,
  }));
}
