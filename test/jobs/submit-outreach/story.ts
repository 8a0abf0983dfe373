import { sql } from 'kysely';
import type { OutreachReport } from '../../../jobs/submit-outreach/report.ts';
import type { RunFinished } from '../../../src/core/run.ts';
import { createPopulation } from '../../../src/sandbox/search/population.ts';
import { openWorkshop, readRun, type Workshop, type WorkshopOptions } from '../../runs/workshop.ts';
import type { CliResult } from '../../support/run-cli.ts';

/** An account with the outreaches O_SPRING1 and O_GIFTING and 1,200 credits. */
const ACCOUNT = new URL('../../../config/demo/sandbox.yaml', import.meta.url).pathname;

/** An influencer among the customers, with the data that a look-up and the customer exports provide. */
export type Person = {
  readonly platform?: string;
  /** If not given, the id of the next influencer in the sandbox's population. */
  readonly userId?: string | null;
  readonly username?: string;
  readonly followers?: number | null;
  readonly isVerified?: boolean | null;
  readonly brand?: string;
  readonly orders?: number | null;
  readonly spent?: number | null;
  /** Of `spent`. Default: EUR. */
  readonly currency?: string;
  readonly withCode?: boolean | null;
  readonly isUnsubscribed?: boolean;
  /** The customer's row was deleted, as docs/customers.md describes. */
  readonly isForgotten?: boolean;
};

/** A request that the service processed. */
export type TrueSubmission = {
  readonly outreach_id: string;
  readonly added: readonly string[];
  readonly body: {
    readonly outreach_id: string;
    readonly influencer_ids: readonly string[];
    readonly platform: string;
  };
};

export type Submitted = CliResult & {
  readonly code: number | null;
  readonly counts: RunFinished<OutreachReport>['counts'];
};

export type OutreachShop = Workshop & {
  /** Adds identified customers, named c1, c2, … in the order of all calls. */
  meet(people: readonly Person[]): Promise<void>;
  /** Runs `run outreach --json`. */
  submit(...args: string[]): Promise<Submitted>;
  /** Returns the requests that the service actually processed, in order. */
  submissions(): Promise<readonly TrueSubmission[]>;
  /** Returns the ids of all influencers in processed requests, including repeats. */
  named(): Promise<readonly string[]>;
  /** Returns `n ids state`, in the order in which the entries were created. */
  entries(): Promise<readonly string[]>;
  /** Replaces the job's settings except kind, brand and outreach. */
  configure(settings: string, outreach?: string): void;
};

/** Returns the user id at the zero-based position `place` of a platform in the sandbox's population. */
export function idOf(place: number, platform: 'instagram' | 'tiktok' | 'youtube' = 'instagram'): string {
  const found = population().of(platform)[place];
  if (found === undefined) throw new Error(`the sandbox has no ${place + 1} influencers of ${platform}`);
  return found.userId;
}

let known: ReturnType<typeof createPopulation> | null = null;
function population() {
  known ??= createPopulation('1');
  return known;
}

const flowOf = (settings: string, outreach = 'O_SPRING1') => `sources: {}
jobs:
  outreach: {kind: submit-outreach, brand_id: 4819, outreach_id: ${outreach}, ${settings}}
`;

/** Opens a workshop with a job `outreach` for brand 4819 and outreach O_SPRING1. */
export async function openOutreach(
  settings = 'platform: instagram, credits: 40, approve: true',
  options: WorkshopOptions = {},
): Promise<OutreachShop> {
  const shop = await openWorkshop({
    flow: flowOf(settings),
    ...options,
    sandbox: { data: ACCOUNT, ...options.sandbox },
  });
  let people = 0;
  async function submissions(): Promise<readonly TrueSubmission[]> {
    const text = await (await fetch(`${shop.sandbox.url}/_sandbox/log/submissions`)).text();
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as TrueSubmission);
  }
  return {
    ...shop,
    // A getter, because spreading would open the database immediately.
    get db() {
      return shop.db;
    },
    async meet(met) {
      const { db } = shop;
      await sql`insert into ops.runs (job, kind, status, host, pid, finished_at, exit_code) select 'customers', 'identify-customers', 'ok', 'test', 1, now(), 0
        where not exists (select from ops.runs where job = 'customers')`.execute(db);
      const rows = met.map((person) => {
        people += 1;
        return { name: `c${people}`, user_id: idOf(people - 1), ...person };
      });
      await sql`
        insert into intake.customers (customer_hash, brand_id, source, orders_count, spent, currency, bought_with_code, is_unsubscribed)
        select md5(name)::uuid, coalesce(brand, '4819'), 'shop', orders, spent, coalesce(currency, 'EUR'), "withCode", coalesce("isUnsubscribed", false)
        from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as p(name text, brand text, orders int, spent numeric, currency text, "withCode" boolean,
          "isUnsubscribed" boolean, "isForgotten" boolean)
        where "isForgotten" is not true`.execute(db);
      await sql`
        insert into intake.lookups (customer_hash, brand_id, outcome, platform, user_id, username, followers, is_verified, run_id)
        select md5(p.name)::uuid, coalesce(p.brand, '4819'), 'influencer', coalesce(p.platform, 'instagram'),
          case when p.own ? 'userId' then p.own ->> 'userId' else p.own ->> 'user_id' end, coalesce(p.username, p.name || '.test'),
          p.followers, p."isVerified", (select run_id from ops.runs where job = 'customers')
        from (
          select r.*, o.own from jsonb_array_elements(${JSON.stringify(rows)}::jsonb) as o(own)
          cross join lateral jsonb_to_record(o.own) as r(name text, brand text, platform text, username text, followers bigint, "isVerified" boolean)
        ) p`.execute(db);
    },
    async submit(...args) {
      const run = readRun(await shop.cli('run', 'outreach', '--json', ...args));
      const counts = (run.finished as unknown as RunFinished<OutreachReport> | null)?.counts;
      return { ...run, code: run.exitCode, counts: counts as RunFinished<OutreachReport>['counts'] };
    },
    submissions,
    named: async () => (await submissions()).flatMap(({ body }) => body.influencer_ids),
    async entries() {
      const { rows } = await sql<{ said: string }>`
        select jsonb_array_length(details -> 'ids') || ' ' || state as said from ledger.entries where effect = 'outreach' order by entry_id`.execute(
        shop.db,
      );
      return rows.map(({ said }) => said);
    },
    configure(other, outreach) {
      shop.write('pipeline.yaml', `${HEAD}${flowOf(other, outreach)}`);
    },
  };
}

const HEAD = `api: {url: "\${INFLUENCER_API_URL:-}", key: "\${INFLUENCER_API_KEY:-}", requests_per_second: 0}
database: {url: "\${DATABASE_URL:-}"}
`;
