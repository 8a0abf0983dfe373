import type { StateStore } from './state-store.ts';

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
