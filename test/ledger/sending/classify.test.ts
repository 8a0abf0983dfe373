import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../../src/core/http/exchange.ts';
import type { ClaimedEntry, Effect, Outcome } from '../../../src/core/ledger.ts';
import { classify } from '../../../src/ledger/sending/classify.ts';
import { createSender, readAnswer } from '../../../src/ledger/sending/send.ts';
import { specifiedService } from '../../../src/service/description/schema.ts';
import { judge } from '../../../src/service/description/verdict.ts';

const now = new Date('2026-05-01T00:00:00Z');

function classifyFor(effect: Effect, exchange: Exchange, sent = '{}'): Outcome {
  return classify(exchange, { isRepeatable: false, read: (text) => readAnswer(effect, text, sent), now });
}

const ORDER = JSON.stringify({
  ...{ deal_id: 'D1', influencer_handle: 'ada.test', brand_id: 4819 },
  ...{ order_id: '1001', order_revenue: 100.5, currency: 'EUR' },
});

function answer(status: number, body: unknown, headers: Record<string, string> = {}): Exchange {
  return { kind: 'answer', status, headers, text: typeof body === 'string' ? body : JSON.stringify(body) };
}

describe('an exchange that posted a referral', () => {
  it('is accepted if a 2xx names the deal or the collaboration', () => {
    expect(classifyFor('referral', answer(200, { deal_id: 'D1', collab_id: 'C1', message: 'ok' }))).toEqual({
      kind: 'accepted',
      httpStatus: 200,
      dealId: 'D1',
      collabId: 'C1',
    });
    expect(classifyFor('referral', answer(201, { collab_id: 7 }))).toMatchObject({
      kind: 'accepted',
      collabId: '7',
    });
  });

  it.each([
    ['names nothing', { message: 'ok' }],
    ['names an empty deal', { deal_id: '' }],
    ['is empty', ''],
    ['is a page', '<html>Welcome</html>'],
    ['is cut', '{"deal_id": "D1"'],
    ['is a list', [{ deal_id: 'D1' }]],
  ])('is in doubt if a 2xx %s', (_name, body) => {
    expect(classifyFor('referral', answer(200, body)).kind).toBe('in_doubt');
  });

  it.each([400, 401, 403, 404, 405, 413, 415, 422])('is rejected by a %i that gives a reason', (status) => {
    expect(classifyFor('referral', answer(status, { error: 'no such brand' }))).toEqual({
      kind: 'rejected',
      httpStatus: status,
      message: 'no such brand',
      stopsGate: status === 401 || status === 403,
    });
  });

  it.each([
    ['success is false', { deal_id: 'D1', success: false, message: 'quota' }, 'quota'],
    ['success is null', { deal_id: 'D1', success: null }, 'the answer says that it did not succeed'],
    ['it has an error', { deal_id: 'D1', error: 'brand is closed' }, 'brand is closed'],
    ['it has an error beside an ok', { deal_id: 'D1', message: 'ok', error: 'deal closed' }, 'deal closed'],
    ['a member has one', { deal_id: 'D1', message: 'Added', data: { error: 'deal closed' } }, 'deal closed'],
    [
      'it has no more than an ok beside it',
      { deal_id: 'D1', message: 'OK', error: true },
      'the answer says that it did not succeed',
    ],
    ['it has a list of errors', { deal_id: 'D1', errors: [{ message: 'no currency' }] }, 'no currency'],
    ['its status is an error', { deal_id: 'D1', status: 500, message: 'later' }, 'later'],
    ['its status is a word for failure', { deal_id: 'D1', status: 'failed', message: 'later' }, 'later'],
  ])('is in doubt, with the reason, if a 2xx names the deal and %s', (_name, body, reason) => {
    expect(classifyFor('referral', answer(200, body))).toEqual({
      kind: 'in_doubt',
      httpStatus: 200,
      reason: `HTTP 200 that says no: ${reason}`,
    });
  });

  it('is accepted if nothing in a 2xx says no', () => {
    const body = { deal_id: 'D1', success: true, status: 200, error: null, errors: [], error_message: '' };
    expect(classifyFor('referral', answer(200, body)).kind).toBe('accepted');
  });

  it.each([
    ['an error within a member', 200, { deal_id: 'D1', data: { error: 'nope' } }],
    ['no success within a member', 200, { deal_id: 'D1', meta: { success: false } }],
    ['the status of another answer', 200, { deal_id: 'D1', statusCode: 400 }],
    ['several results', 207, { deal_id: 'D1' }],
    ['a part of an answer', 206, { deal_id: 'D1' }],
  ])('is in doubt if a 2xx that names the deal has %s', (_what, status, body) => {
    expect(classifyFor('referral', answer(status, body)).kind).toBe('in_doubt');
  });

  it.each([
    ['a member twice', '{"success":false,"success":true,"deal_id":"D1"}', 'that has a member twice'],
    ['two deals', '{"deal_id":"D2","deal_id":"D1"}', 'that has a member twice'],
    ['status 0', { deal_id: 'D1', status: 0 }, 'with an unknown status'],
    ['no status', { deal_id: 'D1', status: null }, 'with an unknown status'],
    ['a queued status', { deal_id: 'D1', status: 'queued' }, 'with an unknown status'],
    ['a state in another language', { deal_id: 'D1', state: 'ausstehend' }, 'with an unknown state'],
    ['a duplicate as result', { deal_id: 'D1', result: 'duplicate' }, 'with an unknown result'],
    ['a result of several members', { deal_id: 'D1', result: { new: 0 } }, 'with an unknown result'],
    [
      'a message that doubts',
      { deal_id: 'D1', message: 'Order already exists' },
      'whose message says "already"',
    ],
    ['a message that denies', { deal_id: 'D1', message: "It wasn't added" }, `whose message says "wasn't"`],
    [
      'a member that doubts',
      { deal_id: 'D1', alreadyExists: true },
      'with a member that denies or doubts it',
    ],
    ['a member that denies', { deal_id: 'D1', created: false }, 'with a member that denies or doubts it'],
    ['a count of nothing', { deal_id: 'D1', orders_added: 0 }, 'with a member that denies or doubts it'],
    ['a flag that denies', { deal_id: 'D1', isSuccess: false }, 'with a member that denies or doubts it'],
    ['a warning', { deal_id: 'D1', warnings: ['no USD'] }, 'with a member that denies or doubts it'],
    [
      'a result that failed',
      { deal_id: 'D1', results: [{ status: 'failed' }] },
      'with a result that says no',
    ],
    ['a result with an error', { deal_id: 'D1', results: [{ error: 'x' }] }, 'with a result that says no'],
  ])('is in doubt, with what is not known, if a 2xx that names the deal has %s', (_what, body, why) => {
    const sent = JSON.stringify({ deal_id: 'D1', order_id: '1' });
    const outcome = { kind: 'in_doubt', httpStatus: 200, reason: `HTTP 200 ${why}` };
    expect(classifyFor('referral', answer(200, body), sent)).toEqual(outcome);
    expect(classifyFor('click', answer(200, body), sent)).toEqual(outcome);
  });

  it('is in doubt if a 2xx names only a collaboration, or in a part another deal, and a deal was sent', () => {
    const sent = JSON.stringify({ deal_id: 'D1', order_id: '1' });
    expect(classifyFor('referral', answer(200, { collab_id: 'C1' }), sent)).toMatchObject({
      kind: 'in_doubt',
      reason: 'HTTP 200 that does not name the deal or collaboration of the request',
    });
    const parts = { deal_id: 'D1', deal: { deal_id: 'D2' } };
    expect(classifyFor('referral', answer(200, parts), sent).kind).toBe('in_doubt');
    const byCollaboration = JSON.stringify({ collab_id: 'C1' });
    expect(classifyFor('referral', answer(200, { deal_id: 'D1' }), byCollaboration).kind).toBe('in_doubt');
    expect(classifyFor('referral', answer(200, { collab_id: 'C1' }), byCollaboration).kind).toBe('accepted');
  });

  it.each([{ message: 'Order already exists' }, { result: 'duplicate' }, { alreadyExists: true }])(
    'is no doubt if a service that ignores repeated orders says that it has this one: %j',
    (said) => {
      const repeated = { status: 200, text: JSON.stringify({ deal_id: 'D1', ...said }) };
      expect(judge(repeated).doubts).toBeDefined();
      const ignoring = { ...specifiedService, duplicate_orders: 'ignored' } as const;
      expect(judge(repeated, ignoring)).toMatchObject({ kind: 'yes' });
      expect(judge(repeated, ignoring).doubts).toBeUndefined();
    },
  );

  it('is accepted if a 2xx says that it was done, in a known word', () => {
    const said = {
      status: 'Success',
      result: 'created',
      duplicate: false,
      message: 'The referral was added.',
    };
    const text = '{"deal_id":"D1","deal":{"note":"a \\": \\\\"},"ids":[{"a":1},{"a":2}]}';
    expect(classifyFor('referral', answer(200, { deal_id: 'D1', ...said })).kind).toBe('accepted');
    expect(classifyFor('referral', answer(200, text)).kind).toBe('accepted');
  });

  it.each(['more', 'message', 'errors', 'deal'])(
    'is judged, and breaks nothing, if a 2xx nests its member %s deeper than any stack',
    (name) => {
      const nested = `{"deal_id":"D1","${name}":${'[{"a":'.repeat(50_000)}1${'}]'.repeat(50_000)}}`;
      const outcome = classifyFor('referral', answer(200, nested));
      expect(outcome.kind).toBe(name === 'message' || name === 'errors' ? 'in_doubt' : 'accepted');
    },
  );

  it('is accepted whatever the state of the deal is that a 2xx shows', () => {
    const body = { deal_id: 'D1', deal: { status: 'rejected', errors: [], error: null, ok: true } };
    expect(classifyFor('referral', answer(200, body)).kind).toBe('accepted');
  });

  it('is in doubt if a 2xx names another deal or collaboration than the request', () => {
    const sent = JSON.stringify({ deal_id: 'D1', collab_id: 'C1', order_id: '1' });
    expect(classifyFor('referral', answer(200, { deal_id: 'D2', collab_id: 'C1' }), sent)).toMatchObject({
      kind: 'in_doubt',
      reason: 'HTTP 200 that names another deal or collaboration than the request',
    });
    expect(classifyFor('referral', answer(200, { deal_id: 'D1', collab_id: 'C2' }), sent).kind).toBe(
      'in_doubt',
    );
    expect(classifyFor('referral', answer(200, { deal_id: 'D1' }), sent).kind).toBe('accepted');
    const byPage = JSON.stringify({ deal_id: 'https://app.example/deal/D1/?tab=2' });
    expect(classifyFor('referral', answer(200, { deal_id: 'D1' }), byPage).kind).toBe('accepted');
    expect(classifyFor('referral', answer(200, { deal_id: 'D3' }), byPage).kind).toBe('in_doubt');
  });

  it.each([
    ['order', { order_id: '9999' }, 'order_id'],
    ['order in a part', { order: { order_id: '9999' } }, 'order_id'],
    ['amount', { order_revenue: 10.05 }, 'order_revenue'],
    ['currency', { currency: 'USD' }, 'currency'],
    ['brand', { brand_id: '77' }, 'brand_id'],
    ['influencer', { deal_info: { influencer_handle: 'eve.test' } }, 'influencer_handle'],
  ])('is in doubt if a 2xx names another %s than the request', (_what, said, member) => {
    expect(classifyFor('referral', answer(200, { deal_id: 'D1', ...said }), ORDER)).toMatchObject({
      kind: 'in_doubt',
      reason: `HTTP 200 that names another ${member} than the request`,
    });
  });

  it('is accepted if a 2xx repeats the request in another spelling', () => {
    const body = { order_id: 1001, order_revenue: '100.50', currency: 'eur', influencer_handle: '@Ada.Test' };
    expect(classifyFor('referral', answer(200, { deal_id: 'D1', ...body }), ORDER).kind).toBe('accepted');
    const other = { deal_id: 'D1', deal_info: { id: 'D2' } };
    expect(classifyFor('referral', answer(200, other), ORDER).kind).toBe('in_doubt');
  });

  it.each([400, 404, 429])('is in doubt if a %i has the body of an acceptance', async (status) => {
    const send = async (body: unknown) =>
      createSender({ exchange: async () => answer(status, body) })({
        effect: 'referral',
        body: ORDER,
      } as ClaimedEntry);
    expect(await send({ deal_id: 'D1', message: 'Order added' })).toEqual({
      kind: 'in_doubt',
      httpStatus: status,
      reason: `HTTP ${status} with the body of an acceptance`,
    });
    const refusal = await send({ deal_id: 'D1', message: 'The order was not added' });
    expect(refusal.kind).toBe(status === 429 ? 'throttled' : 'rejected');
  });

  it.each([
    ['a NUL', 'D\0'],
    ['half of a surrogate pair', 'D\ud800'],
    ['megabytes', 'D'.repeat(1_000_000)],
    ['more digits than a number keeps', 2 ** 60],
  ])('is in doubt if the deal that a 2xx names contains %s', (_name, deal_id) => {
    expect(classifyFor('referral', answer(200, { deal_id })).kind).toBe('in_doubt');
  });

  it.each([400, 404, 405, 413])('is in doubt after a %i that is the page of a gateway', (status) => {
    const page = '<html><title>Request blocked</title></html>';
    expect(classifyFor('referral', answer(status, page)).kind).toBe('in_doubt');
    expect(classifyFor('referral', answer(status, 'Bad Request')).kind).toBe('in_doubt');
  });

  it('is in doubt after a 400 without a reason', () => {
    expect(classifyFor('referral', answer(400, ''))).toEqual({
      kind: 'in_doubt',
      httpStatus: 400,
      reason: 'HTTP 400',
    });
  });

  it.each([101, 301, 302, 307, 402, 408, 409, 418, 425, 500, 502, 503, 504])(
    'is in doubt after a %i, whatever its body says',
    (status) => {
      expect(classifyFor('referral', answer(status, { message: 'try again' }))).toEqual({
        kind: 'in_doubt',
        httpStatus: status,
        reason: `HTTP ${status}: try again`,
      });
    },
  );

  it.each([
    [200, 'HTTP 200 that does not say yes'],
    [299, 'HTTP 299 that does not say yes'],
    [300, 'HTTP 300: later'],
  ])('is in doubt after a %i that does not say the yes of its service', (status, reason) => {
    const unclear = { kind: 'unclear', isStated: false, isOwnWord: true, reason: 'later' } as const;
    const verdict = { ...unclear, isNotFound: false, isOutOfCredits: false };
    expect(classifyFor('referral', { ...answer(status, { deal_id: 'D1' }), verdict } as Exchange)).toEqual({
      kind: 'in_doubt',
      httpStatus: status,
      reason,
    });
  });

  it.each([
    ['refused', 'as its description states it', { isStated: true, isOwnWord: false }, 'rejected'],
    ['refused', 'in its own words', { isStated: false, isOwnWord: true }, 'rejected'],
    ['refused', 'in words of a gateway', { isStated: false, isOwnWord: false }, 'in_doubt'],
    ['key_refused', 'as its description states it', { isStated: true, isOwnWord: false }, 'rejected'],
    ['key_refused', 'in words of a gateway', { isStated: false, isOwnWord: false }, 'in_doubt'],
    ['unclear', 'in its own words', { isStated: true, isOwnWord: true }, 'in_doubt'],
  ] as const)('that the service %s %s is %o → %s', (kind, _, said, outcome) => {
    const verdict = { kind, ...said, reason: null, isNotFound: false, isOutOfCredits: false };
    expect(classifyFor('referral', { ...answer(409, ''), verdict } as Exchange)).toEqual(
      outcome === 'in_doubt'
        ? { kind: 'in_doubt', httpStatus: 409, reason: 'HTTP 409' }
        : { kind: 'rejected', httpStatus: 409, message: 'HTTP 409', stopsGate: kind === 'key_refused' },
    );
  });

  it('is throttled after a 429, which may say how long to wait', () => {
    expect(classifyFor('referral', answer(429, '', { 'retry-after': '7' }))).toMatchObject({
      kind: 'throttled',
      retryAfterMs: 7_000,
    });
    expect(classifyFor('referral', answer(429, ''))).toMatchObject({ kind: 'throttled', retryAfterMs: null });
  });

  it('is throttled until a date by the clock of the service, if the answer states its time', () => {
    const until = { 'retry-after': 'Fri, 01 May 2026 00:01:00 GMT' };
    expect(classifyFor('referral', answer(429, '', until))).toMatchObject({ retryAfterMs: 60_000 });
    const date = 'Fri, 01 May 2026 00:00:50 GMT';
    expect(classifyFor('referral', answer(429, '', { ...until, date }))).toMatchObject({
      retryAfterMs: 10_000,
    });
  });

  it('is in doubt after a failure, unless it proves that nothing was written', () => {
    expect(classifyFor('referral', { kind: 'failure', written: true, reason: 'reset' }).kind).toBe(
      'in_doubt',
    );
    expect(classifyFor('referral', { kind: 'failure', written: false, reason: 'refused' }).kind).toBe(
      'not_written',
    );
  });
});

