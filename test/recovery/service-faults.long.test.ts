import { describe, expect, it } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { CONCURRENCY, type Comparison, setScene } from './crash.ts';

const ORDERS = 12;
const REFERRAL = 'new_influencer_referral';

/** Posts everything while the service has faults, and then again without them. */
async function postThrough(rules: readonly Record<string, unknown>[]): Promise<Comparison> {
  const scene = await setScene(ORDERS);
  await scene.sandbox.setFaults(rules.map((rule) => ({ operation: REFERRAL, ...rule })));
  await scene.post();
  // The service may still be down.
  await waitFor(() =>
    scene.sandbox.setFaults(null).then(
      () => true,
      () => false,
    ),
  );
  await scene.continuePosting();
  return scene.compareWithSandbox();
}

describe('a misbehaving service', () => {
  it.each([
    ['resets the connection after it processed an order', { kind: 'reset_after', count: 2 }, 2],
    ['resets the connection before it processed an order', { kind: 'reset_before', count: 2 }, 2],
    ['fails after it processed an order', { kind: 'error_after', count: 2 }, 2],
    ['fails before it processed an order', { kind: 'error_before', status: 503, count: 2 }, 2],
    ['cuts its answer in the middle', { kind: 'cut_body', count: 2 }, 2],
    ['sends no answer in time', { kind: 'stall_before', count: 1 }, 1],
    ['stops in the middle of its answer', { kind: 'stall_body', count: 1 }, 1],
    ['redirects', { kind: 'redirect', count: 2 }, 2],
    ['answers with a page and says 200', { kind: 'html', count: 2 }, 2],
    ['answers with nothing and says 200', { kind: 'empty', count: 2 }, 2],
  ])('leaves doubts but no duplicates when it %s', async (_name, rule, doubts) => {
    const comparison = await postThrough([rule]);
    expect(comparison).toMatchObject({
      duplicates: 0,
      losses: 0,
      misstated: 0,
      doubts,
      accepted: ORDERS - doubts,
    });
  });

  it.each([
    ['some seconds', { kind: '429', count: 3, retry_after: 1 }],
    ['a date', { kind: '429', count: 3, retry_after: 'date:2' }],
    ['nothing', { kind: '429', count: 3 }],
  ])('is obeyed without doubts when it asks to slow down with %s in Retry-After', async (_name, rule) => {
    expect(await postThrough([rule])).toMatchObject({
      duplicates: 0,
      misstated: 0,
      doubts: 0,
      accepted: ORDERS,
      losses: 0,
    });
  });

  it('ends the run when it asks to wait for a day, and unsent orders stay ready', async () => {
    const scene = await setScene(ORDERS);
    await scene.sandbox.setFaults([{ operation: REFERRAL, kind: '429', retry_after: 86_400, count: 2 }]);
    await scene.post();
    const ready = await scene.db
      .selectFrom('ledger.entries')
      .select('entry_id')
      .where('state', '=', 'ready')
      .execute();
    expect(ready).toHaveLength(ORDERS);
    expect(await scene.sandbox.referrals()).toEqual([]);
  });

  it('ends the run when it rejects the key midway, and the next run continues', async () => {
    const comparison = await postThrough([{ kind: '401', after: 4 }]);
    expect(comparison).toMatchObject({ duplicates: 0, misstated: 0, doubts: 0 });
    expect(comparison.accepted).toBeGreaterThanOrEqual(4);
  });

  it('loses no order during a short outage, and only requests in flight can be in doubt', async () => {
    const comparison = await postThrough([{ kind: 'refuse', ms: 1_500, after: 3 }]);
    expect(comparison).toMatchObject({ duplicates: 0, misstated: 0, losses: 0 });
    expect(comparison.accepted + comparison.waiting).toBeGreaterThanOrEqual(ORDERS - CONCURRENCY);
  });
});
