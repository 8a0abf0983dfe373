import { type Pruned, RETENTION_CLASSES, type RetentionSettings } from '../../core/privacy/retention.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import { plural } from '../../core/text/plural.ts';
import { renderTable } from '../../render/table.ts';
import type { Terminal } from '../../render/terminal.ts';
import { formatBytes, formatCount } from '../../render/text.ts';

const COLUMNS = [
  { title: 'class' },
  { title: 'days', align: 'right' },
  { title: 'table' },
  { title: 'rows', align: 'right' },
  { title: 'size', align: 'right' },
  { title: 'oldest' },
] as const;

export type RenderPrunedOptions = {
  readonly retention: RetentionSettings;
  readonly isDryRun: boolean;
  readonly terminal: Terminal;
};

/** Renders what was deleted or would be, and what is kept forever. */
export function renderPruned(
  { tables, isCutShort }: Pruned,
  { retention, isDryRun, terminal }: RenderPrunedOptions,
): string {
  const kept = RETENTION_CLASSES.filter((name) => retention[name] === null);
  const rows = tables.map(({ class: name, table, days, rows: count, bytes, oldestAt }) => [
    ...[name, String(days), table, formatCount(count), formatBytes(bytes)],
    oldestAt === null ? '' : formatInstant(oldestAt).slice(0, 10),
  ]);
  const total = tables.reduce((sum, table) => sum + table.rows, 0);
  return [
    ...(tables.length === 0 ? [] : [renderTable(COLUMNS, rows, { terminal }), '']),
    ...(kept.length === 0 ? [] : [`Kept forever, because retention does not name them: ${kept.join(', ')}.`]),
    ...(isCutShort ? ['Stopped before the end. Run the command again to continue.'] : []),
    isDryRun
      ? `Nothing was changed.${total > 0 ? ' To delete these rows:  npx influencer-sync prune --yes' : ''}`
      : `Deleted ${plural(total, 'row')}. Postgres reuses their space; the files of the tables do not shrink.`,
  ].join('\n');
}
