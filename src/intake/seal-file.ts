import { sql, type Transaction } from 'kysely';
import type { Database } from '../db/connect.ts';
import { inTransaction } from '../db/in-transaction.ts';
import type { DB } from '../db/tables.ts';
import type { HoldReason } from '../model/source.ts';
import { clearStaged } from './clear-staged.ts';
import { countStaged } from './count-staged.ts';
import type { FileRead } from './fence.ts';
import { type FileTotals, findHoldReason, type Thresholds } from './find-hold-reason.ts';
import { holdFileWithin } from './hold-file.ts';
import { rejectContradictions } from './reject-contradictions.ts';
import { settleContinuations } from './settle-continuations.ts';
import { settleRepeats } from './settle-repeats.ts';
import { dropEqualVersions, switchVersions } from './switch-versions.ts';

export type SealFileOptions = FileRead & {
  readonly runId: string;
  /** Records that the parser has counted, header excluded. */
  readonly rowsRead: number;
  /** Digest of the decoded content. */
  readonly contentSha256: string;
  /** As given to the stager. */
  readonly sums: boolean;
  readonly thresholds: Thresholds;
};

export type SealedFile =
  | ({ readonly kind: 'sealed' } & SealedTotals)
  | { readonly kind: 'held'; readonly reason: HoldReason }
  /** The same content was sealed under another name: nothing of this one is kept. */
  | { readonly kind: 'duplicate'; readonly of: { readonly sourceFileId: string; readonly uri: string } }
  /** Another reader has taken the file over: nothing was changed. */
  | { readonly kind: 'lost' };

export type SealedTotals = {
  readonly ordersNew: number;
  readonly ordersChanged: number;
  readonly ordersUnchanged: number;
  readonly orderRows: number;
  readonly rejectedRows: number;
};

/**
 * T1: puts a file that was read whole in force, in one commit, or holds it: only when its rows add up and the thresholds hold.
 * Before, all batches must be staged (`finish` of the stager).
 */
export function sealFile(db: Database, options: SealFileOptions): Promise<SealedFile> {
  return inTransaction(db, async (trx) => {
    await sql`select set_config('synchronous_commit', 'on', true), set_config('jit', 'off', true)`.execute(
      trx,
    );
    const source = await lockRead(trx, options);
    if (source === null) return { kind: 'lost' };
    const original = await findOriginal(trx, source, options.contentSha256);
    if (original !== null) return markDuplicate(trx, options, original);

    const totals = await settle(trx, options);
    const reason = await findHoldReason(trx, { ...options, totals });
    if (reason !== null) {
      await holdFileWithin(trx, { ...options, reason });
      return { kind: 'held', reason };
    }
    if (totals.ordersChanged > 0) await switchVersions(trx, options.sourceFileId);
    return markSealed(trx, options, totals);
  });
}

/** Settles what only the whole file can tell, and counts. */
async function settle(trx: Transaction<DB>, options: SealFileOptions): Promise<FileTotals> {
  const { sourceFileId } = options;
  const knownRows = await settleContinuations(trx, options);
  const repeats = await settleRepeats(trx, options);
  const staged = await countStaged(trx, sourceFileId);
  const contradictions =
    staged.conflicting > 0
      ? await rejectContradictions(trx, options)
      : { new: 0, changed: 0, cancelled: 0, rows: 0 };
  const changed = staged.changed - contradictions.changed;
  const dropped = changed > 0 ? await dropEqualVersions(trx, sourceFileId) : 0;
  const { rows } = await sql<{ rows: string }>`
    select coalesce(sum(row_count), 0) as rows from intake.rejected_rows where source_file_id = ${sourceFileId}::bigint`.execute(
    trx,
  );
  return {
    ordersNew: staged.new - contradictions.new,
    ordersChanged: changed - dropped,
    ordersUnchanged: staged.unchanged - repeats.orders + dropped,
    cancelled: staged.cancelled - contradictions.cancelled,
    orderRows: staged.stagedRows - contradictions.rows + staged.unchangedRows - repeats.rows + knownRows,
    rejectedRows: Number(rows[0]?.rows ?? 0),
  };
}

async function lockRead(
  trx: Transaction<DB>,
  { sourceFileId, reader }: SealFileOptions,
): Promise<string | null> {
  const { rows } = await sql<{ source: string }>`
    select source from intake.source_files
    where source_file_id = ${sourceFileId}::bigint and reader = ${reader}::uuid and state = 'reading' for update`.execute(
    trx,
  );
  return rows[0]?.source ?? null;
}

type Original = { readonly sourceFileId: string; readonly uri: string };

async function findOriginal(
  trx: Transaction<DB>,
  source: string,
  contentSha256: string,
): Promise<Original | null> {
  const { rows } = await sql<Original>`
    select source_file_id as "sourceFileId", uri from intake.source_files
    where source = ${source} and content_sha256 = ${contentSha256} and state = 'sealed'
    order by source_file_id limit 1`.execute(trx);
  return rows[0] ?? null;
}

async function markDuplicate(
  trx: Transaction<DB>,
  options: SealFileOptions,
  original: Original,
): Promise<SealedFile> {
  const { sourceFileId, rowsRead, contentSha256 } = options;
  await clearStaged(trx, sourceFileId);
  await sql`
    update intake.source_files
    set state = 'duplicate', reader = null, duplicate_of = ${original.sourceFileId}::bigint, rows_read = ${rowsRead}::bigint,
        content_sha256 = ${contentSha256}
    where source_file_id = ${sourceFileId}::bigint`.execute(trx);
  return { kind: 'duplicate', of: original };
}

async function markSealed(
  trx: Transaction<DB>,
  options: SealFileOptions,
  { cancelled: _cancelled, ...totals }: FileTotals,
): Promise<SealedFile> {
  const { sourceFileId, runId, rowsRead, contentSha256 } = options;
  await sql`
    update intake.source_files
    set state = 'sealed', reader = null, sealed_at = now(), run_id = ${runId}::bigint, rows_read = ${rowsRead}::bigint,
        content_sha256 = ${contentSha256}, orders_new = ${totals.ordersNew}::bigint, orders_changed = ${totals.ordersChanged}::bigint,
        orders_unchanged = ${totals.ordersUnchanged}::bigint, order_rows = ${totals.orderRows}::bigint,
        rejected_rows = ${totals.rejectedRows}::bigint
    where source_file_id = ${sourceFileId}::bigint`.execute(trx);
  await sql`delete from intake.order_continuations where source_file_id = ${sourceFileId}::bigint`.execute(
    trx,
  );
  await sql`delete from intake.order_sightings where source_file_id = ${sourceFileId}::bigint`.execute(trx);
  return { kind: 'sealed', ...totals };
}
