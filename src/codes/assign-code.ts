import { foldCode } from '../core/text/fold.ts';
import type { Database } from '../db/connect.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { execute, finds, rowOf, rowsOf } from '../db/statement.ts';
import { type CodeCells, type CodeRow, parseCodeCells } from './parse-codes.ts';

/**
 * Owners of codes that a person assigned in the console. From the next run on they count like rows of
 * codes.csv, unless that file names the code itself.
 */

/** The result of an assignment. `listed`: codes.csv names the code and takes precedence. */
export type Assigned =
  | { readonly kind: 'assigned'; readonly code: string }
  | { readonly kind: 'unusable'; readonly why: string }
  | { readonly kind: 'listed'; readonly line: number };

/**
 * Assigns a code to an owner and withdraws it from its previous one. The next run of the job matches the
 * code's orders again.
 */
export async function assignCode(
  trx: DatabaseTransaction,
  {
    job,
    cells,
    assignedBy,
  }: { readonly job: string; readonly cells: CodeCells; readonly assignedBy: string },
): Promise<Assigned> {
  const { row, problems } = parseCodeCells(cells);
  if (row === null)
    return { kind: 'unusable', why: problems.map(({ reason, help }) => `${reason} ${help}`).join(' ') };
  const first = await rowOf<{ line: number }>(trx)`
    select min(line_no) as line from intake.codes where job = ${job} and code_folded = ${row.folded} and line_no > 0
    having min(line_no) is not null`;
  if (first !== undefined) return { kind: 'listed', line: first.line };
  await withdrawCode(trx, { job, code: row.code });
  await execute(trx)`
    insert into intake.code_assignments (job, code, code_folded, brand_id, influencer_handle, deal_id, collab_id, valid_from, valid_to, assigned_by)
    values (${job}, ${row.code}, ${row.folded}, ${row.brandId}, ${row.handle}, ${row.dealId}, ${row.collabId},
      ${cells.valid_from?.trim() || null}, ${cells.valid_to?.trim() || null}, ${assignedBy})`;
  return { kind: 'assigned', code: row.code };
}

/**
 * Withdraws an assigned code from its owner. Orders that were already credited stay credited. @returns true
 * if the code was assigned.
 */
export async function withdrawCode(
  trx: DatabaseTransaction,
  { job, code }: { readonly job: string; readonly code: string },
): Promise<boolean> {
  return finds(trx)`
    update intake.code_assignments set withdrawn_at = clock_timestamp()
    where job = ${job} and code_folded = ${foldCode(code)} and withdrawn_at is null returning assignment_id`;
}

/** Reads the assigned codes of a job as rows of codes.csv with line 0, without those that the file names. */
export async function readAssignedCodes(
  db: Database,
  { job, listed }: { readonly job: string; readonly listed: readonly CodeRow[] },
): Promise<readonly CodeRow[]> {
  const rows = await rowsOf<CodeCells>(db)`
    select code, brand_id, influencer_handle, deal_id, collab_id, valid_from, valid_to from intake.code_assignments
    where job = ${job} and withdrawn_at is null order by code_folded`;
  const named = new Set(listed.map(({ folded }) => folded));
  return rows.flatMap((cells) => {
    const { row } = parseCodeCells(cells);
    return row === null || named.has(row.folded) ? [] : [row];
  });
}
