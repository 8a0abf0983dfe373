import type { RequestGate } from './request-gate.ts';

/**
 * Works through items, as many at a time as the gate allows, until they or the gate's time end. An item is taken only when there is a
 * place for it, so what is not begun is left as it was.
 *
 * @param options.placesFor how many are in work while so many requests may be in flight; the same number, unless given.
 * @throws what the work on an item throws, when the others that were begun have ended. The gate is stopped by it.
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
  const failures: unknown[] = [];
  let begun = 0;
  let wake = (): void => {};

  /** Waits until fewer are in work. */
  async function waitUntil(isEnough: () => boolean): Promise<void> {
    while (!isEnough())
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }

  async function begin(item: Item): Promise<void> {
    begun++;
    try {
      await work(item);
    } catch (error) {
      failures.push(error);
      gate.stop({ kind: 'unavailable', message: 'the run failed' });
    }
    begun--;
    wake();
  }

  try {
    for await (const item of items) {
      if (gate.stopped() !== null) break;
      void begin(item);
      await waitUntil(() => begun < placesFor(gate.concurrency()));
      if (gate.stopped() !== null) break;
    }
  } finally {
    await waitUntil(() => begun === 0);
  }
  if (failures.length > 0) throw failures[0];
}
