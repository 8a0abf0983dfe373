import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import {
  listBackfills,
  lockBackfill,
  moveBackfill,
  readBackfill,
  storePlan,
} from '../../../../jobs/attribute-orders/backfill/backfills.ts';
import {
  approveBackfill,
  cancelBackfill,
  continueBackfill,
  pauseBackfill,
  resumeBackfill,
  startBackfill,
} from '../../../../jobs/attribute-orders/backfill/change-backfill.ts';
import {
  type GatheredPlan,
  gatherPlan,
  type PlanRules,
} from '../../../../jobs/attribute-orders/backfill/gather-plan.ts';
import {
  endBackfill,
  findUnfinished,
  releaseEnded,
} from '../../../../jobs/attribute-orders/backfill/release-entries.ts';
import {
  describeUnposted,
  readBackfillProgress,
  reportBackfill,
} from '../../../../jobs/attribute-orders/backfill/report.ts';
import { isAttributeOrders } from '../../../../jobs/attribute-orders/settings.ts';
import { loadConfig } from '../../../../jobs/index.ts';
import { BACKFILL_RULES } from '../../../../src/core/backfill.ts';
import { KnownError } from '../../../../src/core/known-error.ts';
import { type DatabaseTransaction, inTransaction, unlessDryRun } from '../../../../src/db/in-transaction.ts';
import { beginRun } from '../../../../src/ops/run-record.ts';
import { openShop, order, rejection, type Shop as SourceShop, useDatabase } from '../../../intake/story.ts';
import { makeTestFolder } from '../../../support/setup.ts';
import { ACCOUNT, type Context, decisions, entries, openContext } from '../decide/story.ts';

const database = useDatabase('a Postgres server');
const MIRA = 'MIRA,,mira,D1,,,';
const mira = (id: string, given = {}) =>
  order(id, { codes: ['MIRA'], placedAt: '2025-05-05T10:00:00Z', ...given });
const PERIOD = { fromDay: '2025-05-01', toDay: '2025-06-30', timeZone: 'UTC' };
const START = { day: '2026-01-01', timeZone: 'UTC' };

type Shop = Context & {
  readonly rules: PlanRules;
  /** The sources of the job. */
  readonly sources: readonly SourceShop[];
  plan(period?: typeof PERIOD): Promise<GatheredPlan & { readonly id: string }>;
  /** The plan: `month standing reason: orders, amount`. */
  groups(given?: Partial<PlanRules>): Promise<readonly string[]>;
  start(id: string): ReturnType<typeof startBackfill>;
};

let brands = 7000;
/** Opens a job that starts in 2026, whose sources have one platform. */
async function open(count = 1): Promise<Shop> {
  const db = database();
  brands += 1;
  const brandId = String(brands);
  const path = join(makeTestFolder(), 'codes.csv');
  const shops = await Promise.all(Array.from({ length: count }, () => openShop(db)));
  const context = await openContext(db, {
    path,
    writeCodes: (text: string) => writeFileSync(path, text),
    brandId,
    shops,
  });
  const rules: PlanRules = {
    job: context.job,
    brandId,
    revenue: 'total',
    creditsDrafts: false,
    creditsRenewals: true,
    attribution: 'code',
    start: START,
    hasTerms: false,
    elsewhere: [],
    isBrandShared: false,
    period: PERIOD,
    accountId: ACCOUNT,
    sources: shops.map(({ source }) => ({
      source,
      orderPlatform: `platform of ${context.job}`,
      credited: 'any',
      notCredited: [],
      mayLackColumn: false,
      ownOrders: false,
    })),
  };
  await context.attribute({ codes: MIRA, start: START });
  const { job, runId } = context;
  return {
    ...context,
    rules,
    sources: shops,
    plan: (period = PERIOD) =>
      inTransaction(db, async (trx) => {
        const gathered = await gatherPlan(trx, { ...rules, period });
        const limits = { requestsPerSecond: null, concurrency: null };
        return { ...gathered, id: await storePlan(trx, gathered, { job, period, runId, ...limits }) };
      }),
    groups: (given = {}) =>
      inTransaction(db, async (trx) => {
        const { plan } = await gatherPlan(trx, { ...rules, ...given });
        return plan.groups.map(
          ({ month, standing, reason, orders, amount, currency }) =>
            `${month} ${standing} ${reason ?? '-'}: ${orders}, ${Number(amount)} ${currency}`,
        );
      }),
    start: (backfillId) =>
      startBackfill(db, {
        backfillId,
        rules,
        runId,
        approvedBy: 'jane',
        requestsPerSecond: 2.5,
        concurrency: 3,
        orderNotes: 'ours',
      }),
  };
}

