import { describe, expect, it } from 'vitest';
import { classify } from '../../src/delivery/classify.ts';
import type { Exchange } from '../../src/model/exchange.ts';

const now = new Date('2026-05-01T00:00:00Z');

function answer(status: number, body: unknown, headers: Record<string, string> = {}): Exchange {
  return { kind: 'answer', status, headers, text: typeof body === 'string' ? body : JSON.stringify(body) };
}

describe('an exchange that posted a referral', () => {
  it('is accepted when a 2xx names the deal or the collaboration', () => {
    expect(classify('referral', answer(200, { deal_id: 'D1', collab_id: 'C1', message: 'ok' }), now)).toEqual(
      {
        kind: 'accepted',
        httpStatus: 200,
        dealId: 'D1',
        collabId: 'C1',
      },
    );
    expect(classify('referral', answer(201, { collab_id: 7 }), now)).toMatchObject({
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
  ])('is in doubt when a 2xx %s', (_name, body) => {
    expect(classify('referral', answer(200, body), now).kind).toBe('in_doubt');
  });

  it.each([400, 401, 403, 404, 405, 413, 415, 422])('is rejected by a %i that says why', (status) => {
    expect(classify('referral', answer(status, { error: 'no such brand' }), now)).toEqual({
      kind: 'rejected',
      httpStatus: status,
      message: 'no such brand',
      stopsLane: status === 401 || status === 403,
    });
  });

  it('is in doubt when a 400 does not say why', () => {
    expect(classify('referral', answer(400, ''), now)).toEqual({
      kind: 'in_doubt',
      httpStatus: 400,
      reason: 'HTTP 400',
    });
  });

  it.each([301, 302, 307, 402, 408, 409, 418, 425, 500, 502, 503, 504])(
    'is in doubt after a %i, whatever it says',
    (status) => {
      expect(classify('referral', answer(status, { message: 'try again' }), now)).toEqual({
        kind: 'in_doubt',
        httpStatus: status,
        reason: `HTTP ${status}: try again`,
      });
    },
  );

  it('was not processed after a 429, which may say how long to wait', () => {
    expect(classify('referral', answer(429, '', { 'retry-after': '7' }), now)).toMatchObject({
      kind: 'throttled',
      retryAfterMs: 7_000,
    });
    expect(classify('referral', answer(429, ''), now)).toMatchObject({
      kind: 'throttled',
      retryAfterMs: null,
    });
  });

  it('is in doubt after a failure, unless it is proven that nothing was written', () => {
    expect(classify('referral', { kind: 'failure', written: true, reason: 'reset' }, now).kind).toBe(
      'in_doubt',
    );
    expect(classify('referral', { kind: 'failure', written: false, reason: 'refused' }, now).kind).toBe(
      'not_written',
    );
  });
});

it('a note is accepted by its message, because nothing else comes back', () => {
  expect(classify('note', answer(200, { message: 'created' }), now).kind).toBe('accepted');
  expect(classify('note', answer(200, {}), now).kind).toBe('in_doubt');
});
