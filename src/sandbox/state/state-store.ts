import type { LineLog } from '../line-log.ts';

/** One record: its kind, its id, its value. */
export type StateRecord = readonly [kind: string, id: string, value: unknown];

/** Where the state is kept, and the logs with it. */
export type StateStore = {
  /** Whether it outlives the process. */
  readonly isDurable: boolean;
  /** Notes a record as JSON; it is there for good after `commit`. */
  put(kind: string, id: string, value: unknown): void;
  remove(kind: string, id: string): void;
  /** Every record of a kind, in the order in which they were first put. */
  all(kind: string): readonly (readonly [id: string, value: unknown])[];
  /** Every record of every kind, in that order. */
  records(): readonly StateRecord[];
  /** Puts these in place of all. The logs stay. */
  replace(records: readonly StateRecord[]): void;
  /** A log of requests that is kept with the state. */
  openLog(name: string): LineLog;
  /** Ends what was put since the last time, all or nothing. Cheap where there is nothing. */
  commit(): void;
  close(): void;
};
