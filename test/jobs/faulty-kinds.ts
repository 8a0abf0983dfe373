import { join } from 'node:path';
import { sql } from 'kysely';
import { findJob, loadConfig } from '../../jobs/index.ts';
import { KnownError } from '../../src/core/known-error.ts';
import { describeStop, runJob } from '../../src/runs/run-job.ts';
import { createClient } from '../../src/service/client.ts';
import type { OperationName } from '../../src/service/contract.ts';
import { openSourceClients } from '../../src/store/source-clients.ts';
import { manyRows, toCsv, type Workshop } from '../runs/workshop.ts';
import { HISTORY_FLOW, PERIOD, toHistory, twoYears } from './attribute-orders/backfill/history.ts';
import { HASH_KEY, manyEmails, queuedAt, toCustomers } from './identify-customers/story.ts';
import { clicksCsv } from './post-clicks/story.ts';
import { idOf } from './submit-outreach/story.ts';

type Counts = Readonly<Record<string, number>>;

/** The result of a run as the table compares it. */
export type Ran = {
  readonly exitCode: number;
  readonly sumsAddUp: boolean;
  /** What the run says about work that is not done. Empty if it says nothing. */
  readonly said: string;
  /** Null if the run failed before it counted. */
  readonly counts: Counts | null;
};

/** The kinds of faults that make a difference to a run. */
export type FaultKind =
  | 'unclear'
  | 'says_no'
  | 'too_large'
  | 'few'
  | 'late'
  | 'no_key'
  | 'refused'
  | 'not_found';

/** A kind of job with a few tasks, in a workshop of its own. The job is named `job`. */
export type FaultyKind = {
  /** `sources:` and `jobs:`. */
  readonly flow: string;
  /** The account of the sandbox, if it is not that of the workshop. */
  readonly account?: string;
  /** Lines of `api:`. */
  readonly api?: string;
  /** The operations that fail. `account_hello` always works: without it, no run begins. */
  readonly operations: readonly OperationName[];
  /** Exit codes under faults, and those of the next run without a fault if it is not 0. */
  readonly exits: Readonly<Record<FaultKind, number>>;
  readonly exitsAfter: Partial<Readonly<Record<FaultKind, number>>>;
  /** True to try every fault. By default one of each kind is tried. */
  readonly hasEveryFault?: boolean;
  prepare(shop: Workshop): Promise<void> | void;
  /** Runs the job. By default with `runOnce`. */
  run?(shop: Workshop): Promise<Ran>;
  /** The tasks that a run counts, and those of them that are open, in doubt or refused. */
  readonly tasks: number;
  count(counts: Counts): { readonly all: number; readonly open: number };
  /** What has reached the service, or the mirror of it, repeats included: `goal` different texts once all is done. */
  readonly goal: number;
  seen(shop: Workshop): Promise<readonly string[]>;
};

/** Entries of the ledger: what is unclear stays in doubt, and what was refused stays refused. */
const OF_THE_LEDGER = {
  exits: { unclear: 6, says_no: 6, too_large: 6, few: 6, late: 1, no_key: 4, refused: 3, not_found: 3 },
  exitsAfter: { unclear: 6, says_no: 6, too_large: 6, few: 6, refused: 3, not_found: 3 },
} as const;

/** An account with outreaches. */
const DEMO_ACCOUNT = new URL('../../config/demo/sandbox.yaml', import.meta.url).pathname;

const sum = (...counts: readonly (number | undefined)[]): number =>
  counts.reduce<number>((all, one) => all + (one ?? 0), 0);

const part = (counts: Counts, name: string): Counts => counts[name] as unknown as Counts;

