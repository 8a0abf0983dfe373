import { connect as openSocket } from 'node:net';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startReceiver } from '../../../src/ledger/receiver/start-receiver.ts';
import { setup } from '../../support/setup.ts';
import { deliver, openReceiver, orderEvent, SECRET, SETTINGS, sign } from './deliver.ts';

describe('a signed event', () => {
  it('is stored before it is acknowledged, with its deal and the time it was sent', async () => {
    const { db } = await setup();
    const { url } = await openReceiver(db);
    const body = orderEvent('1');
    expect(await deliver(url, body, { 'x-service-timestamp': '1790000000' })).toBe(200);
    const rows = await db.selectFrom('ops.webhook_events').selectAll().execute();
    expect(rows).toMatchObject([
      { kind: 'new_influencer_order', deal_id: 'D1', collab_id: 'C1', body: JSON.parse(body) },
    ]);
    expect(rows[0]?.sent_at?.toISOString()).toBe(new Date(1_790_000_000_000).toISOString());
  });

  it('counts once, even if the same body arrives concurrently and at another path', async () => {
    const { db } = await setup();
    const { url } = await openReceiver(db);
    const body = orderEvent('1');
    const statuses = await Promise.all(
      [url, url, `${url}/new_influencer_order`, url].map((to) => deliver(to, body)),
    );
    expect(statuses).toEqual([200, 200, 200, 200]);
    const { rows } = await sql`select (select count(*) from ops.webhook_events) as events,
      (select count(*) from ledger.evidence) as evidence`.execute(db);
    expect(rows).toEqual([{ events: '1', evidence: '1' }]);
  });

  it('is stored with exact amounts and ids, and without email addresses', async () => {
    const { db } = await setup();
    const { url } = await openReceiver(db);
    const body =
      '{"deal_id":"D1","order_information":{"order_id":12345678901234567890,"order_revenue":1249.00,"order_currency":"eur","platform":"shopify"},"customer":{"email":"jane@example.com"}}';
    expect(await deliver(url, body)).toBe(200);
    const { rows } = await sql<{
      stored: string;
    }>`select body::text as stored from ops.webhook_events`.execute(db);
    expect(rows[0]?.stored).toContain('1249.00');
    expect(rows[0]?.stored).not.toContain('jane@example.com');
    const evidence = await db.selectFrom('ledger.evidence').selectAll().executeTakeFirstOrThrow();
    expect(evidence).toMatchObject({
      order_id: '12345678901234567890',
      amount: '1249.0000',
      currency: 'EUR',
    });
  });

  it('is stored even if its kind is unknown, it is not JSON, or its text is unusual', async () => {
    const { db } = await setup();
    const { url } = await openReceiver(db);
    const odd = [
      '{"deal_id":"D2","new":1}',
      'not json',
      '',
      '"\\u0000\\ud800"',
      '{"a\\u0000":1e999999}',
      '['.repeat(5_000),
    ];
    for (const body of odd) expect(await deliver(url, body), body.slice(0, 20)).toBe(200);
    expect(await deliver(`${url}/media_kpi_updated`, '{"deal_id":"D3"}')).toBe(200);
    const { rows } =
      await sql`select kind, count(*)::integer as events, max(deal_id) as deal from ops.webhook_events
      group by kind order by kind`.execute(db);
    expect(rows).toEqual([
      { kind: 'media_kpi_updated', events: 1, deal: 'D3' },
      { kind: 'unknown', events: 6, deal: 'D2' },
    ]);
  });

  it('of a changed code or link is stored with the old and new value and its deal', async () => {
    const { db } = await setup();
    const { url } = await openReceiver(db);
    const code = { old_discount_code: 'MIA10', new_discount_code: 'MIA15', new_discount_perc: 15 };
    const link = { old_custom_link: 'https://acme.test/mia', new_custom_link: null };
    await deliver(url, JSON.stringify({ deal_id: 'D1', code_information: code }));
    await deliver(url, JSON.stringify({ deal_id: 'D1', custom_link_information: link }));
    const rows = await db.selectFrom('intake.code_changes').selectAll().orderBy('event_id').execute();
    expect(rows).toMatchObject([
      { kind: 'discount_code', deal_id: 'D1', old_value: 'MIA10', new_value: 'MIA15' },
      { kind: 'custom_link', deal_id: 'D1', old_value: 'https://acme.test/mia', new_value: null },
    ]);
  });
});

