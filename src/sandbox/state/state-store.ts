import type { LineLog } from '../line-log.ts';

/** A record: kind, id and value. */
export type StateRecord = readonly [kind: string, id: string, value: unknown];

/** Keeps the state and the logs. */
export type StateStore = {
  /** Whether the state survives the end of the process. */
  readonly isDurable: boolean;
  /** Stores a record as JSON. It is durable after `commit`. */
  put(kind: string, id: string, value: unknown): void;
  remove(kind: string, id: string): void;
  /** All records of a kind, in the order in which they were first stored. */
  all(kind: string): readonly (readonly [id: string, value: unknown])[];
  /** All records of all kinds, in the same order. */
  records(): readonly StateRecord[];
  /** Replaces all records. The logs stay. */
  replace(records: readonly StateRecord[]): void;
  /** Opens a log that is kept with the state. */
  openLog(name: string): LineLog;
  /** Commits all changes since the last commit, all or nothing. Cheap if there are none. */
  commit(): void;
  close(): void;
};
