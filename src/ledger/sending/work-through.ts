import pLimit from 'p-limit';
import type { RequestGate } from './request-gate.ts';

/**
 * Processes items in parallel, as many at a time as the gate allows, until all are done or the gate is
 * stopped. The next item begins only when a place is free, so the others are left untouched.
 *
 * @param options.placesFor returns how many items may be processed in parallel for a number of requests in
 * flight. Default: the same number.
 * @throws the first error of the work on an item, after all items that were begun have ended. Such an error
 * stops the gate.
 */
export async function workThrough<Item>(
  items: Iterable<Item> | AsyncIterable<Item>,
  options: {
    readonly gate: Pick<RequestGate, 'concurrency' | 'stop' | 'stopped'>;
    readonly placesFor?: (concurrency: number) => number;
    readonly work: (item: Item) => Promise<void>;
  },
): Promise<void> {
  const { gate, placesFor = (concurrency) => concurrency, work } = options;
  const limit = pLimit(placesFor(gate.concurrency()));
  const underway = new Set<Promise<void>>();
  const failures: unknown[] = [];

  async function perform(item: Item, onPlace: () => void): Promise<void> {
    onPlace();
    if (gate.stopped() !== null) return;
    try {
      await work(item);
    } catch (error) {
      failures.push(error);
      gate.stop({ kind: 'unavailable', message: 'the run failed' });
    }
    const places = placesFor(gate.concurrency());
    if (limit.concurrency !== places) limit.concurrency = places;
  }

  try {
    for await (const item of items) {
      if (gate.stopped() !== null) break;
      const { promise: hasPlace, resolve: onPlace } = Promise.withResolvers<void>();
      const ended = limit(perform, item, onPlace).finally(() => underway.delete(ended));
      underway.add(ended);
      // So at most one item is waiting for a place, however many there are.
      await hasPlace;
      if (gate.stopped() !== null) break;
    }
  } finally {
    await Promise.all(underway);
  }
  if (failures.length > 0) throw failures[0];
}
