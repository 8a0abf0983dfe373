import { EXIT, type ExitCode } from '../../../core/exit-code.ts';
import { sayRetention } from '../../../core/privacy/retention.ts';
import { inTransaction } from '../../../db/in-transaction.ts';
import { prune } from '../../../privacy/prune.ts';
import type { PruneOptions } from '../../commands/privacy/prune.ts';
import { openConfig, withDatabase } from '../../open/open-config.ts';
import { reading } from '../../open/reading.ts';
import { listenForStop } from '../../terminal/listen-for-stop.ts';
import type { Output } from '../../terminal/output.ts';
import { auditIn } from '../../terminal/read-operator.ts';
import { renderPruned } from './pruned.ts';

/**
 * Deletes data that is older than its retention period, or only lists it (dry run).
 * @returns 130 if it was interrupted. Whatever was deleted stays deleted, and the next call continues.
 */
export async function pruneData(output: Output, options: PruneOptions): Promise<ExitCode> {
  const config = await openConfig(options);
  const { retention } = config;
  const isDryRun = options.yes !== true;
  const stopping = listenForStop({ warn: () => output.warn('Stopping after this batch.') });
  try {
    const pruned = await withDatabase(
      config,
      async (db) => {
        const classes = sayRetention(retention);
        const summary = `Deletes what is older than: ${classes}.`;
        const record = {
          action: 'prune',
          subjectKind: 'table',
          subject: null,
          summary,
          after: retention,
        } as const;
        if (!isDryRun && classes !== '') await inTransaction(db, (trx) => auditIn(trx)(record));
        return prune(db, { retention, isDryRun, isOver: () => stopping.signal.aborted });
      },
      isDryRun ? { stopping, ...reading(output) } : { stopping },
    );
    for (const table of pruned.tables) output.emit({ event: isDryRun ? 'prunable' : 'pruned', ...table });
    output.print(renderPruned(pruned, { retention, isDryRun, terminal: output.terminal }));
    return pruned.isCutShort ? EXIT.interrupted : EXIT.ok;
  } finally {
    stopping.ignore();
  }
}
