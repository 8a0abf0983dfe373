import type { PipelineConfig } from '../../config/schema.ts';
import type { Database } from '../../db/connect.ts';
import type { DatabaseTransaction } from '../../db/in-transaction.ts';
import type { ConfigOptions } from '../command.ts';
import type { Output } from '../terminal/output.ts';
import type { DecidedHere } from '../terminal/read-operator.ts';

/** The configuration of a command, and the ways in which it uses the database. */
export type Opened = {
  readonly config: PipelineConfig;
  /** Does work that only reads. If the ledger lost claims, the command says so and goes on. */
  read<Result>(work: (db: Database) => Promise<Result>): Promise<Result>;
  /** Does work that changes something. If the ledger lost claims, the work does not begin. */
  change<Result>(work: (db: Database) => Promise<Result>): Promise<Result>;
  /** Records a decision of the person at this terminal, in one transaction. */
  decide<Result>(work: (trx: DatabaseTransaction, here: DecidedHere) => Promise<Result>): Promise<Result>;
};

/**
 * Reads the configuration of a command. The database is opened for each piece of work, and closed after it.
 *
 * @throws KnownError about the configuration (exit 2).
 */
export async function openCommand(output: Output, options: ConfigOptions): Promise<Opened> {
  const { openConfig, reading, withDatabase } = await import('./open-config.ts');
  const config = await openConfig(options);
  return {
    config,
    read: (work) => withDatabase(config, work, reading(output)),
    change: (work) => withDatabase(config, work),
    async decide(work) {
      const { inTransaction } = await import('../../db/in-transaction.ts');
      const { decidedHere } = await import('../terminal/read-operator.ts');
      return withDatabase(config, (db) => inTransaction(db, (trx) => work(trx, decidedHere(trx))));
    },
  };
}
