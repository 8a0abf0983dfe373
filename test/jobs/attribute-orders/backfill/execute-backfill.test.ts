import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RawBuilder, sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { moveBackfill, readBackfill } from '../../../../jobs/attribute-orders/backfill/backfills.ts';
import { executeBackfill, shareOf } from '../../../../jobs/attribute-orders/backfill/execute-backfill.ts';
import { readNews } from '../../../../jobs/attribute-orders/backfill/plan-backfill.ts';
import { endBackfill } from '../../../../jobs/attribute-orders/backfill/release-entries.ts';
import type { BackfillRun } from '../../../../jobs/attribute-orders/backfill/with-backfill-run.ts';
import { isAttributeOrders } from '../../../../jobs/attribute-orders/settings.ts';
import { loadConfig } from '../../../../jobs/index.ts';
import type { ApiSettings } from '../../../../src/config/schema.ts';
import type { BackfillState } from '../../../../src/core/backfill.ts';
import type { Exchange } from '../../../../src/core/http/exchange.ts';
import { ensureLedgerId } from '../../../../src/ledger/continuity/identity.ts';
import { openJournal } from '../../../../src/ledger/continuity/journal.ts';
import { bindAccount } from '../../../../src/ledger/open-account.ts';
import type { OpenLedger } from '../../../../src/ledger/open-ledger.ts';
import type { Client } from '../../../../src/service/client.ts';
import { openSourceClients } from '../../../../src/store/source-clients.ts';
import { ACCOUNT, insertEntry, startWorker } from '../../../ledger/entries.ts';
import { setup } from '../../../support/setup.ts';
import { waitFor } from '../../../support/wait-for.ts';

const ACCEPTED: Exchange = { kind: 'answer', status: 200, text: '{"deal_id":"D1"}', headers: {} };
const JOB = 'attribute-orders';

