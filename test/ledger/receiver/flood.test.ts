import { EventEmitter } from 'node:events';
import { connect, type Server, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect, it, onTestFinished, vi } from 'vitest';
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

/** A server whose connections a test opens, by a clock that it sets. */
function openLimits(limits: { readonly total: number; readonly perAddress: number }) {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(0);
  onTestFinished(() => clock.mockRestore());
  const server = new EventEmitter();
  const guard = limitConnections(server as Server, limits);
  const sockets = new Map<string, Socket>();
  const closed: string[] = [];
  const socketOf = (name: string) => sockets.get(name) as Socket;
  return {
    at: (milliseconds: number) => void clock.mockReturnValue(milliseconds),
    /** Opens connections, named by their address and a number: `a1`. @returns those that are closed for them. */
    open(...names: readonly string[]) {
      for (const name of names) {
        const socket = Object.assign(new EventEmitter(), {
          remoteAddress: name.slice(0, 1),
          destroy() {
            closed.push(name);
            socket.emit('close');
          },
        });
        sockets.set(name, socket as unknown as Socket);
        server.emit('connection', socket);
      }
      return closed.splice(0);
    },
    end: (...names: readonly string[]) => {
      for (const name of names) socketOf(name).emit('close');
    },
    protect: (name: string) => guard.protect(socketOf(name)),
    release: (name: string) => guard.release(socketOf(name)),
    protectUnknown: () => guard.protect(new EventEmitter() as Socket),
  };
}

it('of an address with too many connections the one that has waited longest makes room, after two seconds, unless it is answered', () => {
  const { at, open, end, protect, release, protectUnknown } = openLimits({ total: 100, perAddress: 2 });
  expect(open('a1')).toEqual([]);
  at(100);
  expect(open('a2', 'b1')).toEqual([]);
  at(2_000);
  expect(open('a3'), 'none has waited for longer than two seconds').toEqual(['a3']);
  at(2_001);
  expect(open('a4')).toEqual(['a1']);
  expect(open('a5')).toEqual(['a5']);
  at(10_000);
  protect('a2');
  expect(open('a6')).toEqual(['a4']);
  protect('a6');
  at(20_000);
  expect(open('a7'), 'both are answered').toEqual(['a7']);
  release('a6');
  release('a2');
  at(22_000);
  expect(open('a8'), 'both wait for the next request').toEqual(['a8']);
  at(22_001);
  expect(open('a9')).toEqual(['a6']);
  end('a2', 'a2', 'a9');
  for (const name of ['a', 'a', 'a', 'a'].map((address, index) => `${address}x${index}`)) {
    expect(open(name)).toEqual([]);
    end(name);
  }
  protectUnknown();
  at(30_000);
  expect(open('ay', 'az', 'a0')).toEqual(['a0']);
});

it('of a server with too many connections one of the address with the most makes room, of several the first of them', () => {
  const many = openLimits({ total: 3, perAddress: 9 });
  expect(many.open('x1', 'y1', 'y2')).toEqual([]);
  expect(many.open('z1'), 'none has waited').toEqual(['z1']);
  many.at(3_000);
  expect(many.open('z2')).toEqual(['y1']);
  expect(many.open('w1'), 'each has as many').toEqual(['x1']);
  many.end('y2', 'z2', 'w1');
  expect(many.open('x2', 'y3', 'y4')).toEqual([]);
  many.protect('y3');
  many.protect('y4');
  many.at(9_000);
  expect(many.open('z4'), 'those of the address are answered').toEqual(['z4']);
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

it('a body and the memory may be as large as they may be; of two that are as large the first makes room, and each is given back', async () => {
  const pool = new BodyPool({ poolBytes: 1_000, bodyBytes: 600, timeoutMs: 60_000 });
  for (let count = 0; count < 5; count += 1) {
    const [one, other] = [new PassThrough(), new PassThrough()];
    const reads = [one, other].map((stream) => pool.read(stream));
    one.end('x'.repeat(600));
    other.end('x'.repeat(400));
    expect((await Promise.all(reads)).map(({ length }) => length)).toEqual([600, 400]);
  }
  const failing = new PassThrough();
  const failed = pool.read(failing);
  failing.destroy(new Error('the connection was reset'));
  await expect(failed).rejects.toThrow('the connection was reset');
  const [first, second, third] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const reads = [first, second, third].map((stream) => pool.read(stream).then(String, (error) => error));
  first.write('x'.repeat(450));
  second.write('x'.repeat(450));
  await waitFor(() => first.readableLength === 0 && second.readableLength === 0);
  third.end('x'.repeat(101));
  expect(await reads[0]).toMatchObject({
    name: 'BodyRefused',
    message: 'the body was refused',
    statusCode: 503,
  });
  expect(await reads[2]).toHaveLength(101);
  second.end();
  expect(await reads[1]).toHaveLength(450);
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
