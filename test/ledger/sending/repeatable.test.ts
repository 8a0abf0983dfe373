import { describe, expect, test } from 'vitest';
import type { Exchange } from '../../../src/core/http/exchange.ts';
import type { Outcome } from '../../../src/core/ledger.ts';
import {
  type ClassifyOptions,
  classify,
  readBatchAnswer,
  readLookupAnswer,
  readUpdateAnswer,
} from '../../../src/ledger/sending/classify.ts';
import { readProfile } from '../../../src/ledger/sending/read-profile.ts';
import type { RequestGate } from '../../../src/ledger/sending/request-gate.ts';
import { sendRepeatable, withoutAddresses } from '../../../src/ledger/sending/send-repeatable.ts';
import { specifiedService } from '../../../src/service/description/schema.ts';
import { judge } from '../../../src/service/description/verdict.ts';

const classifyRepeatable = (exchange: Exchange, read: ClassifyOptions['read']) =>
  classify(exchange, { isRepeatable: true, isDivisible: true, read, now: new Date(0) });

const readBatch: ClassifyOptions['read'] = (text, verdict) =>
  readBatchAnswer(text, verdict, '{"influencer_list":["mia@example.com"],"brand_id":4819}');
const readLookup: ClassifyOptions['read'] = (text, verdict, status) =>
  readLookupAnswer(text, verdict, { status, asked: { influencer_email: 'mia@example.com', brand_id: 4819 } });

const answer = (status: number, text: string, headers = {}) =>
  ({ kind: 'answer', status, text, headers }) as const;