/** A running backfill of orders that are ready, and a process that executes it. One request at a time is in flight. */
async function openBackfill(
  orderIds: readonly string[],
  answer: () => Promise<Exchange> | Exchange = () => ACCEPTED,
) {
  const { db: direct, folder } = await setup();
  /** Called after each query, with its text. */
  let onQuery: (text: string) => Promise<void> = async () => {};
  const texts = new WeakMap<object, string>();
  const db = direct.withPlugin({
    transformQuery({ node, queryId }) {
      texts.set(queryId, JSON.stringify(node));
      return node;
    },
    async transformResult({ result, queryId }) {
      await onQuery(texts.get(queryId) ?? '');
      return result;
    },
  });
  await bindAccount(direct, ACCOUNT);
  const { owner, runId } = await startWorker(direct);
  const insertBackfill = async (state: BackfillState, job = JOB) => {
    const { id } = await direct
      .insertInto('ops.backfills')
      .values({
        job,
        state,
        from_day: '2025-05-01',
        to_day: '2025-05-31',
        time_zone: 'UTC',
        plan_hash: '',
        plan: '{}',
        run_id: runId,
        approved_by: 'jane',
        approved_at: new Date(),
      })
      .returning('backfill_id as id')
      .executeTakeFirstOrThrow();
    return id;
  };
  const backfillId = await insertBackfill('running');
  const add = async (orderId: string, id = backfillId) => {
    const entryId = await insertEntry(direct, { runId, orderId });
    await sql`update ledger.entries set backfill_id = ${id}::bigint where entry_id = ${entryId}::bigint`.execute(
      direct,
    );
    return entryId;
  };
  for (const orderId of orderIds) await add(orderId);
  const shipped = loadConfig(new URL('../../../../config/pipeline.yaml', import.meta.url).pathname, {});
  const settings = shipped.jobs[JOB];
  if (settings === undefined || !isAttributeOrders(settings)) throw new Error('no such job');
  const job = { ...settings, sources: [], startDate: '2026-01-01' };
  const ending = new AbortController();
  const notes: string[] = [];
  const steps: string[] = [];
  const run = {
    config: {
      ...shipped,
      jobs: { [JOB]: job },
      database: { ...shipped.database, dataFolder: folder },
      api: { ...shipped.api, requestsPerSecond: 0, concurrency: 2 },
    },
    db,
    job,
    owner,
    runId,
    draining: ending.signal,
    isLeaseHeld: () => true,
    nouns: { items: 'orders', done: 'posted' },
    options: { limit: null, file: null, allowEmpty: true },
    progress: {
      begin: ({ name }: { readonly name: string }) => void steps.push(name),
      note: (text: string) => void notes.push(text),
      advance() {},
      end() {},
    },
  } as unknown as BackfillRun;
  const ledgerId = await ensureLedgerId(direct);
  const journals = join(folder, 'journal');
  const ledger = {
    accountId: ACCOUNT,
    ledgerId,
    heads: () => [],
    place: null,
    mark: null,
    journalFolders: [journals],
    openJournal: async () =>
      openJournal({ folder: journals, ledgerId, accountId: ACCOUNT, owner, mark: null }),
  } as unknown as OpenLedger;
  let requests = 0;
  const client = {
    async exchange() {
      requests += 1;
      return answer();
    },
  } as unknown as Client;
  const read = async () => {
    const backfill = await readBackfill(direct, backfillId);
    if (backfill === null) throw new Error('there is no backfill');
    return backfill;
  };
  let looks = 0;
  onQuery = async (text) => {
    if (isLook(text)) looks += 1;
  };
  return {
    run,
    folder,
    db: direct,
    runId,
    backfillId,
    insertBackfill,
    add,
    ending,
    notes,
    steps,
    read,
    requests: () => requests,
    /** Another process moves the backfill to a state. Resolves once the process that executes it has noticed. */
    async move(from: BackfillState, to: BackfillState) {
      if (to === 'cancelled')
        await endBackfill(direct, backfillId, { job: JOB, start: null, from: [from], to });
      else await moveBackfill(direct, backfillId, { from: [from], to });
      const before = looks;
      // The second one begins once the first one has ended.
      await waitFor(() => looks >= before + 2);
    },
    onQuery(work: typeof onQuery) {
      onQuery = work;
    },
    execute: async () => executeBackfill(run, await read(), { client, ledger }),
    /** The entries as `order state reason, of the backfill`. */
    async entries() {
      const { rows } = await sql<{ said: string }>`
        select concat_ws(' ', order_id, state, nullif(state_reason, 'the run was ending'), '/ ' || backfill_id) as said
        from ledger.entries order by entry_id`.execute(direct);
      return rows.map(({ said }) => said);
    },
  };
}

/** True for the question how a backfill stands. */
function isLook(text: string): boolean {
  return text.includes('as \\"planHash\\"');
}

const PAUSED =
  'Paused. From another terminal:  npx influencer-sync backfill resume  (or cancel). Ctrl-C ends this process; the backfill stays paused.';

it('posts what is ready or rests a moment, after what earlier processes left behind is settled, and gives all back to the job', async () => {
  const shop = await openBackfill(['1', 'told', 'resting']);
  const { db, backfillId, insertBackfill, add, execute, entries, steps, notes, read, requests } = shop;
  const [done, cancelled] = [await insertBackfill('done'), await insertBackfill('cancelled')];
  const other = await insertBackfill('done', 'another');
  const { owner } = await startWorker(db);
  const change = async (orderId: string, set: RawBuilder<unknown>, id = backfillId) =>
    sql`update ledger.entries set ${set} where entry_id = ${await add(orderId, id)}::bigint`.execute(db);
  await change('posted', sql`state = 'accepted', attempt = 1, deal_id = 'D1'`, done);
  await change('being sent', sql`state = 'sending', attempt = 1, owner = ${owner}::uuid`, done);
  await change('left', sql`state = 'sending', attempt = 1, owner = ${randomUUID()}::uuid`, cancelled);
  await change('of another job', sql`state = 'accepted', attempt = 1, deal_id = 'D1'`, other);
  await sql`update ledger.entries set not_before = now() + interval '1200 ms' where order_id = 'resting'`.execute(
    db,
  );
  await sql`
    insert into ledger.evidence (kind, order_platform, order_id, body_sha256)
    values ('webhook_order', 'shopify', 'told', repeat('0', 64))`.execute(db);
  expect(await execute()).toEqual({ kind: 'done' });
  expect(await entries()).toEqual([
    '1 accepted',
    'told held evidence_of_another_poster',
    'resting accepted',
    'posted accepted',
    `being sent sending / ${done}`,
    expect.stringMatching(/^left in_doubt [^/]+$/),
    `of another job accepted / ${other}`,
  ]);
  expect(await read()).toMatchObject({ backfillId, state: 'done', problem: null });
  expect(requests()).toBe(2);
  expect(steps, 'what rests is waited for').toEqual(['post', 'post', 'refresh']);
  expect(notes).toEqual(['1 order is now in doubt: the process that sent it is gone.']);
});

