import { expect, onTestFinished, test } from 'vitest';
import { startReceiver } from '../../../src/ledger/receiver/start-receiver.ts';
import { SETTINGS, sign } from './deliver.ts';

const BODY = '{"deal_id":"D1"}';

/** Returns the receiver's status for an event that is `ageSeconds` old; null omits the age. */
async function deliver(maxAgeSeconds: number, ageSeconds: number | string | null): Promise<number> {
  const receiver = await startReceiver({ settings: { ...SETTINGS, maxAgeSeconds }, store: async () => true });
  onTestFinished(() => receiver.close());
  const sentAt =
    typeof ageSeconds === 'number' ? String(Math.floor(Date.now() / 1000) - ageSeconds) : ageSeconds;
  const { status } = await fetch(receiver.url, {
    method: 'POST',
    headers: {
      'x-service-signature': sign(BODY),
      ...(sentAt === null ? {} : { 'x-service-timestamp': sentAt }),
    },
    body: BODY,
  });
  return status;
}

test.each([
  [300, 0, 200],
  [300, 200, 200],
  [300, -200, 200],
  [300, 400, 401],
  [300, -400, 401],
  [300, null, 401],
  [300, 'yesterday', 401],
  [0, null, 200],
  [0, 100_000, 200],
])('with max_age_seconds %s, an event of age %s is answered with %s', async (maxAge, age, status) => {
  expect(await deliver(maxAge, age)).toBe(status);
});
