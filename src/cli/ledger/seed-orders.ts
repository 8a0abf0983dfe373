import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { decideAgain } from '../../../jobs/attribute-orders/decide/decide-orders.ts';
import { layoutFolders } from '../../config/layout-folders.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import type { Seeded } from '../../core/backfill.ts';
import { EXIT } from '../../core/exit-code.ts';
import { KnownError, refusal } from '../../core/known-error.ts';
import { describeProblems, readSheetFile, type Unreadable } from '../../core/text/read-sheet.ts';
import type { Database } from '../../db/connect.ts';
import { type DatabaseTransaction, inTransaction } from '../../db/in-transaction.ts';
import { loadLayout } from '../../intake/layout/load-layout.ts';
import { parseSeeds } from '../../intake/orders/map/parse-seeds.ts';
import { orderIdParser } from '../../intake/values/parse-id.ts';
import { seedLedger, type Undone, undoSeed } from '../../ledger/seed.ts';
import { auditIn, readOperator } from '../terminal/read-operator.ts';

const SAFE = 'Nothing was changed.';

/**
 * Reads a file of orders that were credited elsewhere before. Records all of them, or none if a row cannot be
 * used. A file that is recorded already stays as it is (`isKnown`).
 */
async function seedOrders(
  db: Database,
  options: {
    readonly config: PipelineConfig;
    readonly path: string;
    readonly reason: string;
    readonly seededBy: string;
  },
): Promise<Seeded> {
  const { config, path, reason, seededBy } = options;
  const { bytes, text } = readSheetFile(path, unreadable);
  const folders = layoutFolders(config.path);
  const platforms = Object.values(config.sources).map(({ orderPlatform, layout }) => ({
    orderPlatform,
    orderIdOf: orderIdParser(loadLayout(layout, folders).orderIdPattern),
  }));
  const { rows, problems } = parseSeeds(text, platforms);
  if (problems.length > 0)
    throw new KnownError({
      code: 'seed_invalid',
      message:
        problems.length === 1
          ? 'A row of the file cannot be used.'
          : `${problems.length} rows of the file cannot be used.`,
      where: path,
      help: 'Correct them and run the command again. A file counts as a whole or not at all.',
      safe: SAFE,
      problems: describeProblems(problems, basename(path)),
      exitCode: EXIT.rowsRejected,
    });
  if (rows.length === 0)
    throw refusal({
      code: 'seed_unreadable',
      message: 'The file names no order.',
      where: path,
      help: 'Its first line names the columns: order_platform,order_id,…',
      safe: SAFE,
    });
  const fileSha256 = createHash('sha256').update(bytes).digest('hex');
  return inTransaction(db, async (trx) => {
    const seed = await seedLedger(trx, { fileName: basename(path), fileSha256, reason, seededBy, rows });
    if (!seed.isKnown) await decideAgain(trx, seed.seedId);
    return seed;
  });
}

/** Withdraws a seed in one commit. Its orders are decided again, and credited if they qualify. */
export function unseedOrders(
  db: Database,
  seed: { readonly seedId: string; readonly reason: string; readonly undoneBy: string },
): Promise<Undone> {
  return inTransaction(db, async (trx) => {
    const undone = await undoSeed(trx, seed);
    if (undone.kind === 'undone') await decideAgain(trx, seed.seedId);
    return undone;
  });
}

function unreadable({ path, isMissing, cause }: Unreadable): KnownError {
  return refusal({
    code: 'seed_unreadable',
    message: isMissing ? 'The file cannot be read.' : 'The file is not UTF-8.',
    where: path,
    help: isMissing ? 'Check its path, and that this user may read it.' : 'Save it as "CSV UTF-8".',
    safe: SAFE,
    cause,
  });
}

/** Records a list of orders that were credited elsewhere, with its audit record. A list that is known stays as it is. */
export async function recordList(
  trx: DatabaseTransaction,
  list: { readonly config: PipelineConfig; readonly path: string; readonly reason: string },
): Promise<Seeded> {
  const seeded = await seedOrders(trx, { ...list, seededBy: readOperator() });
  const { seedId, isKnown, orders, heldBack } = seeded;
  if (!isKnown)
    await auditIn(trx)({
      action: 'seed_orders',
      subjectKind: 'seed',
      subject: seedId,
      reason: list.reason,
      summary: `Recorded seed ${seedId}: orders that were credited elsewhere.`,
      after: { orders, held_back: heldBack },
    });
  return seeded;
}