it('waits while it is paused, finishes what is in flight before, and goes on when it is resumed', async () => {
  const shop = await openBackfill(['1', '2', '3'], async () => {
    if (shop.requests() === 1) await shop.move('running', 'paused');
    return ACCEPTED;
  });
  const executing = shop.execute();
  await waitFor(() => shop.notes.includes(PAUSED));
  expect([shop.requests(), await shop.entries()]).toEqual([
    1,
    ['1 accepted /', '2 ready /', '3 ready /'].map((said) => `${said} ${shop.backfillId}`),
  ]);
  await shop.move('paused', 'running');
  expect(await executing).toEqual({ kind: 'done' });
  expect(await shop.entries()).toEqual(['1 accepted', '2 accepted', '3 accepted']);
  expect(shop.notes, 'it says so once').toEqual([PAUSED]);
});

it('goes on at once if it is resumed before it has stopped', async () => {
  const shop = await openBackfill(['1', '2'], async () => {
    if (shop.requests() === 1) {
      await shop.move('running', 'paused');
      await shop.move('paused', 'running');
    }
    return ACCEPTED;
  });
  expect(await shop.execute()).toEqual({ kind: 'done' });
  expect(shop.notes).toEqual([]);
  expect(shop.steps).toEqual(['post', 'post', 'refresh']);
});

it('that is paused when nothing is left to post is done only once it is resumed', async () => {
  const shop = await openBackfill(['1']);
  let counts = 0;
  shop.onQuery(async (text) => {
    if (text.includes('nextInMs')) counts += 1;
    // Before it posts, after it, and before it ends.
    if (text.includes('nextInMs') && counts === 3)
      await moveBackfill(shop.db, shop.backfillId, { from: ['running'], to: 'paused' });
  });
  const executing = shop.execute();
  await waitFor(() => shop.notes.includes(PAUSED));
  expect((await shop.read()).state).toBe('paused');
  expect(shop.steps).not.toContain('refresh');
  await moveBackfill(shop.db, shop.backfillId, { from: ['paused'], to: 'running' });
  expect(await executing).toEqual({ kind: 'done' });
});

it('sends nothing more once it is cancelled; the answer of what was being sent counts, and the entry is of the job again', async () => {
  const shop = await openBackfill(['1', '2'], async () => {
    await shop.move('running', 'cancelled');
    return ACCEPTED;
  });
  expect(await shop.execute()).toEqual({ kind: 'cancelled' });
  expect(await shop.entries()).toEqual(['1 accepted', '2 held backfill_cancelled']);
  expect([shop.requests(), shop.steps, shop.notes]).toEqual([1, ['post', 'refresh'], []]);
});

