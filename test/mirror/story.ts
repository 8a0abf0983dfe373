import { join } from 'node:path';
import { sql } from 'kysely';
import { mirrorAccount } from '../../jobs/mirror-account/index.ts';
import type { MirrorReport } from '../../jobs/mirror-account/report.ts';
import type { MirrorAccountSettings } from '../../jobs/mirror-account/settings.ts';
import type { PipelineConfig } from '../../src/config/schema.ts';
import type { RunFinished } from '../../src/core/run.ts';
import type { Database } from '../../src/db/connect.ts';
import { type RunJobOptions, type RunResult, runJob } from '../../src/runs/run-job.ts';
import { createClient } from '../../src/service/client.ts';
import { specifiedService } from '../../src/service/description/schema.ts';
import { openSourceClients } from '../../src/store/source-clients.ts';
import { DEFAULT_TIMING } from '../support/default-timing.ts';
import { type Stage, setup } from '../support/setup.ts';
import { type StubService, startStubService } from './stub-service.ts';

export type MirrorRun = Omit<RunResult, 'report' | 'finished'> & {
  readonly report: MirrorReport;
  readonly finished: RunFinished<MirrorReport>;
};

export type Story = Stage & {
  readonly service: StubService;
  /** Runs, or plans, the job once in this process. */
  run(
    settings?: Partial<MirrorAccountSettings>,
    openSpread?: OpenSpread,
    draining?: AbortSignal,
  ): Promise<MirrorRun>;
  plan(settings?: Partial<MirrorAccountSettings>): Promise<MirrorRun>;
};

type OpenSpread = RunJobOptions<MirrorAccountSettings>['openSpread'];

/** No autocomplete, and everything is due in every run. A test adds what it needs. */
export const SETTINGS: MirrorAccountSettings = {
  name: 'mirror',
  kind: 'mirror-account',
  ...DEFAULT_TIMING,
  sources: [],
  budget: 10_000,
  autocompleteBudget: 0,
  refreshAfterHours: 0,
  collaborations: true,
};

/** Opens a database and a service whose answers the test decides. */
export async function openStory(): Promise<Story> {
  const stage = await setup();
  const service = await startStubService();
  const story = { ...stage, service };
  return {
    ...story,
    run: (settings, openSpread, draining) =>
      perform(story, { ...SETTINGS, ...settings }, { isPlan: false, openSpread, draining }),
    plan: (settings) => perform(story, { ...SETTINGS, ...settings }, { isPlan: true }),
  };
}

async function perform(
  { db, folder, service }: Stage & { readonly service: StubService },
  job: MirrorAccountSettings,
  {
    isPlan,
    openSpread,
    draining = new AbortController().signal,
  }: {
    readonly isPlan: boolean;
    readonly openSpread?: OpenSpread;
    readonly draining?: AbortSignal | undefined;
  },
): Promise<MirrorRun> {
  const client = createClient({
    url: service.url,
    key: 'key-of-the-stub',
    connections: 8,
    timeoutMs: 20_000,
    connectTimeoutMs: 10_000,
  });
  const sourceClients = openSourceClients();
  try {
    const result = await runJob({
      config: configOf(folder, service.url, job),
      job,
      kind: mirrorAccount,
      db,
      client: isPlan ? null : client,
      sourceClients,
      options: { limit: null, file: null, allowEmpty: false },
      progress: { begin() {}, advance() {}, note() {}, end() {} },
      draining,
      openSpread,
    });
    return result as unknown as MirrorRun;
  } finally {
    sourceClients.close();
    await client.close();
  }
}

/** The configuration with which a story runs its job. */
export function configOf(folder: string, url: string, job: MirrorAccountSettings): PipelineConfig {
  return {
    path: join(folder, 'pipeline.yaml'),
    api: {
      url,
      key: 'key-of-the-stub',
      concurrency: 8,
      requestsPerSecond: 0,
      quietPeriodMinutes: 60,
      leaseSeconds: 60,
      timeoutSeconds: 20,
      description: specifiedService,
    },
    database: { url: '', dataFolder: join(folder, '.data'), statementMinutes: 15 },
    serve: { graceSeconds: 30 },
    ledger: { mark: null, stateFolder: null },
    reconcile: { ordersAbove: 0, amountAbove: '1', accountCurrency: null },
    sources: {},
    jobs: { [job.name]: job },
  } as unknown as PipelineConfig;
}

/** Makes deals known, as codes.csv does. */
export async function knowDeals(db: Database, dealIds: readonly string[]): Promise<void> {
  for (const [index, dealId] of dealIds.entries()) {
    await sql`
      insert into intake.codes (job, code_folded, code, line_no, deal_id, target)
      select 'orders', ${dealId}, ${dealId}, coalesce(max(line_no), 0) + ${index + 1}, ${dealId}, ${dealId} from intake.codes`.execute(
      db,
    );
  }
}

export type Version = {
  readonly id: string;
  readonly is_active: boolean | null;
  readonly is_current: boolean;
  readonly is_latest: boolean;
};

/** Returns the history of deals, oldest first. */
export async function dealHistory(db: Database): Promise<readonly Version[]> {
  const { rows } = await sql<Version>`
    select deal_id as id, is_active, is_current, is_latest from mirror.deal_versions order by deal_id, valid_from`.execute(
    db,
  );
  return rows;
}

/** Returns the rows of a query, for a single check in a test. */
export async function rowsOf(db: Database, query: string): Promise<readonly Record<string, unknown>[]> {
  const { rows } = await sql.raw<Record<string, unknown>>(query).execute(db);
  return rows;
}