it('an answer that needs no body by the description of its service is about the deal of the request', () => {
  const verdict = judge({ status: 200, text: '' }, specifiedService, {
    statuses: [200],
    path: null,
    values: null,
  });
  expect(readAnswer('referral', '', '{"deal_id":"D1"}', verdict)).toMatchObject({
    kind: 'taken',
    dealId: 'D1',
    collabId: null,
  });
  expect(readAnswer('referral', '', '{"deal_id":"D1"}')).toMatchObject({ kind: 'nothing' });
});

it('a note is accepted by the message of the answer, because that contains nothing else', () => {
  expect(classifyFor('note', answer(200, { message: 'created' })).kind).toBe('accepted');
  expect(classifyFor('note', answer(200, {})).kind).toBe('in_doubt');
  expect(classifyFor('note', answer(200, { message: 'for\0 jane@example.com \ud800' }))).toMatchObject({
    kind: 'accepted',
    message: 'for [address] \ufffd',
  });
});

it('a note is in doubt if its message denies it, or the answer is about another deal', () => {
  const sent = '{"deal_id":"D1","note_description":"x"}';
  const said = (body: unknown) => classifyFor('note', answer(200, body), sent).kind;
  expect(said({ message: 'created', deal_id: 'D1' })).toBe('accepted');
  expect(said({ message: 'Deal not found' })).toBe('in_doubt');
  expect(said({ message: 'created', status: 'pending' })).toBe('in_doubt');
  expect(said({ message: 'created', note: { deal_id: 'D2' } })).toBe('in_doubt');
});

