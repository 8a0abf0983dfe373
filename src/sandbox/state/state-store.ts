import { createMemoryLog, type LineLog } from '../line-log.ts';

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
export function createCollection<Value>(stateStore: StateStore, kind: string): Collection<Value> {
  const items = new Map(stateStore.all(kind) as readonly (readonly [string, Value])[]);
  return {
    items,
    set(id, value) {
      items.set(id, value);
      stateStore.put(kind, id, value);
    },
    delete(id) {
      stateStore.remove(kind, id);
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
