import { createMemoryLog } from '../line-log.ts';
import type { StateStore } from './state-store.ts';

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
