/** Classes of data that are kept for a time, by their names in `retention:` of the configuration. */
export const RETENTION_CLASSES = [
  'order_versions',
  'rejected_rows',
  'webhook_events',
  'run_activity',
  'notices',
] as const;
export type RetentionClass = (typeof RETENTION_CLASSES)[number];

/** For how many days each is kept; null: for ever. */
export type RetentionSettings = Readonly<Record<RetentionClass, number | null>>;

/** What of a table is older than its class is kept. */
export type Prunable = {
  readonly class: RetentionClass;
  readonly table: string;
  readonly days: number;
  readonly rows: number;
  /** Of the rows alone: not of indexes, nor what the table gives back to the system. */
  readonly bytes: number;
  /** When the oldest of them was stored; null: there is none. */
  readonly oldestAt: Date | null;
};

export type Pruned = {
  readonly tables: readonly Prunable[];
  /** Ended before all of them, because its time was over: the next one goes on. */
  readonly isCutShort: boolean;
};

/** `rejected_rows 365 days, notices 90 days`; empty where nothing is pruned. */
export function sayRetention(retention: RetentionSettings): string {
  return RETENTION_CLASSES.flatMap((name) =>
    retention[name] === null ? [] : [`${name} ${retention[name]} days`],
  ).join(', ');
}