describe('the outcome of an exchange for a batch of customers', () => {
  test.each([
    ['queued', answer(200, '{"message":"queued"}'), { kind: 'accepted' }],
    ['queued, with success', answer(200, '{"message":"queued","success":true}'), { kind: 'accepted' }],
    [
      'a 2xx that says no',
      answer(200, '{"message":"too many","success":false}'),
      { kind: 'rejected', message: 'too many' },
    ],
    ['a 2xx with an error', answer(200, '{"error":"down"}'), { kind: 'rejected', message: 'down' }],
    ['a page', answer(200, '<html>'), { kind: 'in_doubt' }],
    ['the page of a gateway', answer(403, '<html>blocked</html>'), { kind: 'in_doubt' }],
    ['a gateway that finds it too large', answer(413, '<html>413</html>'), { kind: 'rejected' }],
    ['nothing', answer(200, ''), { kind: 'in_doubt' }],
    ['a list', answer(200, '[]'), { kind: 'in_doubt' }],
    ['an object that says nothing', answer(200, '{}'), { kind: 'in_doubt' }],
    ['a message that denies', answer(200, '{"message":"No contacts were queued"}'), { kind: 'in_doubt' }],
    ['some that failed', answer(200, '{"message":"queued","rejected":2}'), { kind: 'in_doubt' }],
    ['another brand', answer(200, '{"message":"queued","brand_id":77}'), { kind: 'in_doubt' }],
    ['an unknown status', answer(200, '{"message":"queued","status":"frozen"}'), { kind: 'in_doubt' }],
    [
      'a queue',
      answer(202, '{"message":"queued, 2 duplicates skipped","status":"pending"}'),
      { kind: 'accepted' },
    ],
    ['an empty message', answer(200, '{"message":" "}'), { kind: 'in_doubt' }],
    ['success without a message', answer(200, '{"success":true}'), { kind: 'accepted' }],
    ['a refusal', answer(422, '{"error":"bad"}'), { kind: 'rejected', message: 'bad', stopsGate: false }],
    ['a bad request', answer(400, ''), { kind: 'rejected', message: 'HTTP 400', stopsGate: false }],
    ['a refusal without words', answer(413, ''), { kind: 'rejected', message: 'HTTP 413' }],
    ['a refused key', answer(401, '{"message":"key"}'), { kind: 'rejected', stopsGate: true }],
    ['a conflict', answer(409, '{"message":"no"}'), { kind: 'rejected' }],
    ['a server error', answer(500, '{"message":"oops"}'), { kind: 'in_doubt' }],
    ['a service that was too slow', answer(408, '{"message":"timeout"}'), { kind: 'in_doubt' }],
    ['a service that is not ready', answer(425, '{"message":"too early"}'), { kind: 'in_doubt' }],
    ['a redirect', answer(302, ''), { kind: 'in_doubt' }],
    ['too many', answer(429, '', { 'retry-after': '3' }), { kind: 'throttled', retryAfterMs: 3_000 }],
    ['a lost answer', { kind: 'failure', written: true, reason: 'reset' } as const, { kind: 'in_doubt' }],
    [
      'no connection',
      { kind: 'failure', written: false, reason: 'refused' } as const,
      { kind: 'not_written' },
    ],
  ])('%s', (_what, exchange, outcome) => {
    expect(classifyRepeatable(exchange, readBatch)).toMatchObject(outcome);
  });

  test('a batch, or an update, is also answered by what the description of the service states as a yes, whatever it contains', () => {
    const verdict = judge(answer(200, ''), specifiedService, { statuses: [200], path: null, values: null });
    for (const text of ['', '{}', '<html>', '[]'])
      for (const read of [readBatch, readUpdateAnswer])
        expect(classifyRepeatable({ ...answer(200, text), verdict }, read).kind, text).toBe('accepted');
    const updated = (text: string) => classifyRepeatable(answer(200, text), readUpdateAnswer);
    expect(['{}', '{"message":" "}', '[]', ''].map((text) => updated(text).kind)).toEqual([
      ...['accepted', 'accepted', 'in_doubt', 'in_doubt'],
    ]);
    expect(updated('{"error":"down"}')).toMatchObject({ kind: 'rejected', message: 'down' });
  });

  test('the page of a gateway that finds it too large is a refusal only if a smaller request may pass', () => {
    const exchange = answer(413, '<html>413</html>');
    const options = { isRepeatable: true, read: readLookup, now: new Date(0) };
    expect(classify(exchange, options).kind).toBe('in_doubt');
    expect(classify(exchange, { ...options, isDivisible: true }).kind).toBe('rejected');
  });

  test.each([
    'null',
    '[]',
    '{}',
    '{"is_influencer":false}',
    '{"is_influencer":"no","followers":10}',
    '{"is_influencer":null,"username":" ","fullname":null}',
    '{"message":"nobody"}',
    '{"message":"No influencer found"}',
    '{"user_id":77,"influencer_email":"Mia@example.com"}',
  ])('a look-up is answered by JSON that says whether it is an influencer: %s', (text) => {
    expect(classifyRepeatable(answer(200, text), readLookup).kind).toBe('accepted');
  });

  test.each([
    '',
    '<html>',
    '"none"',
    '1',
    'true',
    '[{"username":"mia"}]',
    '{"error":"down"}',
    '{"success":false,"is_influencer":false}',
    '{"is_influencer":"perhaps"}',
    '{"is_influencer":null,"followers":1200}',
    '{"user_id":{"id":77}}',
    '{"found":false}',
    '{"message":"Brand not found"}',
    '{"message":"Still processing"}',
    '{"is_influencer":false,"status":"pending"}',
    '{"is_influencer":true,"user_id":"7","influencer_email":"eve@example.com"}',
  ])('a look-up is not answered by anything else: %s', (text) => {
    expect(classifyRepeatable(answer(200, text), readLookup).kind).toBe('in_doubt');
  });

  test('a look-up without a body is answered only by a status that states it, or by the description', () => {
    expect(classifyRepeatable(answer(204, ''), readLookup).kind).toBe('accepted');
    const verdict = judge(answer(200, ''), specifiedService, { statuses: [200], path: null, values: null });
    expect(classifyRepeatable({ ...answer(200, ''), verdict }, readLookup).kind).toBe('accepted');
  });
});

describe('the profile in an answer', () => {
  test.each([
    '',
    'null',
    '[]',
    '{}',
    '"none"',
    '{"is_influencer":false,"username":"x"}',
    '{"is_influencer":null}',
    '{"message":"not found"}',
    '{"is_influencer":"false"}',
    '{"username":"  "}',
  ])('is no match: %s', (text) => {
    expect(readProfile(text)).toBeNull();
  });

  test('is read tolerantly: a field of an unexpected type is omitted', () => {
    expect(
      readProfile(
        '{"is_influencer":true,"type":"tiktok","user_id":77,"username":"mia","followers":"many","is_verified":"no","url":{},"picture":null}',
      ),
    ).toEqual({
      platform: 'tiktok',
      userId: '77',
      username: 'mia',
      followers: null,
      isVerified: false,
      profileUrl: null,
      pictureUrl: null,
    });
    expect(readProfile('{"is_influencer":true}')).toMatchObject({ username: null });
    expect(readProfile('{"username":"mia","followers":"1200"}')).toMatchObject({ followers: 1_200 });
  });

  test.each(['user_id', 'username', 'url'])('is a match if the answer names at least its %s', (field) => {
    expect(readProfile(JSON.stringify({ [field]: 'mia' }))).not.toBeNull();
  });

  test('has texts without blanks around them, of at most 500 characters, and no negative number of followers', () => {
    const said = { username: ' mia ', url: 'x'.repeat(501), followers: 0 };
    expect(readProfile(JSON.stringify(said))).toMatchObject({
      username: 'mia',
      profileUrl: 'x'.repeat(500),
      followers: 0,
    });
    expect(readProfile('{"username":"mia","followers":-1}')).toMatchObject({ followers: null });
  });

  test('never contains an e-mail address', () => {
    expect(JSON.stringify(readProfile('{"is_influencer":true,"username":"mia@example.com"}'))).not.toContain(
      'mia@',
    );
  });
});

