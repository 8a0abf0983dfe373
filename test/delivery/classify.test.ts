import { describe, expect, it } from 'vitest';
import { classify } from '../../src/delivery/classify.ts';
import { readAnswer } from '../../src/delivery/send.ts';
import type { Exchange } from '../../src/model/http/exchange.ts';
import type { Effect, Outcome } from '../../src/model/ledger.ts';

const now = new Date('2026-05-01T00:00:00Z');

function classifyFor(effect: Effect, exchange: Exchange): Outcome {
  return classify(exchange, { isRepeatable: false, read: (text) => readAnswer(effect, text), now });
}

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

  it('is throttled after a 429, which may say how long to wait', () => {
    expect(classifyFor('referral', answer(429, '', { 'retry-after': '7' }))).toMatchObject({
      kind: 'throttled',
      retryAfterMs: 7_000,
    });
    expect(classifyFor('referral', answer(429, ''))).toMatchObject({
      kind: 'throttled',
      retryAfterMs: null,
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

it('a note is accepted by the message of the answer, because that contains nothing else', () => {
  expect(classifyFor('note', answer(200, { message: 'created' })).kind).toBe('accepted');
  expect(classifyFor('note', answer(200, {})).kind).toBe('in_doubt');
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
