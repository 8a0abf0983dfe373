import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { insertEntry, startWorker } from '../ledger/entries.ts';
import {
  type DatabaseProxy,
  type DatabaseProxyOptions,
  startDatabaseProxy,
} from '../support/database-proxy.ts';
import { startService } from '../support/sandbox-process.ts';
import { type Stage, setup } from '../support/setup.ts';
import { waitFor } from '../support/wait-for.ts';
import { type CrashPoint, type PostingOrders, post } from './posting-process.ts';

/** A short lease, so that the next process need not wait long for the lease of a killed one to expire. */
const LEASE_MS = 1_500;
export const CONCURRENCY = 4;
/** Maximum number of claims at a time: the requests in flight and half as many more (post-entries.ts). */
const CLAIMED_AT_MOST = 6;

/** The account of the service: one deal, for the influencer of the entries. */
const ACCOUNT = `
brands: [{id: 4819, name: Acme}]
dealflows: [{id: D_TEST, name: Test, brand_id: 4819}]
deals: [{deal_id: DEAL1, influencer_handle: mia.test, platform: instagram, brand_id: 4819, dealflow_id: D_TEST, code: MIA10}]
`;

export type Scene = Stage & {
  readonly sandbox: Awaited<ReturnType<typeof startService>>;
  /** Starts a posting process; the connection to its database can be held. */
  startPosting(options: {
    dieAt?: CrashPoint;
    dieOnEntry?: number;
    wire?: DatabaseProxyOptions;
  }): Promise<Posting>;
  /** Posts to the end in the process of the test. */
  post(): Promise<void>;
  /** Does the same once the lease of a dead process has expired. */
  continuePosting(): Promise<void>;
  /** Compares the ledger with the orders that the service actually processed. */
  compareWithSandbox(): Promise<Comparison>;
};

export type Posting = {
  readonly process: ChildProcess;
  readonly ended: Promise<NodeJS.Signals | number | null>;
  readonly wire: DatabaseProxy;
};

export type Comparison = {
  readonly accepted: number;
  /** Entries that are ready; the next run sends them. */
  readonly waiting: number;
  readonly doubts: number;
  /** Doubts about orders that the service never processed. */
  readonly falseDoubts: number;
  /** Orders that the service processed more than once. */
  readonly duplicates: number;
  /** Orders that are neither accepted, in doubt nor ready. */
  readonly losses: number;
  /** Entries whose state is wrong. */
  readonly misstated: number;
};

/**
 * Sets up orders that are ready to be posted, a real service (the sandbox as a separate process) and a real
 * Postgres.
 */
export async function setScene(orders: number): Promise<Scene> {
  const stage = await setup();
  const account = join(stage.folder, 'account.yaml');
  writeFileSync(account, ACCOUNT);
  const sandbox = await startService({ data: account });
  const worker = await startWorker(stage.db, { ttlMs: 1 });
  for (let index = 1; index <= orders; index += 1) {
    await insertEntry(stage.db, {
      runId: worker.runId,
      orderId: `order-${index}`,
      accountId: sandbox.accountId,
    });
  }

  const ordersTo = (databaseUrl: string): PostingOrders => ({
    databaseUrl,
    apiUrl: sandbox.url,
    apiKey: sandbox.key,
    spoolFolder: join(stage.folder, 'spool'),
    journalFolder: join(stage.folder, 'journal'),
    owner: randomUUID(),
    leaseMs: LEASE_MS,
    concurrency: CONCURRENCY,
    dieAt: null,
    dieOnEntry: 1,
  });

  async function startPosting({
    wire: held,
    ...death
  }: Parameters<Scene['startPosting']>[0]): Promise<Posting> {
    const wire = await startDatabaseProxy(stage.databaseUrl, held);
    const postingOrders: PostingOrders = { ...ordersTo(wire.url), ...death };
    const script = new URL('posting-process.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [script, JSON.stringify(postingOrders)], {
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const ended = new Promise<NodeJS.Signals | number | null>((resolve) =>
      child.once('exit', (code, signal) => resolve(signal ?? code)),
    );
    void ended.then(() => wire.close());
    return { process: child, ended, wire };
  }

  const postHere = (): Promise<void> => post(ordersTo(stage.databaseUrl));

  async function leasesAreOver(): Promise<boolean> {
    const living = await stage.db
      .selectFrom('ops.leases')
      .select('name')
      .where('expires_at', '>', new Date())
      .execute();
    return living.length === 0;
  }

  return {
    ...stage,
    sandbox,
    startPosting,
    post: postHere,
    async continuePosting() {
      await waitFor(leasesAreOver);
      await postHere();
    },
    async compareWithSandbox() {
      const processed = new Map<string, number>();
      for (const referral of await sandbox.referrals())
        processed.set(referral.order_id, (processed.get(referral.order_id) ?? 0) + 1);
      const entries = await stage.db.selectFrom('ledger.entries').select(['order_id', 'state']).execute();
      const times = (orderId: string | null) => processed.get(orderId ?? '') ?? 0;
      const inState = (state: string) => entries.filter((entry) => entry.state === state);
      return {
        accepted: inState('accepted').length,
        waiting: inState('ready').length,
        doubts: inState('in_doubt').length,
        falseDoubts: inState('in_doubt').filter((entry) => times(entry.order_id) === 0).length,
        duplicates: [...processed.values()].filter((count) => count > 1).length,
        losses: entries.filter(({ state }) => !['accepted', 'in_doubt', 'ready'].includes(state)).length,
        misstated: inState('accepted').filter((entry) => times(entry.order_id) === 0).length,
      };
    },
  };
}

/** Checks the guarantees that hold for every comparison, wherever the process died. */
export function expectGuarantees(comparison: Comparison, orders: number): void {
  expect(comparison).toMatchObject({ duplicates: 0, losses: 0, misstated: 0 });
  expect(comparison.accepted + comparison.doubts).toBe(orders);
  expect(comparison.doubts).toBeLessThanOrEqual(CLAIMED_AT_MOST);
}
