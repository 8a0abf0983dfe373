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
  const failures: unknown[] = [];
  let begun = 0;
  let wake = (): void => {};

  /** Waits until the condition holds. It is checked whenever an item ends. */
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