describe('the receiver answers 401 and stores nothing for', () => {
  const body = orderEvent('1');
  const good = sign(body);
  const flipped = Buffer.from(body);
  flipped[0] = (flipped[0] ?? 0) ^ 1;
  it.each([
    ['a body of which one bit was changed', flipped, good],
    ['no signature', body, ''],
    [
      'a signature of which one digit was changed',
      body,
      good.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
    ],
    ['a signature that is cut', body, good.slice(0, -1)],
    ['a signature with more behind it', body, `${good}0`],
    ['a signature in upper case', body, good.toUpperCase()],
    ['a signature in base64', body, sign(body, SECRET, 'base64')],
    ['a signature with a prefix', body, `sha256=${good}`],
    ['two signatures', body, `${good}, ${good}`],
    ['a signature under another secret', body, sign(body, 'another')],
    ['a signature under no secret', body, sign(body, '')],
    ['the signature of another body', body, sign('{}')],
  ])('%s', async (what, sent, signature) => {
    const { db } = await setup();
    const { url } = await openReceiver(db);
    expect(await deliver(url, sent, { 'x-service-signature': signature })).toBe(401);
    // Of a genuine event that is signed in another way than described, only the way is stored.
    const isKnownWay = ['a signature in base64', 'a signature with a prefix'].includes(what);
    const stored = await db.selectFrom('ops.webhook_events').select(['kind', 'deal_id']).execute();
    expect(stored).toEqual(isKnownWay ? [{ kind: 'signature_mismatch', deal_id: null }] : []);
  });
});

it('tells of each delivery what became of it, without its body, and answers so', async () => {
  const told: unknown[] = [];
  const errors: unknown[] = [];
  const stored: string[] = [];
  let store = async (): Promise<boolean> => true;
  const open = async (change = {}) => {
    const receiver = await startReceiver({
      settings: { ...SETTINGS, maxBodyBytes: 2_048, ...change },
      store: ({ kind }) => {
        stored.push(kind);
        return store();
      },
      onDelivery: (...fate) => void told.push(fate),
      onError: (error) => void errors.push(error),
    });
    onTestFinished(() => receiver.close());
    return receiver.url;
  };
  const [url, dated] = [await open(), await open({ maxAgeSeconds: 300 })];
  const post = async (to: string, body: string | ReadableStream, headers: Record<string, string>) => {
    const request = { method: 'POST', body, headers, ...(typeof body !== 'string' && { duplex: 'half' }) };
    const answer = await fetch(to, request as RequestInit);
    const { message } = (await answer.json()) as { readonly message: string };
    const [retryAfter, connection] = [answer.headers.get('retry-after'), answer.headers.get('connection')];
    return [
      answer.status,
      message,
      retryAfter,
      ...(connection === 'close' ? ['close'] : []),
      ...told.splice(0),
    ];
  };
  const body = orderEvent('1');
  const kind = 'new_influencer_order';
  const good = { 'x-service-signature': sign(body) };
  const large = 'x'.repeat(2_049);
  const missing = 'The header X-Service-Signature is missing.';
  const wrong = 'The signature does not match the body.';
  expect(await post(url, body, good)).toEqual([200, 'The event was stored.', null, ['stored', 200, kind]]);
  expect(await post(`${url}/media_kpi_updated`, '{}', { 'x-service-signature': sign('{}') })).toEqual([
    ...[200, 'The event was stored.', null, ['stored', 200, 'media_kpi_updated']],
  ]);
  store = async () => false;
  expect(await post(url, body, good)).toEqual([
    ...[200, 'The event was already stored.', null, ['replayed', 200, kind]],
  ]);
  store = () => Promise.reject(new Error('the database is away'));
  const prefixed = { 'x-service-signature': `sha256=${sign(body)}` };
  expect(await post(dated, body, prefixed), 'how it is signed could not be stored').toEqual([
    ...[401, wrong, null, ['signed_otherwise', 401, null]],
  ]);
  expect(errors.splice(0)).toEqual([new Error('the database is away')]);
  expect(await post(url, body, good)).toEqual([
    ...[503, 'The event could not be stored. Send it again.', '30', ['not_stored', 503, kind]],
  ]);
  expect(errors).toEqual([new Error('the database is away')]);
  stored.length = 0;
  store = async () => true;
  expect(await post(url, body, {})).toEqual([401, missing, null, 'close', ['unsigned', 401, null]]);
  expect(await post(url, body, prefixed)).toEqual([401, wrong, null, ['signed_otherwise', 401, null]]);
  expect(await post(url, body, prefixed), 'it was found out a moment ago').toEqual([
    ...[401, wrong, null, ['forged', 401, null]],
  ]);
  expect(await post(url, body, { 'x-acme-signature': 'x' })).toEqual([
    401,
    missing,
    null,
    ['unsigned', 401, null],
  ]);
  expect(await post(dated, body, good)).toEqual([
    ...[401, 'The header X-Service-Timestamp is missing or too far from now.', null, ['stale', 401, null]],
  ]);
  const tooLarge = [413, 'The body is too large.', null, 'close', ['refused', 413, null]];
  expect(await post(url, large, { 'x-service-signature': sign(large) })).toEqual(tooLarge);
  expect(await post(url, new Blob([large]).stream(), { 'x-service-signature': sign(large) })).toEqual(
    tooLarge,
  );
  const largest = large.slice(1);
  expect(await post(url, largest, { 'x-service-signature': sign(largest) })).toEqual([
    ...[200, 'The event was stored.', null, ['stored', 200, 'unknown']],
  ]);
  expect(stored, 'nothing else is stored').toEqual(['signature_mismatch', 'unknown']);
  expect(await post(url.replace('/webhooks', '/x'), body, good)).toEqual([
    404,
    'There is no such path.',
    null,
  ]);
  const health = await fetch(url.replace('/webhooks', '/health'));
  expect([health.status, await health.json()]).toEqual([200, { status: 'ok' }]);
  expect(told).toEqual([]);
});

