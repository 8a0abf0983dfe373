import type { Transaction } from 'kysely';
import type { HoldReason } from '../../core/source.ts';
import type { Database } from '../../db/connect.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { rowsOf } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import { clearStaged } from './clear-staged.ts';
import type { FileRead } from './fence.ts';

/**
 * Holds a file: clears what was staged and stores the reason.
 *
 * @returns false if another reader has taken over the file; then nothing was changed.
 */
export function holdFile(
  db: Database,
  options: FileRead & { readonly reason: HoldReason },
): Promise<boolean> {
  return inTransaction(db, (trx) => holdFileWithin(trx, options));
}

/** Like `holdFile`, within the caller's transaction. */
export async function holdFileWithin(
  trx: Transaction<DB>,
  options: FileRead & { readonly reason: HoldReason },
): Promise<boolean> {
  const { sourceFileId, reader, reason } = options;
  const rows = await rowsOf(trx)`
    update intake.source_files
    set state = 'held', reader = null, hold_code = ${reason.code}, hold_message = ${reason.message}, hold_help = ${reason.help},
        hold_is_transient = ${reason.isTransient ?? false}::boolean
    where source_file_id = ${sourceFileId}::bigint and reader = ${reader}::uuid and state = 'reading'
    returning source_file_id`;
  if (rows.length === 0) return false;
  await clearStaged(trx, sourceFileId);
  return true;
}
