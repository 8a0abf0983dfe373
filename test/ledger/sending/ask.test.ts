import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../../src/core/http/exchange.ts';
import type { Outcome } from '../../../src/core/ledger.ts';
import type { RunStop } from '../../../src/core/run.ts';
import { createAsk, createBudget } from '../../../src/ledger/sending/ask.ts';
import type { RequestGate } from '../../../src/ledger/sending/request-gate.ts';

const lost: Exchange = { kind: 'failure', written: true, reason: 'reset' };
const answer = (status: number, text: string): Exchange => ({ kind: 'answer', status, text, headers: {} });

/** Asks a service that answers so, one answer after the other. Each request takes a second. */
async function askAgainst(
  exchanges: readonly Exchange[],
  options: { readonly requests?: number; readonly stoppedBy?: RunStop['kind'] } = {},
) {
  let asked = 0;
  let stopped: RunStop | null = null;
  const unanswered: string[] = [];
  const gate = {
    enter: async () => true,
    report({ kind }: Outcome) {
      if (kind === 'rejected' && options.stoppedBy !== undefined)
        stopped = { kind: options.stoppedBy, message: 'stopped' } as RunStop;
    },
    stopped: () => stopped,
    leaveUnanswered: (reason: string) => void unanswered.push(reason),
    // Nobody waits before a repetition.
    signal: AbortSignal.abort(),
  };
  const budget = createBudget(options.requests ?? 9);
  const ask = createAsk({
    client: { exchange: async () => exchanges[asked++] ?? lost },
    gate: gate as unknown as RequestGate,
    budget,
    clock: () => new Date(1_000 * asked),
  });
  const said = await ask('identify_influencers');
  const { fetchedAt = null, ...rest } = { fetchedAt: null, ...said };
  return {
    asked,
    left: budget.left(),
    at: fetchedAt?.getTime() ?? null,
    said: rest,
    ...(unanswered.length > 0 && { unanswered }),
  };
}

describe('the answer to a question', () => {
  it('is its text, at the time of the request that was answered', async () => {
    expect(await askAgainst([lost, answer(200, '{"a":1}')])).toEqual({
      asked: 2,
      left: 7,
      at: 1_000,
      said: { kind: 'answer', text: '{"a":1}' },
    });
  });

  it.each([
    [404, '{"error":"no such deal"}', 'not_found', 'HTTP 404: no such deal'],
    [410, '{"message":"it was removed"}', 'not_found', 'HTTP 410: it was removed'],
    [404, '', 'failed', 'HTTP 404'],
    [404, '{}', 'failed', 'HTTP 404'],
    [404, 'null', 'failed', 'HTTP 404'],
    [410, '"gone"', 'failed', 'HTTP 410: gone'],
    [404, '<html>Not here</html>', 'failed', 'HTTP 404: Not here'],
    [403, '{"error":"no such deal"}', 'failed', 'HTTP 403: no such deal'],
    [500, '{"error":"no such deal"}', 'failed', 'HTTP 500: no such deal'],
    [200, '{"success":false,"message":"quota"}', 'failed', 'HTTP 200 that says no: quota'],
  ])(
    'that is a %i with %o is %s: only the reason of the service itself says that an object is gone',
    async (status, text, kind, problem) => {
      const { said, unanswered } = await askAgainst(Array.from({ length: 4 }, () => answer(status, text)));
      expect(said).toEqual({ kind, problem });
      expect(unanswered, 'it is counted once').toEqual(kind === 'failed' ? [problem] : undefined);
    },
  );

  it('has the list that was read in it', async () => {
    const list = { items: [], next: null };
    const { said } = await askAgainst([{ ...answer(200, '{}'), list } as unknown as Exchange]);
    expect(said).toEqual({ kind: 'answer', text: '{}', list });
  });

  it('is missing, with the reason, if the request is lost or throttled however often it is repeated', async () => {
    expect(await askAgainst([])).toMatchObject({
      asked: 4,
      at: 3_000,
      said: { kind: 'failed', problem: 'reset' },
    });
    expect((await askAgainst(Array.from({ length: 4 }, () => answer(429, '')))).said).toEqual({
      kind: 'failed',
      problem: 'HTTP 429: the service asks to slow down',
    });
  });

  it('is not asked for without a budget, and a refused key does not answer the question', async () => {
    expect(await askAgainst([answer(200, '{}')], { requests: 0 })).toEqual({
      asked: 0,
      left: 0,
      at: null,
      said: { kind: 'not_asked' },
    });
    const refused = [answer(401, '{"error":"no such key"}')];
    expect((await askAgainst(refused, { stoppedBy: 'unauthorised' })).said).toEqual({ kind: 'not_asked' });
    expect((await askAgainst(refused, { stoppedBy: 'unavailable' })).said.kind).toBe('failed');
  });
});

it('a budget gives out each request once, counts those of other processes, and is never overdrawn', () => {
  const budget = createBudget(3);
  expect([budget.left(), budget.used()]).toEqual([3, 0]);
  expect(budget.take()).toBe(true);
  expect([budget.left(), budget.used()]).toEqual([2, 1]);
  budget.spend(1);
  expect([budget.take(), budget.take()]).toEqual([true, false]);
  budget.spend(2);
  expect([budget.left(), budget.used()]).toEqual([0, 5]);
});
