import type { Seeded } from '../../core/backfill.ts';
import type { PipelineConfig } from '../../core/config.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';
import { type DatabaseTransaction, inTransaction } from '../../db/in-transaction.ts';
import { listSeeds } from '../../ledger/seed.ts';
import { plural } from '../../render/text.ts';
import { renderSeeded, renderSeeds } from '../../reports/seeds.ts';
import type { ConfigOptions } from '../command.ts';
import type { SeedOptions } from '../commands/ledger.ts';
import { openConfig, reading, withDatabase } from '../open/open-config.ts';
import { seedOrders, unseedOrders } from '../seed-orders.ts';
import type { Output } from '../terminal/output.ts';
import { auditIn, readOperator } from '../terminal/read-operator.ts';
import { requireReason } from '../usage-error.ts';

/**
 * Records a file of orders that were credited elsewhere. If this project has posted some of them too, the
 * exit code is 3.
 */
export async function addSeed(output: Output, path: string, options: SeedOptions): Promise<ExitCode> {
  const config = await openConfig(options);
  const reason = requireReason(options.reason);
  return withDatabase(config, async (db) => {
    const seeded = await inTransaction(db, (trx) => recordList(trx, { config, path, reason }));
    showSeeded(output, seeded);
    return seeded.untouched.length === 0 ? EXIT.ok : EXIT.rowsRejected;
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
      ...{ action: 'seed_orders', subjectKind: 'seed', subject: seedId, reason: list.reason },
      summary: `Recorded seed ${seedId}: orders that were credited elsewhere.`,
      after: { orders, held_back: heldBack },
    });
  return seeded;
}

export function showSeeded(output: Output, seeded: Seeded): void {
  output.emit({ event: 'seeded', ...seeded });
  output.print(renderSeeded(seeded, output.terminal));
}

export async function showSeeds(output: Output, options: ConfigOptions): Promise<ExitCode> {
  return withDatabase(
    await openConfig(options),
    async (db) => {
      const seeds = await listSeeds(db);
      for (const seed of seeds) output.emit({ event: 'seed', ...seed });
      output.print(renderSeeds(seeds, output.terminal));
      return EXIT.ok;
    },
    reading(output),
  );
}

export async function takeSeedBack(output: Output, seedId: string, options: SeedOptions): Promise<ExitCode> {
  const config = await openConfig(options);
  const reason = requireReason(options.reason);
  return withDatabase(config, async (db) => {
    const undone = await inTransaction(db, async (trx) => {
      const taken = await unseedOrders(trx, { seedId, reason, undoneBy: readOperator() });
      const summary = `Withdrew seed ${seedId}.`;
      if (taken.kind === 'undone')
        await auditIn(trx)({
          ...{ action: 'withdraw_seed', subjectKind: 'seed', subject: seedId, summary, reason },
          after: { orders: taken.orders },
        });
      return taken;
    });
    if (undone.kind !== 'undone') throw notThere(seedId, undone.kind === 'unknown');
    output.emit({ event: 'unseeded', seedId, orders: undone.orders });
    output.print(
      `Seed ${seedId} no longer counts: the next run decides about its ${plural(undone.orders, 'order')} again.`,
    );
    return EXIT.ok;
  });
}

function notThere(seedId: string, isUnknown: boolean): KnownError {
  return new KnownError({
    code: isUnknown ? 'seed_not_found' : 'seed_undone',
    message: isUnknown ? `There is no seed ${seedId}.` : `Seed ${seedId} was already withdrawn.`,
    help: 'npx influencer-sync ledger seeds lists them.',
    safe: 'Nothing was changed.',
    exitCode: EXIT.configuration,
  });
}
