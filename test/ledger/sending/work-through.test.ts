import { expect, it } from 'vitest';
import type { RunStop } from '../../../src/core/run.ts';
import { workThrough } from '../../../src/ledger/sending/work-through.ts';

/** A gate that allows a number of requests, and work that ends when the test says so. */
function openWork(concurrency = 2) {
  const stops: RunStop[] = [];
  const begun: number[] = [];
  const ends = new Map<number, () => void>();
  const gate = {
    concurrency: () => concurrency,
    stop: (stop: RunStop) => void stops.push(stop),
    stopped: () => stops[0] ?? null,
  };
  const work = (item: number) =>
    new Promise<void>((resolve) => {
      begun.push(item);
      ends.set(item, resolve);
    });
  return { gate, stops, begun, work, end: (item: number) => ends.get(item)?.() };
}

it('an item begins only when a place is free, and all have ended when the work is done', async () => {
  const { gate, begun, work, end } = openWork();
  let isDone = false;
  const done = workThrough([1, 2, 3, 4], { gate, work }).then(() => {
    isDone = true;
  });
  await expect.poll(() => begun).toEqual([1, 2]);
  end(2);
  await expect.poll(() => begun).toEqual([1, 2, 3]);
  end(1);
  await expect.poll(() => begun).toEqual([1, 2, 3, 4]);
  end(3);
  await new Promise(setImmediate);
  expect(isDone).toBe(false);
  end(4);
  await done;
});

it('there can be more places than requests in flight', async () => {
  const { gate, begun, work, end } = openWork(1);
  const done = workThrough([1, 2, 3, 4], { gate, work, placesFor: (requests) => 3 * requests });
  await expect.poll(() => begun).toEqual([1, 2, 3]);
  for (const item of [1, 2, 3]) end(item);
  await expect.poll(() => begun).toHaveLength(4);
  end(4);
  await done;
});

it('a stopped gate leaves the other items untouched, asks for no more, and waits for those that were begun', async () => {
  const { gate, begun, work, end } = openWork();
  const asked: number[] = [];
  function* items() {
    for (const item of [1, 2, 3, 4]) {
      asked.push(item);
      yield item;
    }
  }
  const done = workThrough(items(), { gate, work });
  await expect.poll(() => begun).toEqual([1, 2]);
  gate.stop({ kind: 'drained' });
  end(1);
  end(2);
  await done;
  expect([begun, asked], 'the third has waited for a place').toEqual([
    [1, 2],
    [1, 2, 3],
  ]);
});

it('an error of one item stops the gate, and is thrown after the items that were begun have ended', async () => {
  const { gate, stops, begun, work, end } = openWork(3);
  const failing = workThrough([1, 2, 3, 4], {
    gate,
    async work(item) {
      if (item === 1) throw new Error('the first');
      await work(item);
    },
  });
  const failed = failing.then(
    () => 'no error',
    (error: Error) => error.message,
  );
  await expect.poll(() => stops).toEqual([{ kind: 'unavailable', message: 'the run failed' }]);
  for (const item of begun) end(item);
  expect(await failed).toBe('the first');
  expect(begun).not.toContain(4);
});

it('a gate that narrows or widens while items are processed has as many in progress as it then allows', async () => {
  const { gate, begun, work, end } = openWork(3);
  let concurrency = 3;
  const done = workThrough([1, 2, 3, 4, 5, 6], { gate: { ...gate, concurrency: () => concurrency }, work });
  await expect.poll(() => begun).toEqual([1, 2, 3]);
  concurrency = 1;
  end(1);
  end(2);
  await new Promise(setImmediate);
  expect(begun).toEqual([1, 2, 3]);
  concurrency = 3;
  end(3);
  await expect.poll(() => begun).toEqual([1, 2, 3, 4, 5, 6]);
  for (const item of [4, 5, 6]) end(item);
  await done;
});