/** Lets another job decide about the files of a source, and returns which decisions were changed since, as `job file`. */
async function watchFiles({ db, job, source }: Context): Promise<() => Promise<readonly string[]>> {
  await sql`
    insert into intake.attributed_files (job, source_file_id, rules_hash, attributed_at)
    select 'another job', source_file_id, '', now() from intake.source_files where source = ${source}`.execute(
    db,
  );
  const read = async () => {
    const { rows } = await sql<{ file: string; at: string }>`
      select case when d.job = ${job} then '' else d.job || ' ' end || f.uri as file, d.attributed_at::text as at
      from intake.attributed_files d join intake.source_files f using (source_file_id) where f.source = ${source} order by 1`.execute(
      db,
    );
    return rows;
  };
  const before = await read();
  return async () =>
    (await read()).flatMap(({ file, at }, index) => (at === before[index]?.at ? [] : [file]));
}

/** The configuration of the job, which starts in 2026. */
function configOf(job: string) {
  const shipped = loadConfig(new URL('../../../../config/pipeline.yaml', import.meta.url).pathname, {});
  const settings = shipped.jobs['attribute-orders'];
  if (settings === undefined || !isAttributeOrders(settings)) throw new Error('no such job');
  return { ...shipped, jobs: { [job]: { ...settings, startDate: START.day, timeZone: START.timeZone } } };
}

const stateOf = async ({ db, job }: Context) =>
  (await listBackfills(db, { job })).map(({ backfillId, state }) => [backfillId, state]);

