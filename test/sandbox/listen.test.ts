import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { startReceiver } from './start-receiver.ts';
import { startTestSandbox } from './start-test-sandbox.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** Starts `webhooks listen` as a process and collects its lines. */
function listen(...flags: readonly string[]) {
  const child = spawn(process.execPath, [MAIN, 'webhooks', 'listen', '--json', ...flags], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => JSON.parse(String((await lines.next()).value)) as Record<string, unknown>;
  return { child, next };
}

test('webhooks listen forwards signed events to an address until it is stopped', async () => {
  const receiver = await startReceiver();
  const sandbox = await startTestSandbox();
  const { child, next } = listen(
    ...['--forward-to', `${receiver.url}/hooks`, '--url', sandbox.url, '--kind', 'product_sent'],
  );
  expect(await next()).toMatchObject({ event: 'listening' });
  receiver.statuses.push(503);
  for (const kind of ['new_max_bid', 'product_sent'])
    await sandbox.request('POST', `/_sandbox/trigger/${kind}`, { body: {}, key: null });
  expect(await next()).toMatchObject({ event: 'forwarded', webhook_type: 'product_sent', status: 503 });
  expect(receiver.events).toHaveLength(1);
  expect(receiver.events[0]).toMatchObject({
    path: '/hooks',
    headers: { 'x-service-signature': expect.stringMatching(/^[0-9a-f]{64}$/) },
    body: { send_product_info: expect.anything() },
  });
  child.kill('SIGTERM');
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).toBe(0);
});

test('webhooks listen exits with 2 if no sandbox is running', async () => {
  const { child } = listen('--forward-to', 'http://127.0.0.1:9/', '--url', 'http://127.0.0.1:1');
  const [code] = (await once(child, 'exit')) as [number];
  expect(code).toBe(2);
});