describe('the receiver', () => {
  it('reports a missing signature header separately from a wrong signature', async () => {
    const { db } = await setup();
    const { url } = await openReceiver(db);
    const answer = await fetch(url, {
      method: 'POST',
      body: '{}',
      headers: { 'x-acme-signature': sign('{}') },
    });
    expect(answer.status).toBe(401);
    expect(await answer.json()).toEqual({ message: 'The header X-Service-Signature is missing.' });
    // Under another name it is genuine: what to describe is stored.
    expect(await db.selectFrom('ops.webhook_events').select(['kind', 'body']).execute()).toEqual([
      { kind: 'signature_mismatch', body: { signature_header: 'x-acme-signature' } },
    ]);
  });

  it('reports the port if it is in use', async () => {
    const { db } = await setup();
    const { port } = new URL((await openReceiver(db)).url);
    await expect(openReceiver(db, { port: Number(port) })).rejects.toMatchObject({
      details: { code: 'port_unusable', where: `127.0.0.1:${port}` },
    });
  });

  it('accepts two secrets during a rotation, and the configured header prefix and encoding', async () => {
    const { db } = await setup();
    const { url } = await openReceiver(db, {
      secrets: ['new', 'old'],
      events: { ...SETTINGS.events, signature_header: 'X-Acme-Signature', encoding: 'base64' },
    });
    for (const [index, secret] of ['new', 'old'].entries()) {
      const body = orderEvent(String(index));
      const headers = { 'x-acme-signature': sign(body, secret, 'base64') };
      expect(await deliver(url, body, headers)).toBe(200);
    }
    expect(await deliver(url, orderEvent('3'))).toBe(401);
  });

  it('rejects a body that is too large', async () => {
    const { db } = await setup();
    const { url } = await openReceiver(db, { maxBodyBytes: 2_048 });
    expect(await deliver(url, 'x'.repeat(3_000))).toBe(413);
    expect(await db.selectFrom('ops.webhook_events').select('event_id').execute()).toEqual([]);
  });

  it('answers 503 if it cannot store an event, so that the service sends it again', async () => {
    const receiver = await startReceiver({
      settings: SETTINGS,
      store: () => Promise.reject(new Error('the database is away')),
    });
    expect(await deliver(receiver.url, orderEvent('1'))).toBe(503);
    await receiver.close();
  });

  it('times out a sender that does not complete its request', async () => {
    const store = () => Promise.reject(new Error('nothing should come to this'));
    const receiver = await startReceiver({ settings: SETTINGS, store, requestTimeoutMs: 200 });
    const { port } = new URL(receiver.url);
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = openSocket(Number(port), '127.0.0.1', () =>
        socket.write(
          'POST /webhooks HTTP/1.1\r\nhost: x\r\nx-service-signature: 00\r\ncontent-length: 10\r\n\r\n1',
        ),
      );
      let text = '';
      socket.on('data', (data) => {
        text += data.toString();
      });
      socket.on('error', reject);
      socket.on('close', () => resolve(text));
    });
    expect(answer).toMatch(/^(HTTP\/1\.1 408|$)/);
    await receiver.close();
  });

  it('answers 404 on any other path or method', async () => {
    const { db } = await setup();
    const { url } = await openReceiver(db);
    expect(await deliver(url.replace('/webhooks', '/other'), '{}')).toBe(404);
    expect((await fetch(url)).status).toBe(404);
  });
});
