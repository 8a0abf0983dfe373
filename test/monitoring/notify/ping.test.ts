import { expect, it } from 'vitest';
import { EXIT } from '../../../src/core/exit-code.ts';
import { startPing } from '../../../src/monitoring/notify/ping.ts';
import { waitFor } from '../../support/wait-for.ts';
import { startReceiver } from './receivers.ts';

const JOB = 'shop-orders';

const pingOf = (url: string) => ({ name: 'check', url, jobs: null });

it('a check that refuses a start ping gets it again, more and more rarely, and no longer once the run ends', async () => {
  const receiver = await startReceiver();
  receiver.answer(503);
  const ping = startPing([pingOf(`${receiver.url}/{job}`)], JOB);
  const before = performance.now();
  await waitFor(() => receiver.received.length === 3);
  expect(performance.now() - before, 'waits of 0.5 and 1 second').toBeGreaterThanOrEqual(1_490);
  receiver.answer(200);
  await ping.ended(EXIT.ok);
  expect(receiver.received.slice(0, 3).map(({ path }) => path)).toEqual(Array(3).fill(`/${JOB}/start`));
  expect(receiver.received.slice(3).map(({ path }) => path)).toEqual([`/${JOB}`]);
});

it('a check that asks for a longer wait is not pinged before that', async () => {
  const receiver = await startReceiver();
  receiver.answer(429, { 'retry-after': '1' });
  const ping = startPing([pingOf(receiver.url)], JOB);
  await waitFor(() => receiver.received.length === 1);
  const before = performance.now();
  await waitFor(() => receiver.received.length === 2);
  expect(performance.now() - before).toBeGreaterThanOrEqual(980);
  receiver.answer(200);
  await ping.ended(EXIT.rowsRejected);
  expect(receiver.received.at(-1)?.path).toBe(`/${EXIT.rowsRejected}`);
});

it('a start ping that the check refuses for good is not repeated', async () => {
  const receiver = await startReceiver();
  receiver.answer(404);
  const ping = startPing([pingOf(`${receiver.url}/{job}`)], JOB);
  await waitFor(() => receiver.received.length === 1);
  // The end of the run sends its own, once.
  await ping.ended(EXIT.rowsRejected);
  expect(receiver.received.map(({ path }) => path)).toEqual([
    `/${JOB}/start`,
    `/${JOB}/${EXIT.rowsRejected}`,
  ]);
});
