import type { PipelineConfig } from '../../config/schema.ts';
import type { KnownError } from '../../core/known-error.ts';
import type { Database } from '../../db/connect.ts';
import type { DatabaseTransaction } from '../../db/in-transaction.ts';
import type { Decided } from '../../ops/record-audit.ts';
import type { Output } from '../terminal/output.ts';
import type { ConfigOptions } from './open-config.ts';

/** The configuration of a command, and the ways in which it uses the database. */
export type Opened = {
  readonly config: PipelineConfig;
  /** Does work that only reads. If the ledger lost claims, the command says so and goes on. */
  read<Result>(work: (db: Database) => Promise<Result>): Promise<Result>;
  /** Does work that changes something. If the ledger lost claims, the work does not begin. */
  change<Result>(work: (db: Database) => Promise<Result>): Promise<Result>;
  /** Records a decision of the person at this terminal, in one transaction. */
  decide<Result>(work: (trx: DatabaseTransaction, here: Decided) => Promise<Result>): Promise<Result>;
};

/**
 * Reads the configuration of a command. The database is opened for each piece of work, and closed after it. Beside a
 * codes.csv or terms.csv with mistakes, what only reads works and says so; with a mistake in codes.csv, nothing is
 * changed.
 *
 * @param options.warnsOfTerms false for a command that itself says what is wrong with terms.csv.
 * @throws KnownError about the configuration (exit 2).
 */
export async function openCommand(
  output: Output,
  options: ConfigOptions,
  { warnsOfTerms = true }: { warnsOfTerms?: boolean } = {},
): Promise<Opened> {
  const { openConfig, reading, warnOfBrokenFiles, warnOfBrokenTerms, withDatabase } = await import(
    './open-config.ts'
  );
  const broken: KnownError[] = [];
  let isWarned = false;
  const config = await openConfig(options, (error) => broken.push(error));
  const refuseBroken = (): void => {
    for (const error of broken) throw error;
  };
  // A dry run does the work, so that it finds what would be refused, and rolls it back.
  async function changing<Result>(work: (db: Database) => Promise<Result>): Promise<Result> {
    if (options.dryRun !== true) return withDatabase(config, work);
    const { unlessDryRun } = await import('../../db/in-transaction.ts');
    output.emit({ event: 'dry_run' });
    output.print('Dry run: what follows is not done.');
    return withDatabase(config, (db) => unlessDryRun(db, true, work));
  }
  return {
    config,
    read(work) {
      if (!isWarned) {
        warnOfBrokenFiles(broken, output);
        if (warnsOfTerms) warnOfBrokenTerms(config, output);
      }
      isWarned = true;
      return withDatabase(config, work, reading(output));
    },
    async change(work) {
      refuseBroken();
      return changing(work);
    },
    async decide(work) {
      refuseBroken();
      const { inTransaction } = await import('../../db/in-transaction.ts');
      const { decidedHere } = await import('../terminal/read-operator.ts');
      return changing((db) => inTransaction(db, (trx) => work(trx, decidedHere(trx))));
    },
  };
}