describe('the plan of a backfill', () => {
  test('says of each order of its days whether it is posted, by the ledger and by the decision about it', async () => {
    const shop = await open();
    const states: Readonly<Record<string, string>> = {
      accepted: `state = 'accepted', attempt = 1, deal_id = 'D1'`,
      sending: `state = 'sending', attempt = 1, owner = gen_random_uuid()`,
      in_doubt: `state = 'in_doubt', attempt = 1, doubtful_attempt = 1, state_reason = 'timeout'`,
      rejected: `state = 'rejected', attempt = 1, state_reason = 'no such deal'`,
      written_off: `state = 'written_off', attempt = 1, doubtful_attempt = 1, state_reason = 'let go'`,
      ready: `state = 'ready'`,
      claimed: `state = 'ready', attempt = 1`,
      withdrawn: `state = 'held', state_reason = 'no_longer_attributed'`,
      cancelled: `state = 'held', state_reason = 'backfill_cancelled'`,
      changed: `state = 'held', state_reason = 'changed_since_the_plan'`,
      evident: `state = 'held', state_reason = 'evidence_of_another_poster'`,
      unfree: `state = 'held', state_reason = 'no_longer_attributed', attempt = 1`,
      throttled: `state = 'ready', attempt = 1, not_sent = 1`,
      'held by a person': `state = 'held', state_reason = 'by_operator'`,
      'accepted for another job': `state = 'accepted', attempt = 1, deal_id = 'D1', job = 'another'`,
      'withdrawn for another source': `state = 'held', state_reason = 'no_longer_attributed', source = 'web'`,
    };
    await shop.read({ orders: Object.keys(states).map((id) => mira(id)) });
    await shop.attribute({ codes: MIRA });
    await shop.prepare();
    for (const [id, state] of Object.entries(states))
      await sql`update ledger.entries set ${sql.raw(state)} where job = ${shop.job} and order_id = ${id}`.execute(
        shop.db,
      );
    await shop.read({
      orders: [
        mira('new', { total: '7.00' }),
        mira('new in June', { placedAt: '2025-06-30T23:59:59Z', currency: 'USD' }),
        mira('after', { placedAt: '2025-07-01T00:00:00Z' }),
        mira('credited elsewhere'),
        mira('off', { cancelledAt: '2025-05-06T00:00:00Z' }),
        order('nobody', { codes: ['NOBODY'], placedAt: '2025-05-05T10:00:00Z' }),
        order('organic', { placedAt: '2025-05-05T10:00:00Z' }),
        mira('no amount', { total: null }),
      ],
    });
    await sql`
      insert into ledger.evidence (kind, order_platform, order_id, body_sha256)
      values ('webhook_order', ${`platform of ${shop.job}`}, 'credited elsewhere', repeat('0', 64)),
        ('webhook_order', 'another platform', 'new', repeat('1', 64))`.execute(shop.db);
    // Something else about the same order.
    await sql`
      insert into ledger.entries (effect, account_id, key, state, attempt, body, body_hash, job, source, order_platform, order_id, run_id)
      select 'note', account_id, replace(key, 'accepted', 'new'), 'ready', 0, '{}', '', job, source, order_platform, 'new', run_id
      from ledger.entries where job = ${shop.job} and order_id = 'accepted'`.execute(shop.db);
    expect(await shop.groups()).toEqual([
      '2025-05 already -: 2, 20 EUR',
      '2025-05 excluded cancelled: 1, 10 EUR',
      '2025-05 held by_operator: 1, 10 EUR',
      '2025-05 held evidence_of_another_poster: 2, 20 EUR',
      '2025-05 held no_longer_attributed: 1, 10 EUR',
      '2025-05 held unknown_amount: 1, 0 EUR',
      '2025-05 held written_off: 1, 10 EUR',
      '2025-05 in_doubt timeout: 1, 10 EUR',
      '2025-05 in_doubt -: 1, 10 EUR',
      '2025-05 organic -: 1, 10 EUR',
      '2025-05 rejected no such deal: 1, 10 EUR',
      '2025-05 to_post -: 5, 47 EUR',
      '2025-05 unattributed unknown_code: 1, 10 EUR',
      '2025-05 waiting -: 3, 30 EUR',
      '2025-06 to_post -: 1, 10 USD',
    ]);
  });

  test('posts an order that two sources state once, and none that another job or source has an entry for', async () => {
    const shop = await open(2);
    const [, second] = shop.sources;
    await shop.read({ orders: [mira('of another job', { total: '8.00' }), mira('of another source')] });
    await shop.attribute({ codes: MIRA });
    await shop.prepare();
    await sql`
      update ledger.entries set job = case order_id when 'of another job' then 'another' else job end,
        source = case order_id when 'of another source' then ${second?.source} else source end
      where job = ${shop.job}`.execute(shop.db);
    await sql`delete from intake.attributions where job = ${shop.job}`.execute(shop.db);
    // Of one that only the second one credits, nothing is posted by the first.
    await shop.read({ orders: [mira('both'), mira('credited by one', { codes: [] })] });
    await second?.read({ orders: [mira('both', { total: '9.00' }), mira('credited by one')] });
    expect(await shop.groups()).toEqual([
      '2025-05 excluded known_from_another_job: 1, 8 EUR',
      '2025-05 excluded known_from_another_source: 2, 19 EUR',
      '2025-05 organic -: 1, 10 EUR',
      '2025-05 to_post -: 2, 20 EUR',
    ]);
  });

  test('counts the orders of its days that the runs of the job credit, and those of any day without a time', async () => {
    const shop = await open();
    await shop.read({
      orders: [
        mira('old'),
        mira('first', { placedAt: '2026-01-01T00:00:00Z' }),
        mira('later', { placedAt: '2026-03-01T00:00:00Z' }),
        mira('undated', { placedAt: null }),
        mira('paid', { placedAt: null, paidAt: '2026-01-02T00:00:00Z' }),
      ],
    });
    const period = { ...PERIOD, toDay: '2026-02-01' };
    // A later version replaces the earlier one.
    await shop.read({ orders: [mira('undated', { placedAt: null, total: '11.00' })] });
    const { plan } = await shop.plan(period);
    expect([plan.ofTheRuns, plan.undated, plan.files.map(({ orders }) => orders)]).toEqual([2, 1, [1]]);
    const [whole, again] = await inTransaction(shop.db, async (trx) => {
      const rules = { ...shop.rules, start: null, period };
      return [await gatherPlan(trx, rules), await gatherPlan(trx, rules)];
    });
    expect(again, 'a plan may be made again in one transaction').toEqual(whole);
    expect([whole.plan.ofTheRuns, whole.plan.files.map(({ orders }) => orders)]).toEqual([0, [3]]);
  });

  test('is refused if the platform of a source has another name than the ledger knows', async () => {
    const shop = await open();
    await shop.read({ orders: [mira('1')] });
    await shop.attribute({ codes: MIRA });
    await shop.prepare();
    const sources = shop.rules.sources.map((source) => ({ ...source, orderPlatform: 'woo' }));
    const error = await shop.groups({ sources }).catch((thrown: unknown) => thrown);
    expect(error instanceof KnownError ? error.details : error).toMatchObject({
      code: 'order_platform_changed',
      message: expect.stringMatching(/with order_platform platform of shop-\S+; it is now woo\.$/),
    });
    // The case of a platform is no other name.
    const upper = shop.rules.sources.map((source) => ({
      ...source,
      orderPlatform: source.orderPlatform.toUpperCase(),
    }));
    expect(await shop.groups({ sources: upper })).toEqual(['2025-05 waiting -: 1, 10 EUR']);
    // Nor is the key that an earlier version has written.
    await sql`update ledger.entries set order_key = key, key = key || ' as before' where job = ${shop.job}`.execute(
      shop.db,
    );
    expect(await shop.groups()).toEqual(['2025-05 waiting -: 1, 10 EUR']);
    // Of orders that the plan does not contain, the name does not matter.
    await shop.read({ orders: [mira('2', { placedAt: '2025-07-07T00:00:00Z' })] });
    const july = { ...PERIOD, fromDay: '2025-07-01', toDay: '2025-07-31' };
    expect(await shop.groups({ sources, period: july })).toEqual(['2025-07 to_post -: 1, 10 EUR']);
  });

  test('replaces plans of the same job and days that nobody has approved, and no other backfill', async () => {
    const [shop, other] = [await open(), await open()];
    await shop.read({ orders: [mira('1')] });
    const [approved, open1] = [await shop.plan(), await shop.plan()];
    const started = await shop.start(approved.id);
    expect(started, 'a plan that was replaced cannot be started').toEqual({ kind: 'not_planned' });
    expect(await shop.start(open1.id)).toEqual({ kind: 'started' });
    const shorter = await shop.plan({ ...PERIOD, toDay: '2025-06-29' });
    const later = await shop.plan({ ...PERIOD, fromDay: '2025-05-02' });
    const elsewhere = await other.plan();
    const first = await shop.plan();
    const second = await shop.plan();
    expect(await stateOf(shop)).toEqual([
      [second.id, 'planned'],
      [first.id, 'replaced'],
      [later.id, 'planned'],
      [shorter.id, 'planned'],
      [open1.id, 'running'],
      [approved.id, 'replaced'],
    ]);
    expect(await stateOf(other)).toEqual([[elsewhere.id, 'planned']]);
  });

  test('is found by job, id, state and days, page by page, the newest first', async () => {
    const shop = await open();
    const june = { ...PERIOD, fromDay: '2025-06-01' };
    const [first, second, third] = [await shop.plan(), await shop.plan(june), await shop.plan()];
    expect(first.hash, 'of no orders').toMatch(/^[0-9a-f]{64}$/);
    const { job } = shop;
    const list = async (filter: Parameters<typeof listBackfills>[1]) =>
      (await listBackfills(shop.db, filter)).map(({ backfillId }) => backfillId);
    expect(await list({ job })).toEqual([third.id, second.id, first.id]);
    expect(await list({ job, after: third.id, limit: 1 })).toEqual([second.id]);
    expect(await list({ job, period: june })).toEqual([second.id]);
    expect(await list({ job, period: { ...june, timeZone: 'Asia/Tokyo' } })).toEqual([]);
    expect(await list({ job, states: ['replaced'] })).toEqual([first.id]);
    const backfill = await readBackfill(shop.db, second.id);
    expect(backfill).toMatchObject({
      job,
      period: june,
      planHash: second.hash,
      approvedBy: null,
      problem: null,
    });
    expect(await findUnfinished(shop.db, job)).toBeNull();
    // One that a transaction reads in order to change it is locked, and no other one.
    const changing = await shop.db.startTransaction().execute();
    expect(await lockBackfill(changing, first.id)).toMatchObject({ backfillId: first.id, state: 'replaced' });
    expect(await lockBackfill(changing, '0')).toBeNull();
    const { rows: free } = await sql<{ id: string }>`
      select backfill_id as id from ops.backfills where job = ${job} order by 1 for update skip locked`.execute(
      shop.db,
    );
    await changing.rollback().execute();
    expect(free.map(({ id }) => id)).toEqual([second.id, third.id]);
  });
});

