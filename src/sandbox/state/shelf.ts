import type { Keeper } from './keeper.ts';

/** Records of one kind by id, in the order in which they came, written through to the keeper. */
export type Shelf<Value> = {
  readonly items: ReadonlyMap<string, Value>;
  set(id: string, value: Value): void;
  /** @returns whether it was there. */
  delete(id: string): boolean;
};

/** @param kind names the records; `Value` must be what JSON can carry. */
export function createShelf<Value>(keeper: Keeper | null, kind: string): Shelf<Value> {
  const items = new Map((keeper?.all(kind) ?? []) as readonly (readonly [string, Value])[]);
  return {
    items,
    set(id, value) {
      items.set(id, value);
      keeper?.put(kind, id, value);
    },
    delete(id) {
      keeper?.remove(kind, id);
      return items.delete(id);
    },
  };
}
