import { getEventListeners } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Exchange } from '../../../src/core/http/exchange.ts';
import { ensureLedgerId } from '../../../src/ledger/continuity/identity.ts';
import { openJournal } from '../../../src/ledger/continuity/journal.ts';
import { applyEvidences } from '../../../src/ledger/evidence/apply-evidence.ts';
import { bindAccount } from '../../../src/ledger/open-account.ts';
import type { OpenLedger } from '../../../src/ledger/open-ledger.ts';
import { type PostReadyOptions, postReady } from '../../../src/ledger/sending/post-ready.ts';
import { spoolFolder } from '../../../src/ledger/sending/recover-previous-runs.ts';
import type { Run } from '../../../src/ops/run.ts';
import type { Client } from '../../../src/service/client.ts';
import { configOf } from '../../mirror/story.ts';
import { setup } from '../../support/setup.ts';
import { ACCOUNT, insertEntry, startWorker } from '../entries.ts';

const ACCEPTED = '{"deal_id":"D1","collab_id":"C1"}';

/** Orders that are ready, and a run of their job. The database can be unreachable for its next statements. */
async function openRun(orderIds: readonly string[], exchange: () => Exchange | Promise<Exchange>) {
  const { db: direct, folder } = await setup();
  let failures = 0;
  const db = direct.withPlugin({
    transformQuery({ node }) {
      if (failures === 0) return node;
      failures -= 1;
      throw new Error('the database cannot be reached');
    },
    transformResult: async ({ result }) => result,
  });
  await bindAccount(direct, ACCOUNT);
  const { owner, runId } = await startWorker(direct);
  const ids: string[] = [];
  for (const orderId of orderIds) ids.push(await insertEntry(direct, { runId, orderId }));
  const ledgerId = await ensureLedgerId(direct);
  const journals = join(folder, 'journal');
  const steps: unknown[] = [];
  const draining = new AbortController();
  const progress = {
    begin: (step: unknown) => void steps.push(step),
    advance: (by: number) => void steps.push(by),
    note: (text: string) => void steps.push(text),
    end() {},
  };
  const run = {
    db,
    owner,
    runId,
    progress,
    options: { limit: null },
    draining: draining.signal,
    job: { name: 'attribute-orders' },
    nouns: { items: 'orders' },
    isLeaseHeld: () => true,
    config: configOf(folder, 'http://127.0.0.1:1', { name: 'mirror' } as never),
  };
  const ledger = {
    accountId: ACCOUNT,
    ledgerId,
    heads: () => [],
    place: null,
    mark: null,
    openJournal: async () =>
      openJournal({ folder: journals, ledgerId, accountId: ACCOUNT, owner, mark: null }),
  };
  const options = {
    client: { exchange: async () => exchange() } as unknown as Client,
    ledger: ledger as unknown as OpenLedger,
  };
  return {
    db: direct,
    ids,
    steps,
    journals,
    spool: spoolFolder(run as unknown as Run),
    fail: (statements: number) => {
      failures = statements;
    },
    post: (given: Partial<PostReadyOptions> = {}, limit: number | null = null) =>
      postReady({ ...run, options: { limit } } as unknown as Run, { ...options, backfill: null, ...given }),
    listeners: () => getEventListeners(draining.signal, 'abort').length,
    async states() {
      const { rows } = await sql<{ state: string }>`
        select concat_ws(' ', order_id, state, deal_id, collab_id) as state from ledger.entries order by entry_id`.execute(
        direct,
      );
      return rows.map(({ state }) => state);
    },
  };
}

/** A file is in the way of the spool. */
function block(spool: string): void {
  mkdirSync(dirname(spool), { recursive: true });
  writeFileSync(spool, '');
}

const answer = (status: number, text: string): Exchange => ({ kind: 'answer', status, text, headers: {} });

