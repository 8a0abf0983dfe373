import { expect, test } from 'vitest';
import { createClient } from '../../src/service/client.ts';
import { waitFor } from '../support/wait-for.ts';
import { httpAnswer, startRawServer } from './raw-server.ts';
import { ORDER, openClient } from './test-client.ts';

test('the client sends the body byte for byte, with the API key, over HTTP/1.1', async () => {
  const server = await startRawServer({
    onData: (socket) => socket.write(httpAnswer(200, '{"ok":true}', ['X-Trace: abc'])),
  });
  const exchange = await openClient(`${server.url}/base/`).exchange('new_influencer_referral', {
    body: ORDER,
  });
  expect(exchange).toMatchObject({
    kind: 'answer',
    status: 200,
    text: '{"ok":true}',
    headers: { 'x-trace': 'abc' },
  });
  const [request = ''] = server.received;
  expect(request).toMatch(/^POST \/base\/v1\/crm\/new_influencer_referral HTTP\/1\.1\r\n/);
  expect(request).toContain('x-api-key: test-key\r\n');
  expect(request).toContain('content-type: application/json\r\n');
  expect(request.endsWith(`\r\n\r\n${ORDER}`)).toBe(true);
});

test('the client sends no API key to the operation that needs none, and encodes a query', async () => {
  const server = await startRawServer({ onData: (socket) => socket.write(httpAnswer(200, '{}')) });
  const client = openClient(server.url, { connections: 1 });
  await client.exchange('public_hello');
  await client.exchange('autocomplete', { query: { q: 'a b&c', missing: undefined } });
  expect(server.received[0]).not.toMatch(/^GET \/v1\/public\/hello.*x-api-key.*GET/s);
  expect(server.received[0]).toContain('GET /v1/crm/autocomplete?q=a+b%26c HTTP/1.1\r\n');
});

test('the client encodes a lone surrogate in a query as U+FFFD', async () => {
  const server = await startRawServer({ onData: (socket) => socket.write(httpAnswer(200, '{}')) });
  const exchange = await openClient(server.url).exchange('autocomplete', {
    query: { q: 'Größe \ud83d', full: true },
  });
  expect(exchange).toMatchObject({ kind: 'answer', status: 200 });
  expect(server.received[0]).toContain('?q=Gr%C3%B6%C3%9Fe+%EF%BF%BD&full=true HTTP/1.1\r\n');
});

test('the client does not follow a redirect', async () => {
  const server = await startRawServer({
    onData: (socket) => socket.write(httpAnswer(302, '', ['Location: /elsewhere'])),
  });
  const exchange = await openClient(server.url).exchange('new_influencer_referral', { body: ORDER });
  expect(exchange).toMatchObject({ kind: 'answer', status: 302, text: '' });
  expect(server.received.join('').match(/HTTP\/1\.1/g)).toHaveLength(1);
});

test('the client assembles an answer from chunks that split a character', async () => {
  const body = Buffer.from('{"message":"Größe 👍"}');
  const server = await startRawServer({
    onData: (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`);
      for (const byte of body) socket.write(Buffer.of(byte));
    },
  });
  const exchange = await openClient(server.url).exchange('public_hello');
  expect(exchange).toMatchObject({ kind: 'answer', text: '{"message":"Größe 👍"}' });
});

test('the client skips a 1xx response and reads the final response', async () => {
  const server = await startRawServer({
    onData: (socket) =>
      socket.write(`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${httpAnswer(200, '{"a":1}')}`),
  });
  expect(await openClient(server.url).exchange('public_hello')).toMatchObject({
    status: 200,
    text: '{"a":1}',
  });
});

test('the client opens no more connections than its limit and reuses them', async () => {
  const server = await startRawServer({ onData: (socket) => socket.write(httpAnswer(200, '{}')) });
  const client = openClient(server.url, { connections: 2 });
  await Promise.all(
    Array.from({ length: 20 }, () => client.exchange('new_influencer_referral', { body: ORDER })),
  );
  expect(server.received.length).toBeLessThanOrEqual(2);
});

test('the client fails an exchange if the answer is larger than 1 MiB', async () => {
  const server = await startRawServer({
    onData: (socket) => socket.write(httpAnswer(200, 'x'.repeat(1024 * 1024 + 1))),
  });
  const exchange = await openClient(server.url).exchange('new_influencer_referral', { body: ORDER });
  expect(exchange).toEqual({ kind: 'failure', written: true, reason: 'the answer was too large' });
});

test('the client ends an exchange at its deadline although the server keeps sending bytes', async () => {
  const server = await startRawServer({
    onData: (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n');
      const dripping = setInterval(() => socket.write('x'), 10);
      socket.on('close', () => clearInterval(dripping));
    },
  });
  const began = performance.now();
  const exchange = await openClient(server.url, { timeoutMs: 200 }).exchange('new_influencer_referral', {
    body: ORDER,
  });
  expect(exchange).toEqual({ kind: 'failure', written: true, reason: 'no complete answer in time' });
  expect(performance.now() - began).toBeGreaterThan(190);
});

test('a caller can abort an exchange, which says whether its request was written', async () => {
  const server = await startRawServer({ onData: () => {} });
  const client = openClient(server.url, { connections: 1 });
  const [first, second] = [new AbortController(), new AbortController()];
  const send = ({ signal }: AbortController) =>
    client.exchange('new_influencer_referral', { body: ORDER, signal });
  const [inFlight, waiting] = [send(first), send(second)];
  await waitFor(() => server.received.length === 1);
  second.abort();
  const failure = { kind: 'failure', reason: 'the caller aborted it' };
  expect(await waiting).toEqual({ ...failure, written: false });
  expect(await send(second)).toEqual({ ...failure, written: false });
  first.abort();
  expect(await inFlight).toEqual({ ...failure, written: true });
  expect(server.received).toHaveLength(1);
});

test('the client waits for requests in flight when it is closed', async () => {
  const server = await startRawServer({
    onData: (socket) => setTimeout(() => socket.write(httpAnswer(200, '{}')), 50),
  });
  const client = openClient(server.url);
  const exchange = client.exchange('new_influencer_referral', { body: ORDER });
  await waitFor(() => server.received.length === 1);
  await client.close();
  expect(await exchange).toMatchObject({ kind: 'answer', status: 200 });
  expect(await client.exchange('public_hello')).toEqual({
    kind: 'failure',
    written: false,
    reason: 'the client was closed',
  });
});

test.each([
  '',
  'acme.example',
  'ftp://acme.example',
  'https://user:secret@acme.example',
  'http://acme.example/?a=1',
])('the client rejects the base address %j without repeating it in the error', (url) => {
  const create = () => createClient({ url, key: 'k', connections: 1, timeoutMs: 1, connectTimeoutMs: 1 });
  expect(create).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ code: 'api_url_invalid' }) }),
  );
  expect(create).not.toThrow(/secret/);
});

test('the client rejects an API key that no header can carry without repeating it in the error', () => {
  const create = () =>
    createClient({
      url: 'http://127.0.0.1',
      key: 'planted-key\n',
      connections: 1,
      timeoutMs: 1,
      connectTimeoutMs: 1,
    });
  expect(create).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ code: 'api_key_invalid' }) }),
  );
  expect(create).not.toThrow(/planted/);
});
