import { plural } from '../text/plural.ts';
/** Classes of data with a retention period, by their names in `retention:` of the configuration. */
export const RETENTION_CLASSES = [
  'order_versions',
  'rejected_rows',
  'webhook_events',
  'run_activity',
  'notices',
] as const;
export type RetentionClass = (typeof RETENTION_CLASSES)[number];

/** Number of days for which each class is kept. Null: forever. */
export type RetentionSettings = Readonly<Record<RetentionClass, number | null>>;

/** Rows of a table that are older than the retention period of their class. */
export type Prunable = {
  readonly class: RetentionClass;
  readonly table: string;
  readonly days: number;
  readonly rows: number;
  /** Size of the rows alone, without indexes. It is not the space that the table returns to the system. */
  readonly bytes: number;
  /** When the oldest of these rows was stored. Null if there are none. */
  readonly oldestAt: Date | null;
};

export type Pruned = {
  readonly tables: readonly Prunable[];
  /** True if pruning stopped early because its time was over. The next run continues. */
  readonly isCutShort: boolean;
};

/** Describes the settings: `rejected_rows 365 days, notices 90 days`. Empty if nothing is pruned. */
export function sayRetention(retention: RetentionSettings): string {
  return RETENTION_CLASSES.flatMap((name) =>
    retention[name] === null ? [] : [`${name} ${plural(retention[name], 'day')}`],
  ).join(', ');
}
