import { sql, type Transaction } from 'kysely';
import type { Database } from '../../db/connect.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { suitLargeStatements } from '../../db/large-statements.ts';
import type { DB } from '../../db/tables.ts';
import type { HoldReason } from '../../model/source.ts';
import { checkFile, type FileCheck, type Measured } from '../checks/check-file.ts';
import { clearStaged } from './clear-staged.ts';
import type { FileRead } from './fence.ts';
import { holdFileWithin } from './hold-file.ts';

export type SealReadOptions = FileRead & {
  readonly runId: string;
  /** Number of records that the parser has counted, without the header. */
  readonly rowsRead: number;
  /** SHA-256 of the decoded content. */
  readonly contentSha256: string;
  /** The expectations for files of the source. Nothing is checked if omitted. */
  readonly check?: FileCheck;
};

/** The steps of sealing that depend on what the file contains. */
export type Content<Totals> = {
  /** Resolves what can be decided only once the whole file has been read, and counts the rows. */
  readonly settle: (trx: Transaction<DB>) => Promise<Totals>;
  /** Returns the reason to hold the file, or null if there is none. */
  readonly findHoldReason: (trx: Transaction<DB>, totals: Totals) => Promise<HoldReason | null>;
  /** Computes the statistics that the checks need. */
  readonly measure: (trx: Transaction<DB>, totals: Totals) => Promise<Measured>;
  /**
   * Makes the rows take effect. The file's row is then sealed in the same transaction, with the returned
   * columns.
   */
  readonly publish: (trx: Transaction<DB>, totals: Totals) => Promise<FileColumns>;
};

/** Columns of intake.source_files. */
export type FileColumns = Readonly<Record<string, number | string | readonly string[]>>;

export type SealedRead<Totals> =
  | ({ readonly kind: 'sealed' } & Totals)
  | { readonly kind: 'held'; readonly reason: HoldReason }
  /** The same content was sealed under another name. Nothing of this file is kept. */
  | { readonly kind: 'duplicate'; readonly of: Original }
  /** Another reader has taken over the file. Nothing was changed. */
  | { readonly kind: 'lost' };

export type Original = { readonly sourceFileId: string; readonly uri: string };

/**
 * Transition T1 (docs/ledger.md): seals a file that was read completely, in one transaction, or holds it. All
 * batches must have been staged before (`finish` of the stager).
 */
export function sealRead<Totals>(
  db: Database,
  options: SealReadOptions,
  content: Content<Totals>,
): Promise<SealedRead<Totals>> {
  return inTransaction(db, async (trx) => {
    await sql`select set_config('synchronous_commit', 'on', true)`.execute(trx);
    await suitLargeStatements(trx);
    if (!(await lockRead(trx, options))) return { kind: 'lost' };
    const original = await findOriginal(trx, options);
    if (original !== null) {
      await markDuplicate(trx, options, original);
      return { kind: 'duplicate', of: original };
    }
    const totals = await content.settle(trx);
    const reason =
      (await content.findHoldReason(trx, totals)) ??
      (await checkFile(trx, options, () => content.measure(trx, totals)));
    if (reason !== null) {
      await holdFileWithin(trx, { ...options, reason });
      return { kind: 'held', reason };
    }
    await markSealed(trx, options, await content.publish(trx, totals));
    return { kind: 'sealed', ...totals };
  });
}

async function lockRead(trx: Transaction<DB>, { sourceFileId, reader }: SealReadOptions): Promise<boolean> {
  const { rows } = await sql`
    select from intake.source_files
    where source_file_id = ${sourceFileId}::bigint and reader = ${reader}::uuid and state = 'reading' for update`.execute(
    trx,
  );
  return rows.length > 0;
}

async function findOriginal(
  trx: Transaction<DB>,
  { sourceFileId, contentSha256 }: SealReadOptions,
): Promise<Original | null> {
  const { rows } = await sql<Original>`
    select o.source_file_id as "sourceFileId", o.uri
    from intake.source_files f join intake.source_files o on o.source = f.source and o.read_for = f.read_for
    where f.source_file_id = ${sourceFileId}::bigint and o.content_sha256 = ${contentSha256} and o.state = 'sealed'
      and o.superseded_by is null
      and (f.read_for = 'orders' or o.layout_hash = f.layout_hash)
    order by o.source_file_id limit 1`.execute(trx);
  return rows[0] ?? null;
}

async function markDuplicate(
  trx: Transaction<DB>,
  { sourceFileId, rowsRead, contentSha256 }: SealReadOptions,
  original: Original,
): Promise<void> {
  await clearStaged(trx, sourceFileId);
  await sql`
    update intake.source_files
    set state = 'duplicate', reader = null, duplicate_of = ${original.sourceFileId}::bigint, rows_read = ${rowsRead}::bigint,
        content_sha256 = ${contentSha256}
    where source_file_id = ${sourceFileId}::bigint`.execute(trx);
}

async function markSealed(
  trx: Transaction<DB>,
  { sourceFileId, runId, rowsRead, contentSha256 }: SealReadOptions,
  columns: FileColumns,
): Promise<void> {
  await trx
    .updateTable('intake.source_files')
    .set({
      ...columns,
      state: 'sealed',
      reader: null,
      sealed_at: sql`now()`,
      run_id: runId,
      rows_read: rowsRead,
      content_sha256: contentSha256,
    })
    .where('source_file_id', '=', sourceFileId)
    .execute();
}
