import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { withStateFolder } from '../../config/environment/state-folder.ts';
import { databaseLocation, journalFolder, shortPath } from '../../config/locate.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import { EXIT } from '../../core/exit-code.ts';
import { configurationError, KnownError, refusal } from '../../core/known-error.ts';
import type { Progress } from '../../core/progress.ts';
import type { Database } from '../../db/connect.ts';
import { hasMigrations, migrate } from '../../db/migrate.ts';
import { closeEmbedded, requireSamePlace } from '../../db/move/closed-database.ts';
import { copyDatabase, hasNoRows, keepRunsWaiting } from '../../db/move/copy-database.ts';
import { compare, requireWholeLedger } from '../../ledger/continuity/compare-ledger.ts';
import { ensureLedgerId, readLedgerId, shortLedgerId } from '../../ledger/continuity/identity.ts';
import { beginRecord, ownJournalFolders } from '../../ledger/continuity/journal-places.ts';
import { keepLedgerLocation, markCompared, readMachineId } from '../../ledger/continuity/machines.ts';
import { withDatabase } from '../open/open-config.ts';
import type { Stopping } from '../terminal/listen-for-stop.ts';
import { auditIn } from '../terminal/read-operator.ts';
import { usageError } from '../usage-error.ts';

export type Moved = {
  readonly ledger: string;
  /** Null if an earlier attempt had already moved it. */
  readonly rows: number | null;
};

type MoveOptions = {
  readonly reason: string;
  /** Only says what would be refused. Nothing is written on either side. */
  readonly isDryRun: boolean;
  readonly progress: Progress;
  readonly stopping: Stopping;
};

/**
 * Moves the embedded database of a data folder to the server that the configuration names. The copy, its audit record and
 * the place of the ledger become visible in one commit. The embedded database is closed for good before that
 * commit, so at no moment can both be posted from. A process that dies in between leaves an empty server and a closed
 * embedded database: the same command again finishes the move.
 *
 * @throws KnownError `nothing_to_move`, `database_moved_elsewhere`, `target_not_empty` (exit 2); `database_in_use`
 *   (exit 5) while a run or `serve` uses the embedded database; (exit 7) if the ledger lost claims; `interrupted` (exit
 *   130).
 */
export async function moveLedger(
  config: PipelineConfig,
  { reason, isDryRun, progress, stopping }: MoveOptions,
): Promise<Moved> {
  const { url, dataFolder } = config.database;
  if (url === '')
    throw usageError(
      'DATABASE_URL (database.url) names no server to which the embedded database could be moved.',
      'Set it to the address of an empty database, as the owner of its tables.',
    );
  if (!existsSync(join(dataFolder, 'postgres')))
    throw refusal({
      code: 'nothing_to_move',
      message: 'There is no embedded database in the data folder.',
      where: shortPath(dataFolder),
      help: 'Use the configuration of the trial: its data folder is .data beside pipeline.yaml, or INFLUENCER_SYNC_DATA.',
    });
  requireSamePlace(dataFolder, databaseLocation(config.database));
  const embedded = withStateFolder({ ...config, database: { ...config.database, url: '' } }, process.env);
  const moveTo = async (server: Database): Promise<Moved> => {
    if (!isDryRun) await migrate(server);
    const move = async (source: Database): Promise<Moved> => {
      // The command `migrate` would migrate the server instead.
      if (!isDryRun) await migrate(source);
      await requireWholeLedger(source, embedded);
      if (isDryRun) return tryMove(source, server, config);
      return moveRows(source, server, { config, embedded, reason, progress, draining: stopping.signal });
    };
    return withDatabase(embedded, move, { migrated: false, stopping, isMoving: true });
  };
  return withDatabase(config, moveTo, { migrated: false, stopping }).finally(() => progress.end());
}

async function tryMove(source: Database, server: Database, config: PipelineConfig): Promise<Moved> {
  const ledgerId = await readLedgerId(source);
  const isFresh = !(await hasMigrations(server)) || (await hasNoRows(server));
  if (!isFresh && (ledgerId === null || (await readLedgerId(server)) !== ledgerId))
    throw targetNotEmpty(config);
  return { ledger: ledgerId === null ? 'without an id' : shortLedgerId(ledgerId), rows: null };
}

async function moveRows(
  source: Database,
  server: Database,
  {
    config,
    embedded,
    reason,
    progress,
    draining,
  }: {
    config: PipelineConfig;
    embedded: PipelineConfig;
    reason: string;
    progress: Progress;
    draining: AbortSignal;
  },
): Promise<Moved> {
  const { dataFolder } = config.database;
  const place = databaseLocation(config.database);
  // With an id, a later attempt knows whether the server has this ledger.
  const ledgerId = await ensureLedgerId(source);
  const ledger = shortLedgerId(ledgerId);
  // The data folder first: where only the record says it, no command could finish the move.
  const close = (): void => {
    closeEmbedded(dataFolder, place);
    const { copyFolder } = ownJournalFolders(embedded, ledgerId);
    const record = copyFolder === null ? null : beginRecord(embedded, copyFolder);
    if (record !== null) closeEmbedded(record, place);
  };
  const trx = await server.startTransaction().execute();
  try {
    await keepRunsWaiting(trx);
    if (!(await hasNoRows(trx))) {
      if ((await readLedgerId(trx)) !== ledgerId) throw targetNotEmpty(config);
      close();
      await trx.rollback().execute();
      return { ledger, rows: null };
    }
    progress.begin({ name: 'copy', label: 'Copying the database', unit: 'rows', total: null });
    const rows = await copyDatabase(source, trx, (count) => {
      if (draining.aborted) throw interrupted();
      progress.advance(count);
    });
    await markCompared(trx, readMachineId(journalFolder(config.database)));
    await keepLedgerLocation(trx);
    await auditIn(trx)({
      action: 'move_ledger',
      subjectKind: 'ledger',
      subject: ledgerId,
      reason,
      summary: `Moved the ledger from ${shortPath(dataFolder)} to ${place}.`,
      after: { rows },
    });
    const { problem } = await compare(trx, { config });
    if (problem !== null) throw problem;
    if (draining.aborted) throw interrupted();
    progress.begin({ name: 'close', label: 'Closing the old one', unit: 'databases', total: 1 });
    close();
    progress.begin({ name: 'open', label: 'Opening the new one', unit: 'databases', total: 1 });
    await trx.commit().execute();
    progress.advance(1);
    return { ledger, rows };
  } catch (error) {
    await trx
      .rollback()
      .execute()
      .catch(() => {});
    throw error;
  }
}

function interrupted(): KnownError {
  return new KnownError({
    code: 'interrupted',
    message: 'The move was told to stop.',
    help: 'Run the same command again to move the ledger.',
    safe: 'The server has nothing of it, and the embedded database is as it was.',
    exitCode: EXIT.interrupted,
  });
}

function targetNotEmpty({ database }: PipelineConfig): KnownError {
  return configurationError({
    code: 'target_not_empty',
    message: 'The database on the server already has rows. Two ledgers cannot be joined.',
    where: databaseLocation(database),
    help: 'Name an empty database in DATABASE_URL. If runs have used this one, it has a ledger of its own: keep the two apart.',
    safe: 'Nothing was copied, and both databases are as they were.',
  });
}
