import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/core/ledger.ts';
import {
  createRequestGate,
  PROBES,
  type RequestGateOptions,
  reasonOf,
} from '../../../src/ledger/sending/request-gate.ts';

const accepted: Outcome = { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: null };
const doubt: Outcome = { kind: 'in_doubt', httpStatus: 500, reason: 'HTTP 500' };
const notWritten: Outcome = { kind: 'not_written', reason: 'connection refused' };

const OPTIONS = {
  concurrency: 8,
  probe: async () => true,
  probes: { count: 1, firstWaitMs: 1, longestWaitMs: 1 },
  isLeaseHeld: () => true,
};

function gateWith(options: Partial<RequestGateOptions> = {}) {
  const waits: string[] = [];
  const gate = createRequestGate({ ...OPTIONS, onWait: (reason) => waits.push(reason), ...options });
  return { gate, waits };
}

describe('a request gate', () => {
  it('admits requests at once by default', async () => {
    const { gate } = gateWith();
    expect(await gate.enter()).toBe(true);
  });

  it('starts narrow, widens with accepted answers up to its limit, and halves after a lost answer', () => {
    const { gate } = gateWith();
    expect(gate.concurrency()).toBe(2);
    for (let count = 0; count < 20; count += 1) gate.report(accepted);
    expect(gate.concurrency()).toBe(8);
    gate.report(doubt);
    expect(gate.concurrency()).toBe(4);
  });

  it('opens the circuit at the fifth doubt, probes the service, and continues narrow if that answers', async () => {
    let probes = 0;
    const { gate, waits } = gateWith({
      probe: async () => {
        probes += 1;
        return true;
      },
    });
    for (let count = 0; count < 20; count += 1) gate.report(accepted);
    for (let count = 0; count < 4; count += 1) gate.report(doubt);
    expect(await gate.enter()).toBe(true);
    expect(probes).toBe(0);
    gate.report(doubt);
    expect(await gate.enter()).toBe(true);
    expect(probes).toBe(1);
    expect(gate.concurrency()).toBe(2);
    expect(waits[0]).toContain('5 requests in 60 s are in doubt');
  });

  it('stops if a request is rejected for its API key', async () => {
    const { gate } = gateWith();
    gate.report({ kind: 'rejected', httpStatus: 401, message: 'no such key', stopsGate: true });
    expect(await gate.enter()).toBe(false);
    expect(gate.stopped()).toEqual({ kind: 'unauthorised', message: 'no such key' });
  });

  it('admits the next request after a refusal that concerns only one', async () => {
    const { gate } = gateWith();
    gate.report({ kind: 'rejected', httpStatus: 404, message: 'no such deal', stopsGate: false });
    expect(await gate.enter()).toBe(true);
  });

  it('stops if the service asks to wait longer than a run may', async () => {
    const { gate } = gateWith();
    gate.report({ kind: 'throttled', httpStatus: 429, retryAfterMs: 86_400_000 });
    expect(await gate.enter()).toBe(false);
    expect(gate.stopped()).toMatchObject({
      kind: 'throttled',
      message: 'the service asks to wait for 1440 minutes',
    });
  });

  it('waits for two minutes if the service asks for them, and stops if it asks for more', () => {
    const { gate } = gateWith();
    gate.report({ kind: 'throttled', httpStatus: 429, retryAfterMs: 120_000 });
    expect(gate.stopped()).toBeNull();
    gate.report({ kind: 'throttled', httpStatus: 429, retryAfterMs: 120_001 });
    expect(gate.stopped()?.kind).toBe('throttled');
  });

  it.each([0, 1])(
    'admits no request if it is stopped while the request takes its turn, in %i ms',
    async (turnInMs) => {
      const { gate } = gateWith({
        async takeTurn() {
          gate.stop({ kind: 'drained' });
          return turnInMs;
        },
      });
      expect(await gate.enter()).toBe(false);
    },
  );

  it('waits as long as a 429 asks before it admits the next request, and says so', async () => {
    const { gate, waits } = gateWith();
    gate.report({ kind: 'throttled', httpStatus: 429, retryAfterMs: 150 });
    // A shorter wait that is asked for later does not end it.
    gate.report({ kind: 'throttled', httpStatus: 429, retryAfterMs: 10 });
    expect(waits).toEqual(Array(2).fill('the service asks to slow down (429)'));
    const before = performance.now();
    expect(await gate.enter()).toBe(true);
    expect(performance.now() - before).toBeGreaterThanOrEqual(145);
  });

  it('waits a second if a 429 does not say how long, and at least as long as the longest wait that was asked for', () => {
    const asked: (readonly [string, number])[] = [];
    const { gate } = gateWith({ onWait: (reason, waitMs) => asked.push([reason, waitMs]) });
    for (const retryAfterMs of [null, 60_000, 10])
      gate.report({ kind: 'throttled', httpStatus: 503, retryAfterMs });
    const why = 'the service asks to slow down (503)';
    expect(asked).toEqual([
      [why, 1_000],
      [why, 60_000],
      [why, 10],
    ]);
    expect([gate.stopped(), gate.concurrency()]).toEqual([null, 1]);
  });

  it('stops if its lease may no longer be in force', async () => {
    const { gate } = gateWith({ isLeaseHeld: () => false });
    expect(await gate.enter()).toBe(false);
    expect(gate.stopped()).toEqual({
      kind: 'lease_lost',
      message: 'another process took over, or the database was unreachable for too long',
    });
  });

  it('lets no claimed request be written once its lease may no longer be in force, or once it is stopped', () => {
    let isHeld = true;
    const { gate } = gateWith({ isLeaseHeld: () => isHeld });
    expect(gate.mayWrite()).toBe(true);
    isHeld = false;
    expect(gate.mayWrite()).toBe(false);
    isHeld = true;
    gate.stop({ kind: 'drained' });
    expect(gate.mayWrite()).toBe(false);
  });

  it('admits no request whose lease was lost while it waited for its turn', async () => {
    let isHeld = true;
    let turns = 0;
    const { gate } = gateWith({
      isLeaseHeld: () => isHeld,
      async takeTurn() {
        turns += 1;
        isHeld = false;
        return 1;
      },
    });
    expect(await gate.enter()).toBe(false);
    expect(turns).toBe(1);
    expect(gate.stopped()?.kind).toBe('lease_lost');
  });

  it('admits no request before the end of a pause that begins while it waits for its turn', async () => {
    let turns = 0;
    const { gate } = gateWith({
      async takeTurn() {
        turns += 1;
        if (turns === 1) gate.report({ kind: 'throttled', httpStatus: 429, retryAfterMs: 150 });
        return 1;
      },
    });
    const before = performance.now();
    expect(await gate.enter()).toBe(true);
    expect(performance.now() - before).toBeGreaterThanOrEqual(145);
  });

  it('probes the service again whenever the circuit opens, also while a request waits for its turn', async () => {
    let [probes, turns] = [0, 0];
    const { gate } = gateWith({
      async probe() {
        probes += 1;
        return true;
      },
      async takeTurn() {
        turns += 1;
        if (turns <= 2) for (let count = 0; count < 5; count += 1) gate.report(doubt);
        return 1;
      },
    });
    expect(await gate.enter()).toBe(true);
    expect([probes, turns]).toEqual([2, 3]);
  });

  it('waits for its turn, and admits the request when it comes', async () => {
    let turns = 0;
    const { gate } = gateWith({
      async takeTurn() {
        turns += 1;
        return 60;
      },
    });
    const before = performance.now();
    expect(await gate.enter()).toBe(true);
    expect(performance.now() - before).toBeGreaterThanOrEqual(55);
    expect(turns, 'a turn that was waited for is kept').toBe(1);
  });

  it('stops after a 402, because without credits every further request is another doubt', async () => {
    const { gate } = gateWith();
    gate.report({ kind: 'in_doubt', httpStatus: 402, reason: 'HTTP 402: no credits' });
    expect(await gate.enter()).toBe(false);
    expect(gate.stopped()).toEqual({
      kind: 'unavailable',
      message: 'the account has no credits left (HTTP 402: no credits)',
    });
  });

  it('stops after the statuses that mean so for this account, and after no doubt without a status', () => {
    const { gate } = gateWith({ noCreditStatuses: [418] });
    gate.report({ kind: 'in_doubt', httpStatus: null, reason: 'reset' });
    gate.report({ kind: 'in_doubt', httpStatus: 402, reason: 'HTTP 402' });
    gate.report({ kind: 'rejected', httpStatus: 418, message: 'no', stopsGate: false });
    expect(gate.stopped()).toBeNull();
    gate.report({ kind: 'in_doubt', httpStatus: 418, reason: 'HTTP 418' });
    expect(gate.stopped()).toEqual({
      kind: 'unavailable',
      message: 'the account has no credits left (HTTP 418)',
    });
  });

  it('takes no turn while it probes, and passes an error of a probe that is no silence on', async () => {
    const fault = new TypeError('a fault of the program');
    let [turns, probes] = [0, 0];
    const { gate } = gateWith({
      probes: { count: 3, firstWaitMs: 1, longestWaitMs: 1 },
      async probe() {
        probes += 1;
        throw fault;
      },
      async takeTurn() {
        turns += 1;
        return 0;
      },
    });
    for (let count = 0; count < 5; count += 1) gate.report(doubt);
    await expect(gate.enter()).rejects.toBe(fault);
    expect([turns, probes, gate.stopped()]).toEqual([0, 1, null]);
  });

  it('wakes all waiting requests when it is stopped', async () => {
    const { gate } = gateWith();
    gate.report({ kind: 'throttled', httpStatus: 429, retryAfterMs: 100_000 });
    const entering = gate.enter();
    gate.stop({ kind: 'drained' });
    expect(await entering).toBe(false);
  });

  it('stops if the service answers none of the probes', async () => {
    let probes = 0;
    const { gate, waits } = gateWith({
      probes: { count: 3, firstWaitMs: 1, longestWaitMs: 3 },
      async probe() {
        probes += 1;
        return false;
      },
    });
    for (let count = 0; count < 5; count += 1) gate.report(doubt);
    expect(await Promise.all([gate.enter(), gate.enter()]), 'all wait for the same probes').toEqual([
      false,
      false,
    ]);
    expect(probes).toBe(3);
    expect(waits).toHaveLength(3);
    expect(gate.stopped()).toEqual({
      kind: 'unavailable',
      message: '5 requests in 60 s are in doubt, and the service has not answered since',
    });
  });

  it('gives a service that does not answer one minute, and probes it more and more rarely', async () => {
    const waits: number[] = [];
    const { count, firstWaitMs, longestWaitMs } = PROBES;
    const { gate } = gateWith({
      // 500 times as fast.
      probes: { count, firstWaitMs: firstWaitMs / 500, longestWaitMs: longestWaitMs / 500 },
      probe: async () => false,
      onWait: (_reason, waitMs) => waits.push(waitMs),
    });
    for (let doubts = 0; doubts < 5; doubts += 1) gate.report(doubt);
    expect(await gate.enter()).toBe(false);
    expect(waits.map((waitMs) => waitMs / 2)).toEqual([1, 2, 4, 8, 16, 30]);
  });

  it('waits for no further probe once it was stopped, and does not call that an outage', async () => {
    let probes = 0;
    const { gate } = gateWith({
      probes: { count: 2, firstWaitMs: 1, longestWaitMs: 60_000 },
      async probe() {
        probes += 1;
        gate.stop({ kind: 'drained' });
        return false;
      },
    });
    for (let count = 0; count < 5; count += 1) gate.report(doubt);
    expect(await gate.enter()).toBe(false);
    expect(probes).toBe(1);
    expect(gate.stopped()).toEqual({ kind: 'drained' });
  });

  it('sends no probe after it was stopped', async () => {
    let probes = 0;
    const { gate } = gateWith({
      probes: { count: 1, firstWaitMs: 60_000, longestWaitMs: 60_000 },
      async probe() {
        probes += 1;
        return true;
      },
    });
    for (let count = 0; count < 5; count += 1) gate.report(doubt);
    const entering = gate.enter();
    gate.stop({ kind: 'drained' });
    expect(await entering).toBe(false);
    expect(probes).toBe(0);
    expect(gate.stopped()).toEqual({ kind: 'drained' });
  });

  it('says how many requests got no clear answer, and why the first did not; why it is stopped counts before that', () => {
    const { gate } = gateWith();
    expect(gate.unfinished()).toBeNull();
    gate.leaveUnanswered('HTTP 502');
    expect(gate.unfinished()).toEqual({
      kind: 'unanswered',
      message:
        'One request got no clear answer, not even when repeated (HTTP 502). What it is about waits for the next run.',
    });
    gate.leaveUnanswered('timeout');
    expect(gate.unfinished()).toMatchObject({
      message:
        '2 requests got no clear answer, not even when repeated (HTTP 502). What they are about waits for the next run.',
    });
    gate.stop({ kind: 'drained' });
    expect(gate.unfinished()).toEqual({ kind: 'drained' });
  });

  it.each([
    [{ kind: 'throttled', httpStatus: 429, retryAfterMs: null }, 'HTTP 429: the service asks to slow down'],
    [
      { kind: 'rejected', httpStatus: 404, message: 'no such deal', stopsGate: false },
      'HTTP 404: no such deal',
    ],
    [doubt, 'HTTP 500'],
    [notWritten, 'connection refused'],
    [accepted, 'accepted'],
  ] as const)('says why an outcome is not the end of a request: %o → %s', (outcome, reason) => {
    expect(reasonOf(outcome)).toBe(reason);
  });

  it('keeps the reason for which it was stopped first', () => {
    const { gate } = gateWith();
    gate.stop({ kind: 'drained' });
    gate.report({ kind: 'rejected', httpStatus: 401, message: 'no such key', stopsGate: true });
    expect(gate.stopped()).toEqual({ kind: 'drained' });
    expect(gate.signal.aborted).toBe(true);
  });

  it('probes the service after five requests in a row that could not be written', async () => {
    let probes = 0;
    const { gate, waits } = gateWith({
      probe: async () => {
        probes += 1;
        return true;
      },
    });
    for (let count = 0; count < 5; count += 1) gate.report(notWritten);
    expect(await gate.enter()).toBe(true);
    expect(probes).toBe(1);
    expect(waits).toEqual(['5 requests in a row could not be sent; polling the service']);
  });
});
