import { expect, it } from 'vitest';
import { startPing } from '../../src/notify/ping.ts';
import { waitFor } from '../support/wait-for.ts';
import { startReceiver } from './receivers.ts';

it('a start ping that the check refuses is not repeated', async () => {
  const receiver = await startReceiver();
  receiver.answer(404);
  const ping = startPing([{ name: 'check', url: `${receiver.url}/{job}`, jobs: null }], 'orders');
  await waitFor(() => receiver.received.length === 1);
  // The end of the run sends its own, once.
  await ping.ended(3);
  expect(receiver.received.map(({ path }) => path)).toEqual(['/orders/start', '/orders/3']);
});

it('a start ping that fails is repeated less and less often, and for seconds only', async () => {
  const receiver = await startReceiver();
  receiver.answer(503);
  const began = performance.now();
  const ping = startPing([{ name: 'check', url: receiver.url, jobs: null }], 'orders');
  // A run of seven seconds: by then, one attempt each half second would be 14.
  await waitFor(() => performance.now() - began > 7_000);
  expect(receiver.received.length).toBeGreaterThan(1);
  expect(receiver.received.length).toBeLessThanOrEqual(5);
  receiver.answer(200);
  await ping.ended(0);
  expect(receiver.received.at(-1)?.path).toBe('/');
});
