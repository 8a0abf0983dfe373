import { type AddressInfo, createServer } from 'node:net';
import { expect, test } from 'vitest';
import { seededRandom } from '../../src/sandbox/random-id.ts';
import { waitFor } from '../support/wait-for.ts';
import { httpAnswer, startRawServer } from './raw-server.ts';
import { ORDER, openClient } from './test-client.ts';

const REFERRAL = 'new_influencer_referral';

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

test('a refused connection counts as not written', async () => {
  const client = openClient(`http://127.0.0.1:${await closedPort()}`);
  const exchange = await client.exchange(REFERRAL, { body: ORDER });
  expect(exchange).toEqual({ kind: 'failure', written: false, reason: 'the connection was refused' });
});

test('an unknown host name counts as not written', async () => {
  const exchange = await openClient('http://no-such-host.invalid').exchange(REFERRAL, { body: ORDER });
  expect(exchange).toMatchObject({
    kind: 'failure',
    written: false,
    reason: expect.stringContaining('host name'),
  });
});

test('a failed TLS handshake counts as not written', async () => {
  const server = await startRawServer({ onData: (socket) => socket.end('this is not TLS\r\n\r\n') });
  const client = openClient(server.url.replace('http:', 'https:'));
  const exchange = await client.exchange(REFERRAL, { body: ORDER });
  expect(exchange).toMatchObject({ kind: 'failure', written: false });
  expect(server.received.join('')).not.toContain('order_id');
});

test('a TLS handshake that stalls counts as not written', async () => {
  const server = await startRawServer({});
  const client = openClient(server.url.replace('http:', 'https:'), { connectTimeoutMs: 100 });
  const exchange = await client.exchange(REFERRAL, { body: ORDER });
  expect(exchange).toEqual({ kind: 'failure', written: false, reason: 'no connection in time' });
});

test('a reset before the server read anything counts as not written only if no byte arrived', async () => {
  const server = await startRawServer({ onConnection: (socket) => socket.pause().resetAndDestroy() });
  const exchange = await openClient(server.url).exchange(REFERRAL, { body: ORDER });
  // If the client sees the reset before it writes, nothing is in doubt; otherwise the write is. Either result
  // is correct, but the client must report which one it was.
  expect(exchange.kind).toBe('failure');
  if (exchange.kind === 'failure' && !exchange.written) expect(server.received.join('')).toBe('');
});

test('a reset after the server read the request counts as written', async () => {
  const server = await startRawServer({ onData: (socket) => socket.resetAndDestroy() });
  const exchange = await openClient(server.url).exchange(REFERRAL, { body: ORDER });
  expect(exchange).toEqual({ kind: 'failure', written: true, reason: 'the connection was reset' });
});

test('a request counts as written if the server closes its kept-alive socket', async () => {
  const server = await startRawServer({
    allowHalfOpen: true,
    onData: (socket, data) =>
      data.includes('"second"') ? socket.end() : socket.write(httpAnswer(200, '{}')),
  });
  const client = openClient(server.url, { connections: 1 });
  expect(await client.exchange(REFERRAL, { body: '"first"' })).toMatchObject({ kind: 'answer' });
  const second = await client.exchange(REFERRAL, { body: '"second"' });
  expect(second).toMatchObject({ kind: 'failure', written: true });
  expect(server.received.join('').split('"second"')).toHaveLength(2);
});

test('a truncated answer counts as written', async () => {
  const server = await startRawServer({
    onData: (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{"deal_id"'),
  });
  const exchange = await openClient(server.url).exchange(REFERRAL, { body: ORDER });
  expect(exchange).toMatchObject({ kind: 'failure', written: true });
});

test('an answer that is not HTTP counts as written', async () => {
  const server = await startRawServer({ onData: (socket) => socket.end('SSH-2.0-OpenSSH\r\n\r\n') });
  const exchange = await openClient(server.url).exchange(REFERRAL, { body: ORDER });
  expect(exchange).toMatchObject({
    kind: 'failure',
    written: true,
    reason: expect.stringContaining('not HTTP/1.1'),
  });
});

test('a stall before the headers counts as written', async () => {
  const server = await startRawServer({});
  const exchange = await openClient(server.url, { timeoutMs: 150 }).exchange(REFERRAL, { body: ORDER });
  expect(exchange).toEqual({ kind: 'failure', written: true, reason: 'no answer in time' });
});

test('an aborted client separates written requests from waiting ones', async () => {
  const server = await startRawServer({});
  const client = openClient(server.url, { connections: 1 });
  const first = client.exchange(REFERRAL, { body: '"first"' });
  const second = client.exchange(REFERRAL, { body: '"second"' });
  await waitFor(() => server.received.join('').includes('"first"'));
  await client.destroy();
  expect(await first).toMatchObject({ kind: 'failure', written: true });
  expect(await second).toEqual({ kind: 'failure', written: false, reason: 'the client was closed' });
  expect(server.received.join('')).not.toContain('"second"');
});

test('a request whose deadline passed while it waited for a connection is never written', async () => {
  const server = await startRawServer({
    onData: (socket, data) => {
      if (data.includes('"third"')) socket.write(httpAnswer(200, '{}'));
    },
  });
  const client = openClient(server.url, { connections: 1, timeoutMs: 150 });
  const [first, second] = await Promise.all([
    client.exchange(REFERRAL, { body: '"first"' }),
    client.exchange(REFERRAL, { body: '"second"' }),
  ]);
  expect(first).toEqual({ kind: 'failure', written: true, reason: 'no answer in time' });
  expect(second).toEqual({ kind: 'failure', written: false, reason: 'no connection was free in time' });
  expect(await client.exchange(REFERRAL, { body: '"third"' })).toMatchObject({ kind: 'answer' });
  expect(server.received.join('')).not.toContain('"second"');
});

test('among 2,000 requests to a server that fails at random, no arrived request counts as not written and none is sent twice', async () => {
  const random = seededRandom('chaos');
  const server = await startRawServer({
    onConnection: (socket) => {
      if (random() < 0.05) socket.resetAndDestroy();
    },
    onData: (socket) => {
      const fate = random();
      if (fate < 0.7) socket.write(httpAnswer(200, '{}'));
      else if (fate < 0.8) socket.end(httpAnswer(200, '{}'));
      else if (fate < 0.9) socket.resetAndDestroy();
      else socket.end();
    },
  });
  // On a busy machine, the last of 2,000 waits longer for a connection than a request would wait for its answer.
  const client = openClient(server.url, { connections: 8, timeoutMs: 120_000 });
  const exchanges = await Promise.all(
    Array.from({ length: 2_000 }, (_, id) => client.exchange(REFERRAL, { body: `{"id":"<${id}>"}` })),
  );
  const arrived = server.received.join('');
  exchanges.forEach((exchange, id) => {
    const times = arrived.split(`"<${id}>"`).length - 1;
    expect(times).toBeLessThanOrEqual(1);
    if (exchange.kind === 'answer') expect(times).toBe(1);
    if (exchange.kind === 'failure' && !exchange.written) expect(times).toBe(0);
  });
  expect(
    exchanges.filter((exchange) => exchange.kind === 'failure' && exchange.written).length,
  ).toBeGreaterThan(100);
});
