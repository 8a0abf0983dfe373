import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { jobKinds, loadConfig } from '../../../jobs/index.ts';
import type { Database } from '../../../src/db/connect.ts';
import { notifyWithin } from '../../../src/monitoring/notify/keep-notices.ts';
import { backUp, openReplaceable } from '../../recovery/lost-databases.ts';
import { openWorkshop, type Workshop, type WorkshopOptions } from '../../runs/workshop.ts';
import { type Receiver, SECRET, startReceiver } from './receivers.ts';

export const JOB = 'kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total';

const FLOW = `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
jobs:
  orders: {${JOB}}
`;

const CONSOLE = 'console: {url: "https://ops.example.com/influencers/", base_path: /influencers}\n';

/** Settings of `notify:` with the channel `ops`, which posts to the receiver of a drill. */
export const NOTIFY =
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what pipeline.yaml says
  'notify: {channels: {ops: {kind: webhook, url: "${NOTICE_URL}", secret: "${NOTICE_SECRET}"}}}\n';

export type Drill = {
  readonly shop: Workshop;
  readonly receiver: Receiver;
  /** Returns the notices that the receiver got, as `opened job_failed orders`. */
  told(): readonly string[];
};

export type DrillOptions = WorkshopOptions & {
  /** Replaces `notify:`. */
  readonly notify?: string;
  /** True if the database can be backed up and replaced. */
  readonly isReplaceable?: boolean;
};

/** Opens a deployment that notifies a real receiver of its problems. */
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

/** Returns to a backup of the database that was made before `meanwhile`. The next run must detect this. */
export async function goBack({ shop }: Drill, meanwhile: () => Promise<void>): Promise<void> {
  const backup = await backUp(shop);
  await meanwhile();
  shop.env.DATABASE_URL = backup;
  expect((await shop.run()).exitCode).toBe(7);
}

/** A problem that is provoked, observed twice, ended, and observed twice again. */
export type Fault = {
  readonly problem: string;
  readonly job: string | null;
  readonly provoke: () => unknown;
  readonly end: () => unknown;
};

/**
 * Checks that each problem causes exactly one `opened` and one `resolved` notice, and that no other notice is
 * sent in the meantime.
 */
export async function provokeEach(
  faults: readonly Fault[],
  { look, told }: { readonly look: () => Promise<void>; readonly told: () => readonly string[] },
): Promise<void> {
  await look();
  const expected: string[] = [...told()];
  for (const { problem, job, provoke, end } of faults) {
    await provoke();
    for (let round = 0; round < 2; round += 1) await look();
    expected.push(`opened ${problem} ${job ?? '-'}`);
    expect(told()).toEqual(expected);
    await end();
    for (let round = 0; round < 2; round += 1) await look();
    expected.push(`resolved ${problem} ${job ?? '-'}`);
    expect(told()).toEqual(expected);
  }
}

/**
 * Returns a function that observes problems as a run does at its end, with the current configuration in a
 * folder.
 */
export function lookIn(
  folder: string,
  { db, env }: { readonly db: Database; readonly env: Record<string, string> },
): () => Promise<void> {
  const fail = (...what: readonly unknown[]) => {
    throw new Error('looking failed', { cause: what });
  };
  return () => {
    const config = loadConfig(join(folder, 'pipeline.yaml'), env);
    return notifyWithin(db, { config, kinds: jobKinds, onTrouble: fail, onFailure: fail });
  };
}

/** Changes pipeline.yaml. Later commands and observations read the changed file. */
export function reconfigure({ folder, write }: Workshop, from: string | RegExp, to: string): void {
  const text = readFileSync(join(folder, 'pipeline.yaml'), 'utf8');
  const changed = text.replace(from, to);
  if (changed === text) throw new Error(`pipeline.yaml has no ${from} to be changed`);
  write('pipeline.yaml', changed);
}
