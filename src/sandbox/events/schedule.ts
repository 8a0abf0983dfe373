import type { Clock } from '../clock.ts';
import { createCollection } from '../state/collection.ts';
import type { StateStore } from '../state/state-store.ts';

/**
 * Planned items, performed at their time, earliest first. They are part of the state, so they survive a
 * restart.
 */
export type Schedule<Item> = {
  readonly items: ReadonlyMap<string, Item>;
  /** Plans an item. It replaces an item with the same id. */
  add(id: string, item: Item): void;
  cancel(id: string): void;
  /** Stops performing items. Planned items stay in the state. */
  close(): void;
};

/**
 * Performs items when the clock reaches their time. Items that are due together are performed in the order of
 * their times, together with the items that result from them: if the clock is advanced by a month, all days
 * of that month are played.
 */
export function createSchedule<Item extends { readonly dueAtMs: number }>(
  perform: (item: Item) => void,
  { stateStore, clock }: { readonly stateStore: StateStore | null; readonly clock: Clock },
): Schedule<Item> {
  const planned = createCollection<Item>(stateStore, 'planned');
  /** Ids by due time; those with the same time in the order in which they were planned. */
  const queue: string[] = [];
  let cancelTimer: (() => void) | null = null;
  let isPerforming = false;

  const dueAt = (id: string | undefined): number =>
    (id === undefined ? undefined : planned.items.get(id)?.dueAtMs) ?? Number.POSITIVE_INFINITY;

  function enqueue(id: string): void {
    const dueAtMs = dueAt(id);
    let place = queue.length;
    while (place > 0 && dueAt(queue[place - 1]) > dueAtMs) place -= 1;
    queue.splice(place, 0, id);
  }

  function wait(): void {
    if (isPerforming) return;
    cancelTimer?.();
    const [first] = queue;
    cancelTimer = first === undefined ? null : clock.schedule(dueAt(first), performDue);
  }

  function performDue(): void {
    isPerforming = true;
    while (dueAt(queue[0]) <= clock.now()) {
      const id = queue.shift() ?? '';
      const item = planned.items.get(id);
      planned.delete(id);
      if (item !== undefined) perform(item);
    }
    isPerforming = false;
    stateStore?.commit();
    wait();
  }

  function cancel(id: string): void {
    if (!planned.delete(id)) return;
    const place = queue.indexOf(id);
    queue.splice(place, 1);
    if (place === 0) wait();
  }

  for (const id of planned.items.keys()) enqueue(id);
  wait();

  return {
    items: planned.items,
    add(id, item) {
      cancel(id);
      planned.set(id, item);
      enqueue(id);
      if (queue[0] === id) wait();
    },
    cancel,
    close() {
      cancelTimer?.();
      queue.length = 0;
    },
  };
}
