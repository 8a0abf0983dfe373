import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { kindOf, loadConfig } from '../../jobs/index.ts';
import type { PipelineConfig } from '../../src/config/schema.ts';
import { acquireLease, keepLease } from '../../src/ops/lease.ts';
import { claimSlot, type SlotEnd } from '../../src/ops/schedule/slots.ts';
import { runSlot } from '../../src/runs/run-slot.ts';
import type { FlowEnd } from '../../src/runs/runnable-kind.ts';
import { createClient } from '../../src/service/client.ts';
import { openSourceClients } from '../../src/store/source-clients.ts';
import { openWorkshop, type Workshop } from './workshop.ts';

const FLOW = `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, schedule: "5 * * * *", LIMIT}
`;

/** Claims a slot and runs a flow for it. */
async function runFlow(
  shop: Workshop,
  flow: () => Promise<FlowEnd>,
  change: (config: PipelineConfig) => PipelineConfig = (config) => config,
  onBug: (error: unknown) => void = () => {},
): Promise<SlotEnd> {
  const config = change(loadConfig(join(shop.folder, 'pipeline.yaml'), shop.env));
  const job = config.jobs.orders;
  if (job === undefined) throw new Error('the job is not there');
  const owner = randomUUID();
  await keepLease(shop.db, { name: `serve:${owner}`, owner, host: 'here', pid: 1, ttlMs: 60_000 });
  const slot = new Date('2026-05-01T10:05Z');
  await shop.db
    .insertInto('ops.slots')
    .values({ job: 'orders', slot, state: 'due' })
    .onConflict((row) => row.doNothing())
    .execute();
  const now = new Date('2026-05-01T11:00Z');
  const claimed = await claimSlot(shop.db, { job: 'orders', owner, now, leases: [] });
  if (claimed === null) throw new Error('the slot was not claimed');
  return runSlot(
    {
      config,
      job,
      kind: { ...kindOf(job), flow },
      db: shop.db,
      sourceClients: openSourceClients(),
      openClient: () =>
        createClient({
          url: shop.sandbox.url,
          key: shop.sandbox.key,
          connections: 1,
          timeoutMs: 1_000,
          connectTimeoutMs: 1_000,
        }),
      draining: new AbortController().signal,
      onEnded: () => {},
      onBug,
    },
    claimed,
  );
}

const hang = () => new Promise<never>(() => {});

it('a hanging run that ignores its signal is abandoned and leaves no leases', async () => {
  const shop = await openWorkshop({ flow: FLOW.replace('LIMIT', 'stall_minutes: 0.02') });
  const end = await runFlow(shop, hang, (config) => ({
    ...config,
    serve: { ...config.serve, graceSeconds: 0.1 },
  }));
  const reason = 'The run made no progress for 0.02 minutes (stall_minutes) in step begin and was ended.';
  expect(end).toEqual({ kind: 'failed', reason });
  expect(await shop.db.selectFrom('ops.runs').select(['status', 'problem']).execute()).toEqual([
    { status: 'failed', problem: expect.stringContaining(`${reason}\nThe next run continues`) },
  ]);
  const held = await shop.db.selectFrom('ops.leases').select('name').execute();
  expect(held.filter(({ name }) => !name.startsWith('serve:'))).toEqual([]);
});

it('a slot waits without counting a loss while its job runs by hand', async () => {
  const shop = await openWorkshop({ flow: FLOW.replace('LIMIT', 'stall_minutes: 1') });
  await acquireLease(shop.db, {
    name: 'job:orders',
    owner: randomUUID(),
    host: 'there',
    pid: 2,
    ttlMs: 60_000,
  });
  expect(await runFlow(shop, hang)).toMatchObject({ kind: 'again', isLoss: false, restMs: 10_000 });
});

it('a bug in a flow fails the slot and is passed on for the log, and its message is not recorded', async () => {
  const shop = await openWorkshop({ flow: FLOW.replace('LIMIT', 'stall_minutes: 1') });
  const bug = new Error('someone@example.com');
  const bugs: unknown[] = [];
  const end = await runFlow(
    shop,
    async () => {
      throw bug;
    },
    (config) => config,
    (error) => bugs.push(error),
  );
  expect(end).toEqual({ kind: 'failed', reason: 'a bug' });
  expect(bugs).toEqual([bug]);
});

it('a database that becomes unavailable during a flow counts as a loss, and the slot is tried again', async () => {
  const shop = await openWorkshop({ flow: FLOW.replace('LIMIT', 'stall_minutes: 1') });
  const end = await runFlow(shop, async () => {
    throw Object.assign(new Error('gone'), { code: 'ECONNRESET' });
  });
  expect(end).toMatchObject({ kind: 'again', isLoss: true });
});

it('a transaction that a migration ends counts as a loss, and the slot is tried again', async () => {
  const shop = await openWorkshop({ flow: FLOW.replace('LIMIT', 'stall_minutes: 1') });
  const end = await runFlow(shop, async () => {
    throw Object.assign(new Error('cached plan must not change result type'), {
      code: '0A000',
      routine: 'RevalidateCachedQuery',
    });
  });
  expect(end).toMatchObject({ kind: 'again', isLoss: true, reason: expect.stringContaining('A migration') });
});
