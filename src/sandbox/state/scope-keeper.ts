import type { Keeper } from './keeper.ts';

/**
 * The part of a keeper that belongs to one account, so that two accounts can have records of the same ids. Logs of the truth and commits are
 * of the whole.
 */
export function scopeKeeper(keeper: Keeper, accountId: string): Keeper {
  const scoped = (kind: string): string => `${accountId} ${kind}`;
  return {
    ...keeper,
    put: (kind, id, value) => keeper.put(scoped(kind), id, value),
    remove: (kind, id) => keeper.remove(scoped(kind), id),
    all: (kind) => keeper.all(scoped(kind)),
  };
}
