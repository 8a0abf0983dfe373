import type { LineLog } from '../line-log.ts';

/** Where the state outlives the process. In memory there is none. */
export type StateStore = {
  /** Notes a record as JSON; it is there for good after `commit`. */
  put(kind: string, id: string, value: unknown): void;
  remove(kind: string, id: string): void;
  /** Every record of a kind, in the order in which they were first put. */
  all(kind: string): readonly (readonly [id: string, value: unknown])[];
  /** A log of requests that is kept with the state. */
  openLog(name: string): LineLog;
  /** Ends what was put since the last time, all or nothing. Cheap where there is nothing. */
  commit(): void;
  close(): void;
};