it('is left paused, with the reason, if its process has to end or must not go on; its entries stay with it', async () => {
  const told = await openBackfill(['1', '2'], () => {
    told.ending.abort();
    return ACCEPTED;
  });
  expect(await told.execute()).toEqual({ kind: 'stopped', stop: { kind: 'drained' } });
  expect(await told.read()).toMatchObject({ state: 'paused', problem: 'its process was told to stop' });
  expect(await told.entries()).toEqual([`1 accepted / ${told.backfillId}`, `2 ready / ${told.backfillId}`]);
  expect(told.steps).toEqual(['post', 'refresh']);

  const refused = await openBackfill(['1', '2'], () => ({
    kind: 'answer',
    status: 401,
    text: '{"error":"no such key"}',
    headers: {},
  }));
  expect(await refused.execute()).toEqual({
    kind: 'stopped',
    stop: { kind: 'unauthorised', message: 'no such key' },
  });
  expect(await refused.read()).toMatchObject({ state: 'paused', problem: 'no such key' });
  expect([refused.requests(), refused.steps]).toEqual([1, ['post', 'refresh']]);

  const waiting = await openBackfill(['1']);
  await moveBackfill(waiting.db, waiting.backfillId, { from: ['running'], to: 'paused', problem: 'no key' });
  const executing = waiting.execute();
  await waitFor(() => waiting.notes.length > 0);
  waiting.ending.abort();
  expect(await executing).toEqual({ kind: 'stopped', stop: { kind: 'drained' } });
  expect(await waiting.read(), 'it was paused before').toMatchObject({ state: 'paused', problem: 'no key' });
  expect(waiting.requests()).toBe(0);
});

it('reads a source once the run that reads it has ended, and says once that it waits; unless its own process has to end', async () => {
  const { db, run, folder, onQuery, notes, ending } = await openBackfill([]);
  const source = run.config.sources['shop-orders'];
  writeFileSync(
    join(folder, 'codes.csv'),
    'code,brand_id,influencer_handle,deal_id,collab_id,valid_from,valid_to\n',
  );
  mkdirSync(join(folder, 'exports'));
  const sourceClients = openSourceClients();
  onTestFinished(() => sourceClients.close());
  const reading = {
    ...run,
    sourceClients,
    job: { ...run.job, sources: ['shop-orders'], codes: join(folder, 'codes.csv') },
    config: { ...run.config, sources: { 'shop-orders': { ...source, uri: join(folder, 'exports') } } },
  } as BackfillRun;
  const owners = () =>
    db.selectFrom('ops.leases').select(['owner', 'name']).where('name', 'like', 'source:%').execute();
  const lease = () =>
    sql`
      insert into ops.leases (name, owner, expires_at, host, pid)
      values ('source:shop-orders', gen_random_uuid(), clock_timestamp() + interval '1 hour', 'there', 7)`.execute(
      db,
    );
  await lease();
  let asked = 0;
  onQuery(async (text) => {
    if (text.includes('ops.leases')) asked += 1;
    // Each question is two statements at most.
    if (asked === 6) await sql`delete from ops.leases where name = 'source:shop-orders'`.execute(db);
  });
  expect(await readNews(reading)).toMatchObject({ problems: [] });
  expect(notes).toEqual(['Waiting for the run that reads source shop-orders.']);
  expect(await owners(), 'it is read by nobody any more').toEqual([]);
  await lease();
  onQuery(async () => {});
  const waiting = readNews(reading);
  await waitFor(() => notes.length > 1);
  ending.abort();
  await expect(waiting).rejects.toMatchObject({ details: { code: 'interrupted' } });
  expect(await owners()).toHaveLength(1);
});

it('uses half of what the account may use, but one request at a time at least, or what a person asked for', () => {
  const none = { requestsPerSecond: null, concurrency: null };
  const api = (requestsPerSecond: number, concurrency: number) =>
    ({ requestsPerSecond, concurrency }) as unknown as ApiSettings;
  expect([
    shareOf(none, api(5, 5)),
    shareOf(none, api(0, 1)),
    shareOf({ requestsPerSecond: 9, concurrency: 8 }, api(5, 5)),
  ]).toEqual([
    { requestsPerSecond: 2.5, concurrency: 2 },
    { requestsPerSecond: 0, concurrency: 1 },
    { requestsPerSecond: 9, concurrency: 8 },
  ]);
});
