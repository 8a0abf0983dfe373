import { sql, type Transaction } from 'kysely';
import type { DB } from '../db/tables.ts';

/** Removes all that a file's read has staged. The caller holds the lock on the file's row, and the file is not sealed. */
export async function clearStaged(trx: Transaction<DB>, sourceFileId: string): Promise<void> {
  for (const table of ['orders', 'order_continuations', 'order_sightings', 'rejected_rows']) {
    await sql`delete from ${sql.table(`intake.${table}`)} where source_file_id = ${sourceFileId}::bigint`.execute(
      trx,
    );
  }
}
