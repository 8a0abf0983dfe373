import type { StateStore } from './state-store.ts';

/**
 * The part of a store that belongs to one account, so that two accounts can have records of the same ids. Request logs and commits are
 * of the whole.
 */
export function scopeStateStore(stateStore: StateStore, accountId: string): StateStore {
  const scoped = (kind: string): string => `${accountId} ${kind}`;
  return {
    ...stateStore,
    put: (kind, id, value) => stateStore.put(scoped(kind), id, value),
    remove: (kind, id) => stateStore.remove(scoped(kind), id),
    all: (kind) => stateStore.all(scoped(kind)),
  };
}