describe('a backfill that is started', () => {
  test('makes the entries of its plan, oldest order first, with their decisions, and takes no other order', async () => {
    const shop = await open();
    await shop.read(
      {
        orders: [
          mira('2', { placedAt: '2025-05-06T00:00:00Z' }),
          mira('1'),
          order('nobody', { placedAt: '2025-05-05T10:00:00Z' }),
        ],
      },
      { uri: 'file:///1.csv' },
    );
    await shop.read(
      { orders: [mira('july', { placedAt: '2025-07-07T00:00:00Z' })] },
      { uri: 'file:///2.csv' },
    );
    await shop.read(
      { orders: [order('organic', { placedAt: '2025-05-07T00:00:00Z' })] },
      { uri: 'file:///3.csv' },
    );
    await shop.attribute({ codes: MIRA, start: START });
    await sql`update intake.attributions set decided_at = '2026-01-01' where job = ${shop.job}`.execute(
      shop.db,
    );
    expect(await decisions(shop)).toEqual(
      ['1', '2', 'july', 'nobody', 'organic'].map((id) => `${id}: excluded before_start`),
    );
    // As if no run of the job had decided anything yet.
    await sql`delete from intake.revenue_rules where job = ${shop.job}`.execute(shop.db);
    const changedFiles = await watchFiles(shop);
    const { id } = await shop.plan();
    expect(await shop.start(id)).toEqual({ kind: 'started' });
    // Reports compare the files of these orders again.
    expect(await changedFiles()).toEqual(['file:///1.csv']);
    expect(
      (await sql`select revenue from intake.revenue_rules where job = ${shop.job}`.execute(shop.db)).rows,
    ).toEqual([{ revenue: 'total' }]);
    expect((await entries(shop)).map(({ order_id, state }) => [order_id, state])).toEqual([
      ['1', 'ready'],
      ['2', 'ready'],
    ]);
    const { rows } = await sql`
      select a.order_id, a.outcome, a.reason, a.matched_by, a.matched_value, a.target, a.deal_id, a.collab_id, a.influencer_handle, a.amount::float8 as amount,
        a.currency, a.brand_id, a.is_pending, a.rules_hash, a.decided_at > '2026-01-01' as "isNew", e.order_id as entry_of, e.backfill_id
      from intake.attributions a left join ledger.entries e using (entry_id) where a.job = ${shop.job} order by 1`.execute(
      shop.db,
    );
    const credited = {
      outcome: 'attributed',
      reason: null,
      matched_by: 'code',
      matched_value: 'MIRA',
      target: 'deal:D1',
      deal_id: 'D1',
      influencer_handle: 'mira',
      amount: 10,
      currency: 'EUR',
      brand_id: shop.rules.brandId,
      is_pending: false,
      backfill_id: id,
      collab_id: null,
      rules_hash: BACKFILL_RULES,
      isNew: true,
    };
    expect(rows).toEqual([
      { ...credited, order_id: '1', entry_of: '1' },
      { ...credited, order_id: '2', entry_of: '2' },
      expect.objectContaining({ order_id: 'july', outcome: 'excluded', entry_of: null, isNew: false }),
      expect.objectContaining({
        order_id: 'nobody',
        outcome: 'excluded',
        reason: 'before_start',
        entry_of: null,
      }),
      expect.objectContaining({ order_id: 'organic', outcome: 'excluded', entry_of: null, isNew: false }),
    ]);
    expect(await findUnfinished(shop.db, shop.job)).toMatchObject({
      backfillId: id,
      state: 'running',
      approvedBy: 'jane',
      requestsPerSecond: 2.5,
      concurrency: 3,
    });
    expect(await shop.start(id), 'again').toEqual({ kind: 'not_planned' });
    expect(await shop.groups()).toEqual(['2025-05 organic -: 2, 20 EUR', '2025-05 waiting -: 2, 20 EUR']);
  });

  test('is started by one of two processes that start it at the same time', async () => {
    const shop = await open();
    await shop.read({ orders: [mira('1')] });
    await shop.attribute({ codes: MIRA, start: START });
    await shop.read({ orders: [mira('1', { total: '12.00', currency: 'USD' })] });
    const { id } = await shop.plan();
    const both = await Promise.all([shop.start(id), shop.start(id)]);
    expect(both.map(({ kind }) => kind).toSorted()).toEqual(['not_planned', 'started']);
    const { rows } = await sql`
      select a.amount::float8 as amount, a.currency, o.total::float8 as total
      from intake.attributions a join intake.orders o using (order_version_id) where a.job = ${shop.job}`.execute(
      shop.db,
    );
    expect(rows, 'as the newest export states it').toEqual([{ amount: 12, currency: 'USD', total: 12 }]);
  });

  test('must be approved anew if an order is added, gone or other: it says how many, with three examples and the files', async () => {
    const shop = await open();
    const four = ['a1', 'a2', 'a3', 'a4'];
    await shop.read(
      { orders: [...four.map((id) => mira(id)), mira('b'), mira('c')] },
      { uri: 'file:///1.csv' },
    );
    const { id } = await shop.plan();
    await shop.read(
      {
        orders: [
          ...four.map((one) => mira(one, { total: '11.00' })),
          mira('b', { cancelledAt: '2025-05-07T00:00:00Z' }),
          mira('d'),
        ],
      },
      { uri: 'file:///2.csv' },
    );
    expect(await shop.start(id)).toEqual({
      kind: 'changed',
      changes: {
        more: { orders: 1, examples: ['d'] },
        fewer: { orders: 1, examples: ['b'] },
        other: { orders: 4, examples: ['a1', 'a2', 'a3'] },
        files: ['file:///2.csv'],
      },
    });
    expect(await entries(shop)).toEqual([]);
    expect(await stateOf(shop)).toEqual([[id, 'planned']]);
  });
});

