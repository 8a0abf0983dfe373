import { foldCode } from '../core/text/fold.ts';
import { databaseClock } from '../db/clock.ts';
import type { Database } from '../db/connect.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
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
  { job, cells, assignedBy }: { job: string; cells: CodeCells; assignedBy: string },
): Promise<Assigned> {
  const { row, problems } = parseCodeCells(cells);
  if (row === null)
    return { kind: 'unusable', why: problems.map(({ reason, help }) => `${reason} ${help}`).join(' ') };
  const first = await trx
    .selectFrom('intake.codes')
    .select('line_no as line')
    .where((eb) => eb.and({ job, code_folded: row.folded }))
    .where('line_no', '>', 0)
    .orderBy('line_no')
    .limit(1)
    .executeTakeFirst();
  if (first !== undefined) return { kind: 'listed', line: first.line };
  await withdrawCode(trx, { job, code: row.code });
  const assignment = {
    job,
    code: row.code,
    code_folded: row.folded,
    brand_id: row.brandId,
    influencer_handle: row.handle,
    deal_id: row.dealId,
    collab_id: row.collabId,
    valid_from: cells.valid_from?.trim() || null,
    valid_to: cells.valid_to?.trim() || null,
    assigned_by: assignedBy,
  };
  await trx.insertInto('intake.code_assignments').values(assignment).execute();
  return { kind: 'assigned', code: row.code };
}

/**
 * Withdraws an assigned code from its owner. Orders that were already credited stay credited. @returns true
 * if the code was assigned.
 */
export async function withdrawCode(
  trx: DatabaseTransaction,
  { job, code }: { job: string; code: string },
): Promise<boolean> {
  const withdrawn = await trx
    .updateTable('intake.code_assignments')
    .set({ withdrawn_at: databaseClock })
    .where((eb) => eb.and({ job, code_folded: foldCode(code), withdrawn_at: null }))
    .executeTakeFirst();
  return withdrawn.numUpdatedRows > 0;
}

/** Reads the assigned codes of a job as rows of codes.csv with line 0, without those that the file names. */
export async function readAssignedCodes(
  db: Database,
  { job, listed }: { job: string; listed: readonly CodeRow[] },
): Promise<readonly CodeRow[]> {
  const rows: readonly CodeCells[] = await db
    .selectFrom('intake.code_assignments')
    .select(['code', 'brand_id', 'influencer_handle', 'deal_id', 'collab_id', 'valid_from', 'valid_to'])
    .where((eb) => eb.and({ job, withdrawn_at: null }))
    .orderBy('code_folded')
    .execute();
  const named = new Set(listed.map(({ folded }) => folded));
  return rows.flatMap((cells) => {
    const { row } = parseCodeCells(cells);
    return row === null || named.has(row.folded) ? [] : [row];
  });
}
