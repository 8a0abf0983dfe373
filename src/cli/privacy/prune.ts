import { EXIT } from '../../core/exit-code.ts';
import {
  type Pruned,
  RETENTION_CLASSES,
  type RetentionSettings,
  sayRetention,
} from '../../core/privacy/retention.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import { type Block, column, number, say, table } from '../../render/block.ts';
import { formatBytes, formatCount, plural } from '../../render/text.ts';
import { defineCommand } from '../command.ts';

/** `influencer-sync prune`: lists or deletes data that is older than the periods in `retention`. */
export const pruneCommand = defineCommand({
  name: 'prune',
  changes: true,
  summary: 'list data older than `retention`; with --yes, delete it',
  description: 'list data that is older than `retention` in the configuration; with --yes, delete it',
  takes: [['--yes', 'delete it; without this, nothing is changed']],
  examples: [
    ['prune', 'what would be deleted: table, rows, size, oldest'],
    ['prune --yes', 'delete it in small batches; Ctrl-C stops after a batch, and the next prune continues'],
  ],
  /**
   * Deletes data that is older than its retention period, or only lists it (dry run).
   * @returns 130 if it was interrupted. Whatever was deleted stays deleted, and the next call continues.
   */
  async action({ output }, options) {
    const { openConfig, reading, withDatabase } = await import('../open/open-config.ts');
    const { listenForStop } = await import('../terminal/listen-for-stop.ts');
    const { auditIn } = await import('../terminal/read-operator.ts');
    const { inTransaction } = await import('../../db/in-transaction.ts');
    const { prune } = await import('../../privacy/prune.ts');
    const config = await openConfig(options);
    const { retention } = config;
    const isDryRun = options.yes !== true || options.dryRun === true;
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
      output.show(describePruned(pruned, { retention, isDryRun }));
      return pruned.isCutShort ? EXIT.interrupted : EXIT.ok;
    } finally {
      stopping.ignore();
    }
  },
});

/** Describes what was deleted or would be, and what is kept forever. */
function describePruned(
  { tables, isCutShort }: Pruned,
  { retention, isDryRun }: { retention: RetentionSettings; isDryRun: boolean },
): readonly Block[] {
  const kept = RETENTION_CLASSES.filter((name) => retention[name] === null);
  const total = tables.reduce((sum, { rows }) => sum + rows, 0);
  const shown = table(tables, [
    column('class', (pruned) => pruned.class),
    number('days', ({ days }) => String(days)),
    column('table', (pruned) => pruned.table),
    number('rows', ({ rows }) => formatCount(rows)),
    number('size', ({ bytes }) => formatBytes(bytes)),
    column('oldest', ({ oldestAt }) => (oldestAt === null ? null : formatInstant(oldestAt).slice(0, 10))),
  ]);
  const end = isDryRun
    ? `Nothing was changed.${total > 0 ? ' To delete these rows:  npx influencer-sync prune --yes' : ''}`
    : `Deleted ${plural(total, 'row')}. Postgres reuses their space; the files of the tables do not shrink.`;
  return [
    ...(tables.length === 0 ? [] : [shown]),
    ...(kept.length === 0
      ? []
      : [say(`Kept forever, because retention does not name them: ${kept.join(', ')}.`)]),
    ...(isCutShort ? [say('Stopped before the end. Run the command again to continue.')] : []),
    say(end),
  ];
}