test('messages of the service are stored without the names of customers', () => {
  const addresses = ['jane.doe@example.com', "O'Brien@example.com", '_x_@example.com'];
  expect(withoutAddresses(`mailbox "Jane.Doe" (o'brien), x: not allowed`, addresses)).toBe(
    'mailbox "***" (***), ***: not allowed',
  );
  expect(withoutAddresses('Brand not found', addresses)).toBe('Brand not found');
});

describe('a repeatable request', () => {
  const lost: Exchange = { kind: 'failure', written: true, reason: 'reset' };
  const refused = answer(422, '{"error":"bad"}');
  const queued = answer(200, '{"message":"queued"}');

  /** Sends a request that the service answers so, one answer after the other. */
  async function sendAgainst(
    exchanges: readonly Exchange[],
    options: { isOpen?: boolean; isWaiting?: boolean; isStoppedAfter?: number; begin?: () => boolean } = {},
  ) {
    let asked = 0;
    let unanswered = 0;
    const reported: string[] = [];
    const stopping = new AbortController();
    // Whoever waits before a repetition waits no longer.
    if (options.isWaiting !== true) stopping.abort();
    const gate = {
      enter: async () => options.isOpen ?? true,
      report: ({ kind }: Outcome) => void reported.push(kind),
      stopped: () => (asked === options.isStoppedAfter ? ({ kind: 'drained' } as const) : null),
      leaveUnanswered() {
        unanswered += 1;
      },
      signal: stopping.signal,
    };
    const client = { exchange: async () => exchanges[asked++] ?? lost };
    const sent = await sendRepeatable(
      { client, gate: gate as unknown as RequestGate, ...(options.begin && { begin: options.begin }) },
      { operation: 'identify_influencers', input: {}, read: readBatch },
    );
    return { asked, reported, unanswered, outcome: sent?.outcome.kind ?? null };
  }

  test('is sent once if its answer is clear', async () => {
    expect(await sendAgainst([queued])).toEqual({
      asked: 1,
      reported: ['accepted'],
      unanswered: 0,
      outcome: 'accepted',
    });
    expect(await sendAgainst([refused])).toEqual({
      asked: 1,
      reported: ['rejected'],
      unanswered: 0,
      outcome: 'rejected',
    });
  });

  test('is repeated until its answer is clear, three times at most', async () => {
    expect(await sendAgainst([lost, answer(429, ''), queued])).toEqual({
      asked: 3,
      reported: ['in_doubt', 'throttled', 'accepted'],
      unanswered: 0,
      outcome: 'accepted',
    });
    expect(await sendAgainst([])).toMatchObject({ asked: 4, unanswered: 1, outcome: 'in_doubt' });
  });

  test('waits before it is repeated, as one that was never written does', async () => {
    const before = performance.now();
    await sendAgainst([lost, queued], { isWaiting: true });
    expect(performance.now() - before).toBeGreaterThanOrEqual(495);
  });

  test('passes an error that nothing foresaw on, and is not repeated after it', async () => {
    const fault = new TypeError('a fault of the program');
    let asked = 0;
    const sent = sendAgainst([], {
      begin() {
        asked += 1;
        throw fault;
      },
    });
    await expect(sent).rejects.toBe(fault);
    expect(asked).toBe(1);
  });

  test('is not repeated once the gate is stopped, and not sent at all if the gate or the caller forbids it', async () => {
    expect(await sendAgainst([], { isStoppedAfter: 2 })).toMatchObject({ asked: 2, outcome: 'in_doubt' });
    expect(await sendAgainst([queued], { isOpen: false })).toMatchObject({ asked: 0, outcome: null });
    expect(await sendAgainst([queued], { begin: () => false })).toMatchObject({ asked: 0, outcome: null });
  });
});
