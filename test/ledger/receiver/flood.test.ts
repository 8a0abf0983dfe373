import { EventEmitter } from 'node:events';
import { connect, type Server, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { BodyPool } from '../../../src/ledger/receiver/body-pool.ts';
import { limitConnections } from '../../../src/ledger/receiver/limit-connections.ts';
import { type Receiver, startReceiver } from '../../../src/ledger/receiver/start-receiver.ts';
import { waitFor } from '../../support/wait-for.ts';
import { deliver, orderEvent, SETTINGS } from './deliver.ts';

const HALF_A_REQUEST = 'POST /webhooks HTTP/1.1\r\nhost: x\r\nx-service-sig';

async function openStoring(settings: Partial<typeof SETTINGS> = {}): Promise<Receiver> {
  const receiver = await startReceiver({
    settings: { ...SETTINGS, ...settings },
    store: () => Promise.resolve(true),
  });
  onTestFinished(() => receiver.close());
  return receiver;
}

type Flood = { readonly sockets: readonly Socket[]; readonly open: () => number };

/**
 * Opens connections from some addresses of this machine that send the text and then nothing more. They close
 * when the test ends.
 */
async function flood(
  { url }: Receiver,
  { count, text, addresses = ['127.0.0.1'] }: { count: number; text: string; addresses?: readonly string[] },
): Promise<Flood> {
  const port = Number(new URL(url).port);
  let open = 0;
  const sockets = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const localAddress = addresses[index % addresses.length] ?? '';
      const socket = connect({ host: '127.0.0.1', port, localAddress });
      socket.on('error', () => {});
      socket.on('connect', () => {
        open += 1;
        socket.write(text);
      });
      socket.on('close', () => {
        open -= 1;
      });
      await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
      return socket;
    }),
  );
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return { sockets, open: () => open };
}

it('an event is accepted while 2,000 connections from its own address send half a request', async () => {
  const receiver = await openStoring();
  const { open } = await flood(receiver, { count: 2_000, text: HALF_A_REQUEST });
  await waitFor(async () => (await deliver(receiver.url, orderEvent('1')).catch(() => 0)) === 200);
  await waitFor(() => open() <= 100);
  expect(open()).toBeGreaterThan(50);
});

it('an address keeps its connections while another one floods the receiver', async () => {
  const receiver = await openStoring({ maxConnectionsPerAddress: 500 });
  const early = await flood(receiver, { count: 5, text: HALF_A_REQUEST, addresses: ['127.0.0.9'] });
  const { open } = await flood(receiver, { count: 600, text: HALF_A_REQUEST });
  await waitFor(() => open() <= 500);
  expect(early.open()).toBe(5);
});

it('hosts are told apart by their IPv4 address, however it is written, or by the first half of their IPv6 address', () => {
  const server = new EventEmitter();
  limitConnections(server as Server, { total: 100, perAddress: 1 });
  const admits = (remoteAddress: string): boolean => {
    let isClosed = false;
    const socket = { remoteAddress, once: () => {}, destroy: () => (isClosed = true) };
    server.emit('connection', socket);
    return !isClosed;
  };
  expect(
    [
      ...['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', 'fe80:db8:1:2::1', '2001:db8:1:3::1'],
      ...['10.0.0.1', '::ffff:10.0.0.1', '::FFFF:10.0.0.2'],
    ].map(admits),
  ).toEqual([true, false, true, true, true, false, true]);
});

it('bodies that are small together wait for their ends, whatever the largest one that is allowed', async () => {
  const receiver = await openStoring({ maxBodyBytes: 1_000 });
  const text = `POST /webhooks HTTP/1.1\r\nhost: x\r\nx-service-signature: 00\r\ncontent-length: 900\r\n\r\n${'x'.repeat(800)}`;
  const { open } = await flood(receiver, { count: 4, text });
  expect(await deliver(receiver.url, orderEvent('1'))).toBe(200);
  expect(await (await fetch(new URL('/health', receiver.url))).json()).toEqual({ status: 'ok' });
  expect(open()).toBe(4);
});

it('a request without a signature is rejected before its body arrives', async () => {
  const receiver = await openStoring();
  const head = 'POST /webhooks HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n';
  const { sockets } = await flood(receiver, { count: 1, text: head });
  const answer = await new Promise<string>((resolve) =>
    sockets[0]?.once('data', (data) => resolve(String(data))),
  );
  expect(answer).toMatch(/^HTTP\/1\.1 401 /);
});

it('unverified bodies share bounded memory, and the largest is dropped first', async () => {
  const pool = new BodyPool({ poolBytes: 1_000, bodyBytes: 600, timeoutMs: 60_000 });
  const [large, small, genuine] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const reads = [large, small, genuine].map((stream) => pool.read(stream).then(String, (error) => error));
  large.write('x'.repeat(550));
  small.write('x'.repeat(400));
  await waitFor(() => small.readableLength === 0 && large.readableLength === 0);
  genuine.end('x'.repeat(100));
  expect(await reads[0]).toMatchObject({ statusCode: 503 });
  expect(await reads[2]).toBe('x'.repeat(100));
  small.write('x'.repeat(250));
  expect(await reads[1]).toMatchObject({ statusCode: 413 });
  const isPaused = [large, small, genuine].map((stream) => stream.isPaused());
  expect(isPaused, 'nothing more is read of what was refused').toEqual([true, true, false]);
});

it('a body is abandoned if it is not complete in time or its sender disconnects', async () => {
  const pool = new BodyPool({ poolBytes: 1_000, bodyBytes: 600, timeoutMs: 20 });
  const slow = new PassThrough();
  slow.write('x');
  await expect(pool.read(slow)).rejects.toMatchObject({ statusCode: 408 });
  const gone = new PassThrough();
  const read = pool.read(gone);
  gone.destroy();
  await expect(read).rejects.toMatchObject({ statusCode: 408 });
});