it('posts what is ready up to the limit, or within a range, counts each answer, and leaves nothing open', async () => {
  const { steps, ids, journals, post, states, listeners } = await openRun(['1', '2', '3', '4'], () =>
    answer(200, ACCEPTED),
  );
  const begun = (total: number) => ({ name: 'post', label: 'Posting orders', unit: 'orders', total });
  const accepted = (id: string) => `${id} accepted D1 C1`;
  expect(await post({}, 2)).toBeNull();
  expect(steps.splice(0)).toEqual([begun(2), 1, 1]);
  expect(await states()).toEqual([accepted('1'), accepted('2'), '3 ready', '4 ready']);
  const range = { from: ids[3] ?? '', to: ids[3] ?? '' };
  expect(await post({ range }, 9)).toBeNull();
  expect(steps.splice(0)).toEqual([begun(2), 1]);
  expect(await post()).toBeNull();
  expect(steps).toEqual([begun(1), 1]);
  expect(await states()).toEqual(['1', '2', '3', '4'].map(accepted));
  expect(readdirSync(journals).filter((name) => name.includes('open'))).toEqual([]);
  expect(listeners()).toBe(0);
});

it('says why it stopped, and counts no request that was not processed', async () => {
  const { steps, post, states } = await openRun(['1', '2'], () => ({
    ...answer(429, '{}'),
    headers: { 'retry-after': '3600' },
  }));
  expect(await post()).toEqual({ kind: 'throttled', message: 'the service asks to wait for 60 minutes' });
  expect(steps.slice(1)).toEqual([]);
  expect(await states()).toEqual(['1 ready', '2 ready']);
});

it('an answer that the database does not take goes to the spool, which is recorded at once if the database is back', async () => {
  const run = await openRun(['1'], () => {
    run.fail(1);
    return answer(200, ACCEPTED);
  });
  expect(await run.post()).toEqual({ kind: 'database_lost', message: 'the database cannot be reached' });
  expect(await run.states()).toEqual(['1 accepted D1 C1']);
  expect(readdirSync(run.spool)).toEqual([]);
});

it('a doubt is settled at the end if an event named the order before its answer was lost', async () => {
  const run = await openRun(['1', '2'], async () => {
    await run.db
      .transaction()
      .execute((trx) =>
        applyEvidences(trx, [
          {
            isCredit: true,
            isLegible: true,
            orderId: '1',
            orderPlatform: 'shopify',
            dealId: 'D1',
            collabId: 'C1',
            amount: null,
            currency: null,
            bodySha256: 'a',
          },
        ]),
      );
    return { kind: 'failure', written: true, reason: 'reset' };
  });
  expect(await run.post()).toBeNull();
  expect(await run.states()).toEqual(['1 accepted D1 C1', '2 in_doubt']);
});

it('an answer that is in the spool waits for the next run while the database is away', async () => {
  const run = await openRun(['1'], () => {
    run.fail(100);
    return answer(200, ACCEPTED);
  });
  expect(await run.post()).toMatchObject({ kind: 'database_lost' });
  const [name = ''] = readdirSync(run.spool);
  expect(JSON.parse(readFileSync(join(run.spool, name), 'utf8'))).toMatchObject({
    outcome: { kind: 'accepted' },
  });
  expect(await run.states()).toEqual(['1 sending']);
});

it('an answer that neither takes is recorded at last if the database is back, or else is said to be lost', async () => {
  const back = await openRun(['1'], () => {
    block(back.spool);
    back.fail(1);
    return answer(200, ACCEPTED);
  });
  expect(await back.post()).toMatchObject({ kind: 'database_lost' });
  expect(await back.states()).toEqual(['1 accepted D1 C1']);

  for (const [ids, said] of [
    [['1'], 'An answer'],
    [['1', '2'], '2 answers'],
  ] as const) {
    let requests = 0;
    const together = Promise.withResolvers<void>();
    const away = await openRun(ids, async () => {
      requests += 1;
      if (requests === ids.length) together.resolve();
      await together.promise;
      block(away.spool);
      away.fail(100);
      return answer(200, ACCEPTED);
    });
    await expect(away.post()).rejects.toMatchObject({
      message: `${said} of the service could not be stored, neither in the database nor in the spool of the data folder (EEXIST).`,
      details: {
        code: 'answers_lost',
        exitCode: 1,
        help: 'Free space for the data folder, or let this user write to it, and restore the database connection. Then run again: the orders are in doubt, and `review` shows them with their amounts.',
        safe: 'The orders of these answers may have been credited. None of them is sent again before a person decides.',
      },
    });
    expect(away.listeners()).toBe(0);
  }
});
