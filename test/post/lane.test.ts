import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../src/model/ledger.ts';
import { createLane, type LaneOptions } from '../../src/post/lane.ts';

const accepted: Outcome = { kind: 'accepted', httpStatus: 200, dealId: 'D1', collabId: null };
const doubt: Outcome = { kind: 'in_doubt', httpStatus: 500, reason: 'HTTP 500' };
const notWritten: Outcome = { kind: 'not_written', reason: 'connection refused' };

function laneWith(options: Partial<LaneOptions> = {}) {
  const waits: string[] = [];
  const lane = createLane({
    concurrency: 8,
    requestsPerSecond: 0,
    probe: async () => true,
    isLeaseHeld: () => true,
    onWait: (reason) => waits.push(reason),
    ...options,
  });
  return { lane, waits };
}

describe('a lane', () => {
  it('lets requests in at once when nothing speaks against it', async () => {
    const { lane } = laneWith();
    expect(await lane.enter()).toBe(true);
  });

  it('starts narrow, widens with accepted answers up to its limit, and halves when an answer is lost', () => {
    const { lane } = laneWith();
    expect(lane.window()).toBe(2);
    for (let count = 0; count < 20; count += 1) lane.report(accepted);
    expect(lane.window()).toBe(8);
    lane.report(doubt);
    expect(lane.window()).toBe(4);
  });

  it('opens at the fifth doubt, asks the service how it is, and goes on narrow when it answers', async () => {
    let probes = 0;
    const { lane, waits } = laneWith({
      probe: async () => {
        probes += 1;
        return true;
      },
    });
    for (let count = 0; count < 20; count += 1) lane.report(accepted);
    for (let count = 0; count < 4; count += 1) lane.report(doubt);
    expect(await lane.enter()).toBe(true);
    expect(probes).toBe(0);
    lane.report(doubt);
    expect(await lane.enter()).toBe(true);
    expect(probes).toBe(1);
    expect(lane.window()).toBe(2);
    expect(waits[0]).toContain('5 requests in 60 s are in doubt');
  });

  it('stops when a request is refused for its key', async () => {
    const { lane } = laneWith();
    lane.report({ kind: 'rejected', httpStatus: 401, message: 'no such key', stopsLane: true });
    expect(await lane.enter()).toBe(false);
    expect(lane.stopped()).toEqual({ kind: 'unauthorised', message: 'no such key' });
  });

  it('stops when the service asks for more patience than a run has', async () => {
    const { lane } = laneWith();
    lane.report({ kind: 'throttled', httpStatus: 429, retryAfterMs: 86_400_000 });
    expect(await lane.enter()).toBe(false);
    expect(lane.stopped()).toMatchObject({
      kind: 'throttled',
      message: 'the service asks to wait for 1440 minutes',
    });
  });

  it('rests as long as a 429 asks before the next request', async () => {
    const { lane } = laneWith();
    lane.report({ kind: 'throttled', httpStatus: 429, retryAfterMs: 150 });
    const before = performance.now();
    expect(await lane.enter()).toBe(true);
    expect(performance.now() - before).toBeGreaterThanOrEqual(145);
  });

  it('stops when its lease is no longer sure to be in force', async () => {
    const { lane } = laneWith({ isLeaseHeld: () => false });
    expect(await lane.enter()).toBe(false);
    expect(lane.stopped()?.kind).toBe('lease_lost');
  });

  it('wakes those who wait when it is stopped', async () => {
    const { lane } = laneWith();
    lane.report({ kind: 'throttled', httpStatus: 429, retryAfterMs: 100_000 });
    const entering = lane.enter();
    lane.stop({ kind: 'drained' });
    expect(await entering).toBe(false);
  });

  it('asks the service how it is after five requests in a row could not be written', async () => {
    let probes = 0;
    const { lane } = laneWith({
      probe: async () => {
        probes += 1;
        return true;
      },
    });
    for (let count = 0; count < 5; count += 1) lane.report(notWritten);
    expect(await lane.enter()).toBe(true);
    expect(probes).toBe(1);
  });
});