async function logOf(shop: Workshop, log: string): Promise<readonly Record<string, unknown>[]> {
  const text = await (await fetch(`${shop.sandbox.url}/_sandbox/log/${log}`)).text();
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** Each kind of job by its name, and `backfill`, the other way to post orders. */
export const faultyKinds: Readonly<Record<string, FaultyKind>> = {
  'attribute-orders': {
    ...OF_THE_LEDGER,
    flow: `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  job: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
`,
    operations: ['new_influencer_referral'],
    hasEveryFault: true,
    prepare: (shop) => shop.drop('1.csv', toCsv(manyRows(6))),
    tasks: 6,
    count(counts) {
      const { ready, in_doubt, rejected, held, ...done } = part(counts, 'entries');
      const open = sum(ready, in_doubt, rejected, held);
      return { all: sum(open, ...Object.values(done)), open };
    },
    goal: 6,
    seen: (shop) => shop.posted(),
  },

  backfill: {
    ...OF_THE_LEDGER,
    // It goes on for as long as the service asks to slow down, which it does twelve times.
    exits: { ...OF_THE_LEDGER.exits, late: 0 },
    flow: HISTORY_FLOW.replace('  orders:', '  job:'),
    api: 'timeout_seconds: 1',
    operations: ['new_influencer_referral'],
    prepare(shop) {
      const orders = twoYears(6).map((order) => ({ ...order, code: 'MIA10', status: 'paid' }));
      shop.drop('1.csv', toHistory(orders));
    },
    async run(shop) {
      const { rows: paused } = await sql`select from ops.backfills where state = 'paused'`.execute(shop.db);
      const args = paused.length > 0 ? ['resume'] : ['job', ...PERIOD, '--yes'];
      const { exitCode, stdout, stderr } = await shop.cli('backfill', ...args, '--json');
      const { rows } = await sql<{ state: string; entries: string }>`
        select state, count(*) as entries from ledger.entries group by state`.execute(shop.db);
      const counts = Object.fromEntries(rows.map(({ state, entries }) => [state, Number(entries)]));
      return { exitCode: exitCode ?? -1, sumsAddUp: true, said: stdout + stderr, counts };
    },
    tasks: 6,
    count: ({ accepted, ...others }) => ({
      all: sum(accepted, ...Object.values(others)),
      open: sum(...Object.values(others)),
    }),
    goal: 6,
    seen: (shop) => shop.posted(),
  },

  'identify-customers': {
    flow: `
customers: {hash_key: ${HASH_KEY}}
sources:
  shop: {uri: ./exports/, layout: generic-customers, consent: not_recorded}
jobs:
  job: {kind: identify-customers, source: shop, brand_id: 4819, lookup: {budget: 6}}
`,
    operations: ['identify_influencers', 'identify_influencers_real_time'],
    hasEveryFault: true,
    exits: { unclear: 1, says_no: 2, too_large: 2, few: 1, late: 1, no_key: 4, refused: 2, not_found: 2 },
    exitsAfter: {},
    prepare: (shop) => shop.drop('1.csv', toCustomers(manyEmails(6))),
    tasks: 6,
    count(counts) {
      const { customers, waiting, refused } = counts;
      const { to_ask } = part(counts, 'lookups');
      return { all: sum(customers), open: sum(waiting, refused, to_ask) };
    },
    goal: 12,
    async seen(shop) {
      // A refusal is an answer too.
      const { rows } = await sql<{ said: string }>`
        select 'look-up of ' || customer_hash as said from intake.lookups`.execute(shop.db);
      return [...(await queuedAt(shop.sandbox.url)), ...rows.map(({ said }) => said)];
    },
  },

  'mirror-account': {
    flow: `
sources: {}
jobs:
  job: {kind: mirror-account, refresh_after_hours: 0, autocomplete: false}
`,
    operations: ['search_brands', 'search_dealflows', 'get_deal_details'],
    hasEveryFault: true,
    exits: { unclear: 3, says_no: 3, too_large: 3, few: 3, late: 3, no_key: 4, refused: 3, not_found: 3 },
    exitsAfter: {},
    prepare: async (shop) => {
      await sql`
        insert into mirror.known_deals (deal_id, first_way, ways)
        select id, 'codes', '{codes}' from unnest('{DEALMIA,DEALBEN,DEALZOE}'::text[]) as d(id)`.execute(
        shop.db,
      );
    },
    tasks: 3,
    count: ({ deals_known, deals_stale, deals_unread, deals_failing }) => ({
      all: sum(deals_known),
      open: sum(deals_stale, deals_unread, deals_failing),
    }),
    goal: 5,
    async seen(shop) {
      const { rows } = await sql<{ said: string }>`
        select 'deal ' || deal_id as said from mirror.deals where not is_deleted
        union all select 'brand ' || brand_id from mirror.brands where not is_deleted
        union all select 'dealflow ' || dealflow_id from mirror.dealflows where not is_deleted`.execute(
        shop.db,
      );
      return rows.map(({ said }) => said);
    },
  },

  'post-clicks': {
    ...OF_THE_LEDGER,
    flow: `
sources:
  links: {uri: ./exports/, layout: generic-clicks, time_zone: Europe/Amsterdam}
jobs:
  job: {kind: post-clicks, source: links, brand_id: 4819, codes: ./codes.csv}
`,
    operations: ['new_influencer_click'],
    prepare(shop) {
      const days = [1, 2, 3, 4, 5, 6].map((day) => [`2026-04-0${day}`, 'bit.ly/MIA10', day] as const);
      shop.drop('1.csv', clicksCsv(days));
    },
    tasks: 21,
    count: ({ posted, already, ready, refused, in_doubt }) => ({
      all: sum(posted, already, ready, refused, in_doubt),
      open: sum(ready, refused, in_doubt),
    }),
    goal: 6,
    seen: async (shop) => (await logOf(shop, 'clicks')).map(({ increase_clicks }) => String(increase_clicks)),
  },

  'submit-outreach': {
    ...OF_THE_LEDGER,
    flow: `
sources: {}
jobs:
  job: {kind: submit-outreach, brand_id: 4819, outreach_id: O_SPRING1, platform: instagram, credits: 40, batch_size: 1, approve: true}
`,
    account: DEMO_ACCOUNT,
    operations: ['submit_influencers'],
    async prepare({ db }) {
      await sql`
        insert into ops.runs (job, kind, status, host, pid, finished_at, exit_code)
        values ('customers', 'identify-customers', 'ok', 'test', 1, now(), 0)`.execute(db);
      const ids = [0, 1, 2, 3, 4, 5].map((place) => idOf(place));
      await sql`
        insert into intake.customers (customer_hash, brand_id, source)
        select md5(id)::uuid, '4819', 'shop' from unnest(${ids}::text[]) as i(id)`.execute(db);
      await sql`
        insert into intake.lookups (customer_hash, brand_id, outcome, platform, user_id, username, run_id)
        select md5(id)::uuid, '4819', 'influencer', 'instagram', id, id, (select max(run_id) from ops.runs)
        from unnest(${ids}::text[]) as i(id)`.execute(db);
    },
    tasks: 6,
    count: ({ candidates, ready, refused, in_doubt }) => ({
      all: sum(candidates),
      open: sum(ready, refused, in_doubt),
    }),
    goal: 6,
    seen: async (shop) =>
      (await logOf(shop, 'submissions')).flatMap(
        ({ body }) => (body as { influencer_ids: readonly string[] }).influencer_ids,
      ),
  },

  'import-deals': {
    flow: `
sources:
  list: {uri: ./exports/, layout: generic-creators}
jobs:
  account: {kind: mirror-account, autocomplete: false}
  job: {kind: import-deals, source: list, brand_id: 4819, dealflow_id: D_TEST}
`,
    operations: ['get_deal_details', 'create_deal', 'create_note', 'update_dealstage', 'update_deal_info'],
    hasEveryFault: true,
    // Without a look-up no deal is created, so that nothing is in doubt.
    exits: { unclear: 1, says_no: 1, too_large: 1, few: 6, late: 1, no_key: 4, refused: 1, not_found: 3 },
    exitsAfter: { few: 6, not_found: 3 },
    async prepare(shop) {
      const rows = ['ann', 'bob', 'cy'].map((name) => `${name}.test,instagram,2,inactive,about ${name}`);
      shop.drop('1.csv', `handle,platform,stage,status,note\n${rows.join('\n')}\n`);
      const { exitCode, said } = await runOnce(shop, 'account');
      if (exitCode !== 0) throw new Error(`the mirror failed: ${said}`);
    },
    tasks: 3,
    count: (of) => ({
      all: sum(of.creators),
      open: sum(of.to_create, of.refused, of.in_doubt, of.held, of.notes_waiting, of.updates_waiting),
    }),
    // The stages of new deals are part of their creation.
    goal: 9,
    async seen(shop) {
      const requests = (await logOf(shop, 'requests')).filter(({ processed }) => processed === true);
      const times = (operation: string) =>
        requests
          .flatMap((line) => (line.operation === operation ? [operation] : []))
          .map((one, index) => `${one} ${index}`);
      // Stages and statuses may be repeated.
      const updates = ['update_dealstage', 'update_deal_info'].flatMap((operation) =>
        times(operation).slice(0, 3),
      );
      return [...times('create_deal'), ...times('create_note'), ...updates];
    },
  },

  'tell-corrections': {
    ...OF_THE_LEDGER,
    flow: `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: UTC}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819}
  job: {kind: tell-corrections, of: orders, as: note, from: 2026-01-01}
`,
    account: DEMO_ACCOUNT,
    operations: ['create_note'],
    async prepare(shop) {
      const deals = ['ETUNQ6ZTW1', 'HB4XV09KQM', 'QW7PLD2E5A', 'ZR81MTC6UY', 'VN3KJ5OX8S', 'LC60YBGF4D'];
      for (const status of ['paid', 'cancelled']) {
        const rows = deals.map((deal) => `for ${deal},10.00,EUR,${deal},2026-04-10T11:11:26Z,${status}`);
        const header = 'order_id,order_revenue,currency,deal_id,placed_at,status';
        shop.drop(`orders-${status === 'paid' ? 1 : 2}.csv`, `${[header, ...rows].join('\n')}\n`);
        const { exitCode, said } = await runOnce(shop, 'orders');
        if (exitCode !== 0) throw new Error(`the orders were not posted: ${said}`);
      }
    },
    tasks: 6,
    count: ({ corrections, ready, refused, in_doubt }) => ({
      all: sum(corrections),
      open: sum(ready, refused, in_doubt),
    }),
    goal: 6,
    seen: async (shop) =>
      (await logOf(shop, 'requests')).flatMap(({ processed, operation }, index) =>
        processed === true && operation === 'create_note' ? [`${operation} ${index}`] : [],
      ),
  },

  // It asks the service nothing.
  'delete-data': {
    flow: `
customers: {hash_key: ${HASH_KEY}}
sources:
  requests: {uri: ./exports/, layout: generic-customers}
jobs:
  job: {kind: delete-data, source: requests}
`,
    operations: [],
    exits: { unclear: 0, says_no: 0, too_large: 0, few: 0, late: 0, no_key: 0, refused: 0, not_found: 0 },
    exitsAfter: {},
    prepare: (shop) => shop.drop('1.csv', toCustomers(manyEmails(2))),
    tasks: 2,
    count: ({ forgotten, forgotten_before, postponed, unreadable }) => ({
      all: sum(forgotten, forgotten_before, postponed, unreadable),
      open: sum(postponed, unreadable),
    }),
    goal: 0,
    seen: async () => [],
  },
};

/** A request without an answer is given up after this. */
const PATIENCE_MS = { short: 300, usual: 30_000 };

/**
 * Runs a job of a workshop in this process. An error that ends the run is its result.
 *
 * @param options.isImpatient the service does not answer, and the test does not wait for it.
 */
export async function runOnce(shop: Workshop, name = 'job', { isImpatient = false } = {}): Promise<Ran> {
  const config = loadConfig(join(shop.folder, 'pipeline.yaml'), shop.env);
  const { job, kind } = findJob(config, name);
  const client = createClient({
    url: shop.sandbox.url,
    key: shop.sandbox.key,
    connections: config.api.concurrency,
    timeoutMs: isImpatient ? PATIENCE_MS.short : PATIENCE_MS.usual,
    connectTimeoutMs: 5_000,
  });
  const sourceClients = openSourceClients();
  try {
    const { finished, exitCode, stop, report } = await runJob({
      config,
      job,
      kind,
      db: shop.db,
      client,
      sourceClients,
      options: { limit: null, file: null, allowEmpty: false },
      progress: { begin() {}, advance() {}, note() {}, end() {} },
      draining: new AbortController().signal,
    });
    const isToBeSeen = report.doubts > 0 || report.needsAttention;
    const said = [
      stop === null ? '' : describeStop(stop),
      isToBeSeen ? JSON.stringify(report.details) : '',
    ].join('');
    return { exitCode, sumsAddUp: report.sumsAddUp, said, counts: finished.counts as unknown as Counts };
  } catch (error) {
    if (!(error instanceof KnownError)) throw error;
    const { exitCode, message } = error.details;
    return { exitCode, sumsAddUp: true, said: message, counts: null };
  } finally {
    sourceClients.close();
    await client.close();
  }
}