it('a new deal is in doubt if the answer has the page, the code or the influencer of another one', () => {
  const sent = '{"influencer_handle":"ada.test","dealflow_id":"F1","code":"ADA10"}';
  const said = (body: object) =>
    classifyFor('create_deal', answer(200, { deal_id: 'D9', ...body }), sent).kind;
  expect(said({ deal_page_url: 'https://app.example/deal/D9?tab=1', code: 'ada10' })).toBe('accepted');
  expect(said({ deal_page_url: 'https://app.example/deal/D8' })).toBe('in_doubt');
  expect(said({ code: 'ADA10-2' })).toBe('in_doubt');
  expect(said({ deal_info: { influencer_handle: 'eve.test' } })).toBe('in_doubt');
});

it('clicks are in doubt if the deal has fewer clicks after them than were sent', () => {
  const said = (total: unknown) =>
    classifyFor(
      'click',
      answer(200, { deal_id: 'D1', new_clicks_value: total }),
      '{"deal_id":"D1","increase_clicks":7}',
    ).kind;
  expect([7, '20', null].map(said)).toEqual(['accepted', 'accepted', 'accepted']);
  expect([0, 6, '3'].map(said)).toEqual(['in_doubt', 'in_doubt', 'in_doubt']);
});

it('a submission is in doubt if its counts do not add up to the influencers that were sent', () => {
  const sent = '{"outreach_id":"O1","influencer_ids":["u1","u2","u3"],"platform":"tiktok"}';
  const said = (added: unknown, ignored?: unknown, more = {}) =>
    classifyFor(
      'outreach',
      answer(200, { total_added: added, duplicates_ignored: ignored, success: true, ...more }),
      sent,
    ).kind;
  expect([said(3, 0), said(0, 3), said(3), said(2, 1, { message: 'scheduled, 1 duplicate' })]).toEqual([
    ...['accepted', 'accepted', 'accepted', 'accepted'],
  ]);
  expect([said(0, 0), said(1, 1), said(1), said(5, 0), said(-1, 4)]).toEqual([
    ...['in_doubt', 'in_doubt', 'in_doubt', 'in_doubt', 'in_doubt'],
  ]);
  expect(said(3, 0, { invalid_ids: ['u3'] })).toBe('in_doubt');
  expect(said(3, 0, { influencer_ids: ['u7'] })).toBe('in_doubt');
  expect(said(3, 0, { outreach_id: 'O2' })).toBe('in_doubt');
});

it('a click is accepted by the deal that received it', () => {
  expect(classifyFor('click', answer(200, { deal_id: 'D1', new_clicks_value: 7 })).kind).toBe('accepted');
  expect(classifyFor('click', answer(200, { new_clicks_value: 7 })).kind).toBe('in_doubt');
});

it('a submission is accepted by the number of added influencers, which it reports', () => {
  const body = { total_added: 2, duplicates_ignored: 1, success: true, message: 'ok' };
  expect(classifyFor('outreach', answer(200, body))).toMatchObject({
    kind: 'accepted',
    message: '2 added, 1 already in the account',
  });
  expect(classifyFor('outreach', answer(200, { ...body, success: false })).kind).toBe('in_doubt');
  expect(classifyFor('outreach', answer(200, { message: 'ok' })).kind).toBe('in_doubt');
});
