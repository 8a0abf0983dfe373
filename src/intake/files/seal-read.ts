import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { FooterRow } from '../../core/record.ts';
import type { HoldReason } from '../../core/source.ts';
import { inTransaction } from '../../db/in-transaction.ts';
import { keepsPlan } from '../../db/keeps-plan.ts';
import { settingsForLargeStatements } from '../../db/large-statements.ts';
import { type Database, rowOf, toJsonParameter } from '../../db/statement.ts';
import type { DB } from '../../db/tables.ts';
import { checkFile, type FileCheck, type Measured } from '../checks/check-file.ts';
import { clearStaged } from './clear-staged.ts';
import type { FileRead } from './fence.ts';

export type SealReadOptions = FileRead & {
  readonly runId: string;
  /** Number of records that the parser has counted, without the header. */
  readonly rowsRead: number;
  /** SHA-256 of the decoded content. */
  readonly contentSha256: string;
  /** Rows at its end that are no records of it. None if omitted. */
  readonly footer?: readonly FooterRow[];
  /** The expectations for files of the source. Nothing is checked if omitted. */
  readonly check?: FileCheck;
};

/** The steps of sealing that depend on what the file contains. */
export type Content<Totals> = {
  /**
   * Stages rows that have waited until the end, so that a file of few rows is staged and sealed by one commit.
   * All rows are staged already if omitted.
   *
   * @returns false if another reader has taken over the file.
   */
  readonly stageRest?: ((trx: Transaction<DB>) => Promise<boolean>) | undefined;
  /**
   * Resolves what can be decided only once the whole file has been read, and counts the rows.
   *
   * @param isReread true if an earlier reading of the same version is superseded by this one.
   */
  readonly settle: (trx: Transaction<DB>, isReread: boolean) => Promise<Totals>;
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
  /** The same content was sealed under another name, and is in force. Nothing of this file is kept. */
  | { readonly kind: 'duplicate'; readonly of: Original }
  /** Another reader has taken over the file. Nothing was changed. */
  | { readonly kind: 'lost' };

export type Original = { readonly sourceFileId: string; readonly uri: string };

/**
 * Transition T1 (docs/ledger.md): seals a file that was read completely, in one transaction, or holds it. No
 * batch may be on its way to the database meanwhile, because it would wait for the lock that this takes.
 */
export function sealRead<Totals>(
  db: Database,
  options: SealReadOptions,
  content: Content<Totals>,
): Promise<SealedRead<Totals>> {
  return inTransaction(db, async (trx) => {
    const locked = await lockRead(trx, options);
    if (locked === null) return { kind: 'lost' };
    const { isReread, original } = locked;
    if (original !== null) {
      await markDuplicate(trx, options, original);
      return { kind: 'duplicate', of: original };
    }
    if (content.stageRest !== undefined && !(await content.stageRest(trx))) return { kind: 'lost' };
    const totals = await content.settle(trx, isReread);
    const reason =
      (await content.findHoldReason(trx, totals)) ??
      (await checkFile(trx, { ...options, isReread }, () => content.measure(trx, totals)));
    if (reason !== null) {
      await holdFileWithin(trx, { ...options, reason });
      return { kind: 'held', reason };
    }
    await markSealed(trx, options, await content.publish(trx, totals));
    return { kind: 'sealed', ...totals };
  });
}

type LockedRead = {
  /** True if an earlier reading of the same version has been superseded by this one. */
  readonly isReread: boolean;
  /** The sealed file of the source with the same content, if there is one and all that it states is in force. */
  readonly original: Original | null;
};

/**
 * Locks the file's row against a takeover, and sets up the transaction for statements over many rows. One
 * statement does both and tells everything about the file, because a source may have thousands of small files.
 *
 * @returns null if another reader has taken over the file.
 */
async function lockRead(
  trx: Transaction<DB>,
  { sourceFileId, reader, contentSha256, rowsRead }: SealReadOptions,
): Promise<LockedRead | null> {
  const row = await rowOf<
    { isReread: boolean } & (
      | { originalId: string; originalUri: string }
      | { originalId: null; originalUri: null }
    )
  >(trx)`
    select ${settingsForLargeStatements({ isDurable: true, rows: rowsRead })},
      o.source_file_id as "originalId", o.uri as "originalUri",
      exists (select from intake.source_files e where e.superseded_by = f.source_file_id) as "isReread"
    from intake.source_files f
    left join lateral (
      select o.source_file_id, o.uri from intake.source_files o
      where o.source = f.source and o.read_for = f.read_for and o.content_sha256 = ${contentSha256}
        and o.state = 'sealed'
        and o.superseded_by is null and (f.read_for = 'orders' or o.layout_hash = f.layout_hash)
        and ${isInForce('o')}
      order by o.source_file_id limit 1
    ) o on true
    where f.source_file_id = ${sourceFileId}::bigint and f.reader = ${reader}::uuid and f.state = 'reading'
    for update of f ${keepsPlan}`;
  if (row === undefined) return null;
  const original = row.originalId === null ? null : { sourceFileId: row.originalId, uri: row.originalUri };
  return { isReread: row.isReread, original };
}

/**
 * SQL that is true if everything that a sealed file states is in force: no file after it has changed anything. If not,
 * the same content is another statement, which may be newer.
 */
function isInForce(file: string): RawBuilder<boolean> {
  const o = (column: string) => sql.ref(`${file}.${column}`);
  return sql<boolean>`
    (${o('orders_older')} = 0 and ${o('rows_older')} = 0 and ${o('orders_conflicting')} = 0 and not exists (
    select from intake.source_files later
    where later.source = ${o('source')} and later.read_for = ${o('read_for')} and later.state = 'sealed'
      and (later.orders_changed > 0 or later.read_for <> 'orders')
      and later.sealed_at >= ${o('sealed_at')} and later.source_file_id <> ${o('source_file_id')}))`;
}

async function markDuplicate(
  trx: Transaction<DB>,
  { sourceFileId, rowsRead, contentSha256 }: SealReadOptions,
  original: Original,
): Promise<void> {
  await clearStaged(trx, sourceFileId);
  await trx
    .updateTable('intake.source_files')
    .set({
      state: 'duplicate',
      reader: null,
      duplicate_of: original.sourceFileId,
      rows_read: rowsRead,
      content_sha256: contentSha256,
    })
    .where('source_file_id', '=', sourceFileId)
    .execute();
}

async function markSealed(
  trx: Transaction<DB>,
  { sourceFileId, runId, rowsRead, contentSha256, footer = [] }: SealReadOptions,
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
      ...(footer.length === 0 ? {} : { footer: toJsonParameter(footer) }),
    })
    .where('source_file_id', '=', sourceFileId)
    .modifyEnd(keepsPlan)
    .execute();
}

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
async function holdFileWithin(trx: Transaction<DB>, options: FileRead & { readonly reason: HoldReason }) {
  const { sourceFileId, reader, reason } = options;
  const { numUpdatedRows } = await trx
    .updateTable('intake.source_files')
    .set({
      state: 'held',
      reader: null,
      hold_code: reason.code,
      hold_message: reason.message,
      hold_help: reason.help,
      hold_is_transient: reason.isTransient ?? false,
    })
    .where((eb) => eb.and({ source_file_id: sourceFileId, reader, state: 'reading' }))
    .executeTakeFirst();
  if (numUpdatedRows === 0n) return false;
  await clearStaged(trx, sourceFileId);
  return true;
}
