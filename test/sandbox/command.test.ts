import { type ChildProcess, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { startReceiver } from './start-receiver.ts';
import { REFERRAL } from './start-test-sandbox.ts';

const COMMAND = new URL('../../src/cli/api/sandbox.ts', import.meta.url).href;

/** Starts the command in a separate process, without the rest of the command line. */
function start(
  ...flags: readonly string[]
): ChildProcess & { readonly stdout: NodeJS.ReadableStream; readonly stderr: NodeJS.ReadableStream } {
  const script = `const { sandboxCommand } = await import(${JSON.stringify(COMMAND)});
    await sandboxCommand().parseAsync(${JSON.stringify(flags)}, { from: 'user' }).catch((error) => {
      process.stderr.write(error.details?.code ?? String(error));
      process.exitCode = error.details?.exitCode ?? 1;
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return child;
}

function firstLine(stream: NodeJS.ReadableStream): Promise<string> {
  return new Promise((resolve) => {
    let seen = '';
    stream.on('data', (data: Buffer) => {
      seen += data.toString();
      if (seen.includes('\n')) resolve(seen);
    });
  });
}

function exitCode(child: ChildProcess): Promise<number | string | null> {
  return new Promise((resolve) => child.on('exit', (code, signal) => resolve(code ?? signal)));
}

function refer(url: string, key: string): Promise<Response> {
  return fetch(`${url}/v1/crm/new_influencer_referral`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify(REFERRAL),
  });
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  'the sandbox prints one JSON line, serves, and exits with 0 on %s',
  async (signal) => {
    const child = start(
      '--port',
      '0',
      '--key',
      'my-key',
      '--fault',
      'stall_before:after=1,operation=new_influencer_referral',
    );
    const line = await firstLine(child.stdout);
    expect(line.trim().split('\n')).toHaveLength(1);
    const { url, key } = JSON.parse(line) as { url: string; key: string };
    expect([url, key]).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/), 'my-key']);
    expect((await refer(url, key)).status).toBe(200);
    // A stalled request does not prevent it from ending.
    const stalled = refer(url, key).catch(() => 'cut');
    const ended = exitCode(child);
    child.kill(signal);
    expect(await ended).toBe(0);
    expect(await stalled).toBe('cut');
  },
);

test('the sandbox keeps its referrals in the log file when it is killed', async () => {
  const referralLog = join(mkdtempSync(join(tmpdir(), 'sandbox-command-')), 'referrals.ndjson');
  const child = start('--port', '0', '--referral-log', referralLog);
  const { url, key } = JSON.parse(await firstLine(child.stdout)) as { url: string; key: string };
  await refer(url, key);
  const ended = exitCode(child);
  child.kill('SIGKILL');
  await ended;
  expect(JSON.parse(readFileSync(referralLog, 'utf8'))).toMatchObject({
    sequence: 1,
    order_id: '1001',
    body: REFERRAL,
  });
});

test('the sandbox uses the account of --data', async () => {
  const data = join(mkdtempSync(join(tmpdir(), 'sandbox-command-')), 'account.yaml');
  writeFileSync(data, 'brands: [{ id: 7, name: Seven }]\n');
  const child = start('--port', '0', '--data', data);
  const { url, key } = JSON.parse(await firstLine(child.stdout)) as { url: string; key: string };
  const brands = await fetch(`${url}/v1/account/search_brands`, { headers: { 'x-api-key': key } });
  expect(await brands.json()).toEqual([{ id: 7, name: 'Seven' }]);
});

test('sandbox trigger sends an event from a running sandbox or reports why it cannot', async () => {
  const running = start('--port', '0', '--allow-private-webhooks', '--webhook-header-prefix', 'X-Acme');
  const line = JSON.parse(await firstLine(running.stdout)) as Record<
    'url' | 'key' | 'webhook_secret',
    string
  >;
  const receiver = await startReceiver();
  await fetch(`${line.url}/v1/account/create_webhook`, {
    method: 'POST',
    headers: { 'x-api-key': line.key, 'content-type': 'application/json' },
    body: JSON.stringify({ webhook_url: receiver.url, webhook_type: 'new_payout_request' }),
  });
  const settings = ['--set', 'payout_amount=80', '--set', 'deal_id=HB4XV09KQM'];
  const triggered = start('trigger', 'new_payout_request', '--url', line.url, ...settings);
  expect(JSON.parse(await text(triggered.stdout))).toMatchObject({ deal_id: 'HB4XV09KQM', deliveries: 1 });
  await waitFor(() => receiver.events.length === 1);
  const [event] = receiver.events;
  expect(event?.body).toMatchObject({ payout_amount: 80 });
  expect(event?.headers['x-acme-signature']).toBe(
    createHmac('sha256', line.webhook_secret)
      .update(event?.raw ?? '')
      .digest('hex'),
  );

  const refused = start('trigger', 'new_max_bid', '--url', line.url, '--set', 'deal_id=NONE');
  expect(await Promise.all([text(refused.stderr), exitCode(refused)])).toEqual(['trigger_refused', 2]);
  const unreachable = start('trigger', 'new_max_bid', '--url', 'http://127.0.0.1:1');
  expect(await Promise.all([text(unreachable.stderr), exitCode(unreachable)])).toEqual([
    'sandbox_unreachable',
    2,
  ]);
});

test.each([
  ['a data file that is missing', ['--data', '/no/such/file'], 'sandbox_data_missing'],
  ['a fault that is none', ['--fault', 'earthquake'], 'fault_invalid'],
  ['an address that is not its own', ['--host', '192.0.2.1'], 'port_unusable'],
])('the sandbox exits with 2 on %s', async (_case, flags, code) => {
  const child = start('--port', '0', ...flags);
  const [said, ended] = await Promise.all([text(child.stderr), exitCode(child)]);
  expect([said, ended]).toEqual([code, 2]);
});
