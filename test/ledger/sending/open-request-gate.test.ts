import { getEventListeners } from 'node:events';
import { expect, it } from 'vitest';
import type { Exchange } from '../../../src/core/http/exchange.ts';
import { type BackfillShare, openRequestGate } from '../../../src/ledger/sending/open-request-gate.ts';
import { configOf } from '../../mirror/story.ts';
import { setup } from '../../support/setup.ts';
import { waitFor } from '../../support/wait-for.ts';

/** The gate of a run without a rate limit, whose service answers `account_hello` with these statuses in turn. */
async function openGate(
  statuses: readonly number[] = [],
  ending = new AbortController(),
  backfill: BackfillShare | null = null,
) {
  const { db, folder } = await setup();
  const notes: string[] = [];
  const asked: string[] = [];
  const run = {
    config: configOf(folder, 'http://127.0.0.1:1', { name: 'mirror' } as never),
    db,
    isLeaseHeld: () => true,
    progress: { begin() {}, advance() {}, note: (text: string) => void notes.push(text), end() {} },
    draining: ending.signal,
  };
  const client = {
    async exchange(operation: string): Promise<Exchange> {
      asked.push(operation);
      return {
        kind: 'answer',
        status: statuses[asked.length - 1] ?? 200,
        headers: {},
        text: '{}',
      } as Exchange;
    },
  };
  return { ...openRequestGate(run, client, backfill), ending, notes, asked };
}

it('a run that has to end stops its gate, whenever it learns of it', async () => {
  const { gate, ending } = await openGate();
  expect(await gate.enter()).toBe(true);
  ending.abort();
  expect(await gate.enter()).toBe(false);
  expect(gate.stopped()).toEqual({ kind: 'drained' });
  expect((await openGate([], ending)).gate.stopped()).toEqual({ kind: 'drained' });
});

it('a closed gate no longer listens for the end of its run', async () => {
  const { close, ending } = await openGate();
  expect(getEventListeners(ending.signal, 'abort')).toHaveLength(1);
  close();
  expect(getEventListeners(ending.signal, 'abort')).toEqual([]);
});

it('a service that answers a probe with an error is not taken for one that is up', async () => {
  const { gate, ending, notes, asked } = await openGate([500]);
  for (let count = 0; count < 5; count += 1)
    gate.report({ kind: 'in_doubt', httpStatus: 500, reason: 'HTTP 500' });
  const entered = gate.enter();
  await waitFor(() => asked.length > 0 && notes.length > 0);
  expect(asked).toEqual(['account_hello']);
  expect(notes).toEqual([expect.stringMatching(/^Waiting 2 s: 5 requests in 60 s are in doubt/)]);
  ending.abort();
  expect(await entered).toBe(false);
});

it('a backfill has as many requests in flight as it may, and a wait is worth a word from two seconds on', async () => {
  const { gate, notes, close } = await openGate();
  const share = { backfillId: '1', requestsPerSecond: 0, concurrency: 1 };
  const { gate: narrow } = await openGate([], new AbortController(), share);
  for (let count = 0; count < 9; count += 1)
    for (const one of [gate, narrow])
      one.report({ kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: null });
  expect([gate.concurrency(), narrow.concurrency()]).toEqual([8, 1]);
  for (const retryAfterMs of [1_999, 2_000, 2_001])
    gate.report({ kind: 'throttled', httpStatus: 429, retryAfterMs });
  expect(notes).toEqual([
    'Waiting 2 s: the service asks to slow down (429).',
    'Waiting 3 s: the service asks to slow down (429).',
  ]);
  close();
});

it('work passes through the gate, until it is stopped', async () => {
  const { gate, forEach, close } = await openGate();
  const done: string[] = [];
  await forEach(['a', 'b', 'c', 'd', 'e'], async (item) => {
    done.push(item);
    if (item === 'b') gate.stop({ kind: 'drained' });
  });
  expect(done.slice(0, 2)).toEqual(['a', 'b']);
  expect(done.length).toBeLessThan(5);
  close();
});
