import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { createMemoryLog, type LineLog } from '../line-log.ts';
import { LOGS, type RequestLog } from '../request-log.ts';

/** A record: kind, id and value. */
type StateRecord = readonly [kind: string, id: string, value: unknown];

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

/** Records of one kind by id, in the order of insertion. Changes are written through to the store. */
export type Collection<Value> = {
  readonly items: ReadonlyMap<string, Value>;
  set(id: string, value: Value): void;
  /** @returns true if the record existed. */
  delete(id: string): boolean;
};

/** @param kind the kind of the records in the store. `Value` must be serialisable as JSON. */
export function createCollection<Value>(stateStore: StateStore | null, kind: string): Collection<Value> {
  const items = new Map((stateStore?.all(kind) ?? []) as readonly (readonly [string, Value])[]);
  return {
    items,
    set(id, value) {
      items.set(id, value);
      stateStore?.put(kind, id, value);
    },
    delete(id) {
      stateStore?.remove(kind, id);
      return items.delete(id);
    },
  };
}

/** Keeps the state in memory, so that snapshots work without a file. */
export function createMemoryStore(): StateStore {
  const kinds = new Map<string, Map<string, unknown>>();

  function put(kind: string, id: string, value: unknown): void {
    const records = kinds.get(kind);
    if (records === undefined) kinds.set(kind, new Map([[id, value]]));
    else records.set(id, value);
  }

  return {
    isDurable: false,
    put,
    remove: (kind, id) => {
      kinds.get(kind)?.delete(id);
    },
    all: (kind) => [...(kinds.get(kind) ?? [])],
    records: () =>
      [...kinds].flatMap(([kind, records]) => [...records].map(([id, value]) => [kind, id, value] as const)),
    replace(records) {
      kinds.clear();
      for (const [kind, id, value] of records) put(kind, id, value);
    },
    openLog: createMemoryLog,
    commit() {},
    close() {},
  };
}

/** The format that `GET /_sandbox/snapshot` returns and `POST /_sandbox/restore` accepts. */
export const snapshot = z.strictObject({
  format: z.literal(1),
  /** The seed. Ids are derived from it, so a snapshot fits only a sandbox with the same seed. */
  seed: z.string(),
  account_ids: z.array(z.string()),
  clock: z.strictObject({ aheadMs: z.number(), stoppedAtMs: z.number().nullable() }),
  records: z.array(z.tuple([z.string(), z.string(), z.unknown()])),
  logs: z.strictObject({
    referrals: z.array(z.string()),
    clicks: z.array(z.string()),
    submissions: z.array(z.string()),
    requests: z.array(z.string()),
  }),
});

export type Snapshot = z.output<typeof snapshot>;

/** The parts of a sandbox that a snapshot contains. Faults and the journal of requests are not included. */
export type Kept = {
  readonly seed: string;
  readonly accountIds: readonly string[];
  readonly stateStore: StateStore;
  readonly requestLog: RequestLog;
  readonly clock: Clock;
};

/** Takes a snapshot of the current state. */
export async function takeSnapshot({
  seed,
  accountIds,
  stateStore,
  requestLog,
  clock,
}: Kept): Promise<Snapshot> {
  // Records are shared with running code, so they are copied before the first await. Log lines that are added
  // later are left out.
  const records = JSON.parse(JSON.stringify(stateStore.records())) as Snapshot['records'];
  const counts = LOGS.map((name) => requestLog[name].count());
  const state = clock.state();
  const logs = await Promise.all(
    LOGS.map(async (name, index) => {
      const lines = (await text(requestLog[name].read())).split('\n').slice(0, counts[index]);
      return [name, lines.filter((line) => line !== '')] as const;
    }),
  );
  return {
    format: 1,
    seed,
    account_ids: [...accountIds],
    clock: state,
    records,
    logs: Object.fromEntries(logs) as Snapshot['logs'],
  };
}
