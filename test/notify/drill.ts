import { sql } from 'kysely';
import { expect } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { openWorkshop, type Workshop, type WorkshopOptions } from '../pipeline/workshop.ts';
import { backUp, openReplaceable } from '../recovery/lost-databases.ts';
import { type Receiver, SECRET, startReceiver } from './receivers.ts';

export const JOB = 'kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total';

const FLOW = `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {${JOB}}
`;

const CONSOLE = 'console: {url: "https://ops.example.com/influencers/", base_path: /influencers}\n';

/** Settings of `notify:` with the channel `ops`, which the receiver of a drill is. */
export const NOTIFY =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what pipeline.yaml says
  'notify: {channels: {ops: {kind: webhook, url: "${NOTICE_URL}", secret: "${NOTICE_SECRET}"}}}\n';

export type Drill = {
  readonly shop: Workshop;
  readonly receiver: Receiver;
  /** What the receiver was told, as `opened job_failed orders`. */
  told(): readonly string[];
};

export type DrillOptions = WorkshopOptions & {
  /** Replaces `notify:`. */
  readonly notify?: string;
  /** The database can be backed up and replaced. */
  readonly isReplaceable?: boolean;
};

/** A deployment that tells a real receiver of its problems. */
export async function openDrill(options: DrillOptions = {}): Promise<Drill> {
  const { flow = FLOW, notify = NOTIFY, isReplaceable = false, ...rest } = options;
  const receiver = await startReceiver();
  const env = { NOTICE_URL: `${receiver.url}/ops`, NOTICE_SECRET: SECRET, ...options.env };
  const settings = { ...rest, flow: `${flow}${CONSOLE}${notify}`, env };
  const shop = isReplaceable ? await openReplaceable(settings) : await openWorkshop(settings);
  return {
    shop,
    receiver,
    told: () => receiver.received.map(({ json }) => `${json.event} ${json.problem} ${json.job ?? '-'}`),
  };
}

/** The database as it was before whatever was posted meanwhile. */
export async function goBack({ shop }: Drill, meanwhile: () => Promise<void>): Promise<void> {
  const backup = await backUp(shop);
  await meanwhile();
  shop.env.DATABASE_URL = backup;
  expect((await shop.run()).exitCode).toBe(7);
}

/** A run that is recorded as such, without having been. */
export async function noteRun(
  db: Database,
  run: {
    job: string;
    kind: string;
    status: string;
    exitCode: number;
    code?: string;
    problem?: string;
    counts?: object;
  },
): Promise<void> {
  const { job, kind, status, exitCode, code = null, problem = null, counts = {} } = run;
  await sql`
    insert into ops.runs (job, kind, host, pid, status, exit_code, problem, problem_code, counts, finished_at)
    values (${job}, ${kind}, 'h', 1, ${status}, ${exitCode}, ${problem}, ${code}, ${JSON.stringify(counts)}::jsonb, now())`.execute(
    db,
  );
}