describe('a backfill that ends', () => {
  test('gives back what it has not posted: the job leaves these orders to backfills again', async () => {
    const shop = await open();
    await shop.read({ orders: ['1', '2', '3', '4', '5'].map((id) => mira(id)) }, { uri: 'file:///1.csv' });
    await shop.read(
      { orders: [mira('july', { placedAt: '2025-07-07T00:00:00Z' })] },
      { uri: 'file:///2.csv' },
    );
    await shop.attribute({ codes: MIRA, start: START });
    const { id } = await shop.plan();
    await shop.start(id);
    await sql`
      update ledger.entries set attempt = 1, state = case order_id when '1' then 'accepted' else 'sending' end,
        deal_id = case order_id when '1' then 'D1' end, owner = case order_id when '2' then gen_random_uuid() end
      where job = ${shop.job} and order_id in ('1', '2')`.execute(shop.db);
    const evident = { state: 'held', state_reason: 'evidence_of_another_poster' } as const;
    await shop.db
      .updateTable('ledger.entries')
      .set(evident)
      .where('job', '=', shop.job)
      .where('order_id', '=', '5')
      .execute();
    // As if a run had decided about it meanwhile, and had not proposed it yet.
    await sql`update intake.attributions set is_pending = true where job = ${shop.job} and order_id = '3'`.execute(
      shop.db,
    );
    // That source has an order of the backfill, too.
    await sql`update intake.attributions set source = 'web' where job = ${shop.job} and order_id = '3'`.execute(
      shop.db,
    );
    // Another job has decided about the same orders, and another source states one of these ids.
    await sql`
      insert into intake.attributions (job, source, order_id, order_version_id, outcome, amount, currency, is_pending, rules_hash)
      select other.job, other.source, order_id, order_version_id, 'organic', amount, currency, false, rules_hash
      from intake.attributions a,
        lateral (values (${`another ${shop.job}`}, a.source), (a.job, 'web')) other(job, source)
      where a.job = ${shop.job} and order_id = '4'`.execute(shop.db);
    const changedFiles = await watchFiles(shop);
    const end = (from: 'running' | 'paused') =>
      endBackfill(shop.db, id, { job: shop.job, start: START, from: [from], to: 'cancelled' });
    expect([await end('paused'), await end('running'), await end('running')]).toEqual([false, true, false]);
    expect(await changedFiles()).toEqual(['file:///1.csv']);
    const held = { state: 'held', state_reason: 'backfill_cancelled' };
    const of = async () => {
      const { rows } = await sql`
        select e.order_id, e.state, e.state_reason, e.backfill_id is not null as is_of_backfill, a.outcome, a.reason, a.is_pending
        from ledger.entries e join intake.attributions a using (entry_id) where e.job = ${shop.job} order by 1`.execute(
        shop.db,
      );
      return rows;
    };
    const left = {
      ...held,
      is_of_backfill: false,
      outcome: 'excluded',
      reason: 'before_start',
      is_pending: false,
    };
    expect(await of()).toMatchObject([
      { state: 'accepted', is_of_backfill: false, outcome: 'attributed' },
      // Its answer is still to come.
      { state: 'sending', is_of_backfill: true, outcome: 'attributed' },
      left,
      left,
      // What it was held for is what a person decides.
      { ...evident, is_of_backfill: false, outcome: 'attributed' },
    ]);
    await releaseEnded(shop.db, { job: shop.job, start: START });
    expect(await of()).toMatchObject([{}, { state: 'sending', is_of_backfill: true }, left, left, {}]);
    await sql`update ledger.entries set state = 'in_doubt', owner = null, doubtful_attempt = 1, state_reason = 'timeout'
      where job = ${shop.job} and state = 'sending'`.execute(shop.db);
    await releaseEnded(shop.db, { job: shop.job, start: START });
    expect(await of()).toMatchObject([
      {},
      { state: 'in_doubt', is_of_backfill: false, outcome: 'attributed' },
      left,
      left,
      {},
    ]);
    const { rows: untouched } = await sql`
      select outcome, reason from intake.attributions where order_id = '4' and (job = ${`another ${shop.job}`} or (job = ${shop.job} and source = 'web'))`.execute(
      shop.db,
    );
    expect(untouched).toEqual(Array(2).fill({ outcome: 'organic', reason: null }));
    // A plan may take them again.
    expect(await shop.groups()).toContain('2025-05 to_post -: 2, 20 EUR');
  });

  test('is paused, continued and cancelled by people only in the states that allow it, and says what becomes of its orders', async () => {
    const shop = await open();
    const { db, job } = shop;
    await shop.read({
      orders: ['1', '2', '3', '4', '5', '6'].map((id) => mira(id)),
      rejected: [rejection(2)],
    });
    await shop.attribute({ codes: MIRA, start: START });
    const plan = await shop.plan();
    const { id } = plan;
    expect(await readBackfillProgress(db, { backfillId: id, job, plan: plan.plan })).toEqual({
      planned: 6,
      accepted: 0,
      toPost: 6,
      rejected: 0,
      inDoubt: 0,
      held: 0,
      amounts: [],
      answersLastMinute: 0,
      process: null,
    });
    const records: unknown[] = [];
    const audit = async (record: unknown) => {
      records.push(record);
      return String(records.length);
    };
    const config = configOf(job);
    await sql`insert into ops.account (account_id) values (${ACCOUNT})`.execute(db);
    const change = { backfillId: id, reason: 'because', audit };
    const does = (changing: (trx: DatabaseTransaction) => Promise<{ readonly kind: string }>) =>
      inTransaction(db, changing);
    const pause = () => does((trx) => pauseBackfill(trx, change));
    const resume = () => does((trx) => resumeBackfill(trx, change));
    const goOn = () => does((trx) => continueBackfill(trx, change));
    const cancel = () => does((trx) => cancelBackfill(trx, { ...change, config }));
    const no = { kind: 'does_not_apply', backfill: { backfillId: id, state: 'planned' } };
    expect([await pause(), await resume(), await goOn()]).toMatchObject([no, no, no]);
    expect(await does((trx) => pauseBackfill(trx, { ...change, backfillId: '0' }))).toEqual({
      kind: 'unknown',
    });
    expect(records).toEqual([]);

    const approved = await inTransaction(db, (trx) =>
      approveBackfill(trx, {
        ...change,
        rules: shop.rules,
        runId: shop.runId,
        approvedBy: 'jane',
        requestsPerSecond: null,
        concurrency: null,
        orderNotes: 'ours',
      }),
    );
    expect(approved).toEqual({ kind: 'started' });
    expect(await resume()).toMatchObject({ kind: 'does_not_apply' });
    const summary = `Backfill ${id} is paused.`;
    expect(await pause()).toMatchObject({ kind: 'changed', auditId: '2', summary });
    expect(await pause()).toMatchObject({ kind: 'does_not_apply' });
    expect(await resume(), 'nobody would post').toMatchObject({ kind: 'no_process' });
    await sql`insert into ops.leases (name, owner, expires_at, host, pid)
      values ('job:backfill:another', gen_random_uuid(), clock_timestamp() + interval '1 hour', 'there', 6),
        (${`job:backfill:${job}`}, gen_random_uuid(), clock_timestamp() + interval '1 hour', 'here', 7)`.execute(
      db,
    );
    expect(await resume()).toMatchObject({ summary: `Backfill ${id} continues in process 7 on here.` });
    expect(await goOn()).toMatchObject({ summary: `Backfill ${id} continues in a new process.` });
    const runId = await beginRun(db, { job: `backfill:${job}`, kind: 'backfill' });
    await sql`
      update ledger.entries set attempt = 1, deal_id = case order_id when '1' then 'D1' end, owner = case order_id when '2' then gen_random_uuid() end,
        state = case order_id when '1' then 'accepted' when '2' then 'sending' when '3' then 'rejected' else 'in_doubt' end,
        doubtful_attempt = case order_id when '5' then 1 end,
        state_reason = case order_id when '3' then 'no such deal' when '5' then 'timeout' end
      where job = ${job} and order_id in ('1', '2', '3', '5')`.execute(db);
    // Another process had sent that order before, and a person approved the second attempt.
    await sql`update ledger.entries set attempt = 2, doubtful_attempt = 2, resends_approved = 1 where job = ${job} and order_id = '5'`.execute(
      db,
    );
    await sql`update ledger.entries set state = 'held', state_reason = 'evidence_of_another_poster' where job = ${job} and order_id = '6'`.execute(
      db,
    );
    const told = async (runId = shop.runId) => describeUnposted(db, runId);
    expect(await told(), 'this process sent none of them').toBeNull();
    await sql`
      insert into ledger.attempts (entry_id, attempt, claim_id, owner, run_id, body_hash)
      select entry_id, attempt, gen_random_uuid(), gen_random_uuid(), ${runId}::bigint, body_hash from ledger.entries
      where job = ${job} and attempt > 0
      union all
      select entry_id, 1, gen_random_uuid(), gen_random_uuid(), ${shop.runId}::bigint, body_hash from ledger.entries
      where job = ${job} and attempt = 2`.execute(db);
    expect([await told(), await told(runId)]).toEqual([null, 'An order is in doubt: timeout.']);
    expect(await reportBackfill(db, runId)).toEqual({
      counts: {
        files: 0,
        rows: 0,
        rejected_rows: 0,
        planned: null,
        entries: { accepted: 1, rejected: 1, in_doubt: 1 },
      },
      amounts: [{ currency: 'EUR', accepted: '10.0000' }],
    });
    expect(await reportBackfill(db, shop.runId)).toMatchObject({
      counts: { files: 1, rows: 8, rejected_rows: 2, planned: 6, entries: { accepted: 0, in_doubt: 0 } },
      amounts: [],
    });
    const backfill = { backfillId: id, job, plan: plan.plan };
    const parts = { planned: 6, accepted: 1, toPost: 2, rejected: 1, inDoubt: 1, held: 1 };
    const amounts = [{ currency: 'EUR', accepted: '10.0000' }];
    const process = { host: 'here', pid: 7 };
    expect(await readBackfillProgress(db, backfill)).toEqual({
      ...parts,
      amounts,
      process,
      answersLastMinute: 4,
    });
    // Of more orders than that, only the number is read.
    for (const [sumUpTo, shown] of [
      [1, null],
      [2, amounts],
    ] as const)
      expect(await readBackfillProgress(db, backfill, { sumUpTo })).toMatchObject({
        ...parts,
        amounts: shown,
      });
    // If none is being sent, nothing is said of it.
    await unlessDryRun(db, true, async (trx) => {
      await sql`
        update ledger.entries set state = 'held', state_reason = 'x', owner = null
        where job = ${job} and state in ('ready', 'sending')`.execute(trx);
      const unrecorded = { ...change, audit: async () => '0', config };
      expect(await cancelBackfill(trx, unrecorded)).toMatchObject({
        summary: `Backfill ${id} is cancelled: 1 order posted. 3 orders were not posted and return to their earlier state.`,
      });
    });
    expect(await cancel()).toMatchObject({
      summary: `Backfill ${id} is cancelled: 1 order posted. 2 orders were not posted and return to their earlier state. 1 order is being sent, and the answers count.`,
    });
    expect((await decisions(shop))[3]).toBe('4: excluded before_start MIRA');
    await sql`update ledger.entries set state = 'written_off' where job = ${job} and order_id = '5'`.execute(
      db,
    );
    expect(await told(runId)).toBe('The service refused an order: no such deal.');
    await sql`update ledger.entries set state = 'in_doubt' where job = ${job} and order_id = '5'`.execute(db);
    expect(await readBackfillProgress(db, backfill), 'what it gave back counts too').toMatchObject({
      ...parts,
      toPost: 1,
      held: 2,
      amounts,
    });
    expect(await cancel()).toMatchObject({ kind: 'does_not_apply' });
    const { id: unstarted } = await shop.plan();
    // Also of a job that the configuration does not have any more.
    const without = { ...config, jobs: {} };
    expect(
      await does((trx) => cancelBackfill(trx, { ...change, backfillId: unstarted, config: without })),
    ).toMatchObject({
      summary: `Backfill ${unstarted} is cancelled: 0 orders posted. 1 order was not posted and returns to its earlier state.`,
    });
    const said = { subjectKind: 'backfill', subject: id, reason: 'because' };
    const move = (before: string, after: string) => ({ before: { state: before }, after: { state: after } });
    expect(records).toMatchObject([
      {
        ...said,
        ...move('planned', 'running'),
        action: 'approve_backfill',
        summary: `The plan of backfill ${id} is executed: 6 orders to post.`,
      },
      { ...said, ...move('running', 'paused'), action: 'pause_backfill', summary },
      { ...said, ...move('paused', 'running'), action: 'resume_backfill' },
      { ...said, ...move('running', 'running'), action: 'resume_backfill' },
      { ...said, ...move('running', 'cancelled'), action: 'cancel_backfill' },
      { ...said, subject: unstarted, ...move('planned', 'cancelled'), action: 'cancel_backfill' },
    ]);
  });

  test('leaves to the runs what the job credits by now, because it starts earlier or has no start', async () => {
    for (const start of [null, { ...START, day: '2025-05-05' }]) {
      const shop = await open();
      await shop.read({ orders: [mira('1')] });
      const { id } = await shop.plan();
      await shop.start(id);
      await endBackfill(shop.db, id, { job: shop.job, start, from: ['running'], to: 'done' });
      expect(await decisions(shop)).toEqual(['1: attributed code MIRA → deal:D1']);
    }
  });

  test('tells why it was paused, and forgets it when it goes on', async () => {
    const shop = await open();
    const { id } = await shop.plan();
    await shop.start(id);
    const problem = async () => (await readBackfill(shop.db, id))?.problem;
    expect(await moveBackfill(shop.db, id, { from: ['planned'], to: 'paused' })).toBe(false);
    expect(await moveBackfill(shop.db, id, { from: ['running'], to: 'paused', problem: 'no key' })).toBe(
      true,
    );
    expect(await problem()).toBe('no key');
    expect(await findUnfinished(shop.db, shop.job)).toMatchObject({ state: 'paused' });
    expect(await moveBackfill(shop.db, id, { from: ['paused'], to: 'running' })).toBe(true);
    expect(await problem()).toBeNull();
  });
});
