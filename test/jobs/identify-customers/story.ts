import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { CustomersReport } from '../../../jobs/identify-customers/report.ts';
import type { RunFinished } from '../../../src/core/run.ts';
import type { Database } from '../../../src/db/connect.ts';
import { openWorkshop, readRun, type Workshop, type WorkshopOptions } from '../../runs/workshop.ts';
import type { CliResult } from '../../support/run-cli.ts';

export const HASH_KEY = '5b1f0c7d9e2a4c6688aa0b1c2d3e4f50';

export type CustomersShop = Workshop & {
  /** Runs `run customers --json` with more arguments. */
  identify(...args: string[]): Promise<Identified>;
  /** The same, in a process that a test may stop. */
  startIdentifying(...args: string[]): ReturnType<Workshop['start']>;
  plan(): Promise<Identified>;
  /** Replaces a piece of pipeline.yaml. */
  reconfigure(from: string, to: string): void;
};

export type Identified = CliResult & { readonly finished: RunFinished<CustomersReport> | null };

export type CustomersOptions = WorkshopOptions & {
  /** Settings of the job in addition to kind, source and brand. */
  readonly job?: string;
  readonly layout?: string;
  /** Consent setting of the source. Most exports here contain only addresses. */
  readonly consent?: 'recorded' | 'not_recorded';
  /** URL of a service that replaces the sandbox. */
  readonly serviceUrl?: string;
};

/** Opens a deployment with one job `customers`, which reads `exports/`. */
export async function openCustomers(options: CustomersOptions = {}): Promise<CustomersShop> {
  const { job = '', layout = 'generic-customers', consent = 'not_recorded', serviceUrl } = options;
  const flow = `customers: {hash_key: "\${CUSTOMER_HASH_KEY:-}"}
sources:
  shop: {uri: ./exports/, layout: ${layout}, consent: ${consent}, limits: {max_rejected_share: 1}}
jobs:
  customers: {kind: identify-customers, source: shop, brand_id: 4819${job === '' ? '' : `, ${job}`}}
`;
  const shop = await openWorkshop({
    flow,
    ...options,
    env: {
      CUSTOMER_HASH_KEY: HASH_KEY,
      ...(serviceUrl === undefined ? {} : { INFLUENCER_API_URL: serviceUrl }),
      ...options.env,
    },
  });
  const read = (result: CliResult): Identified => readRun(result) as unknown as Identified;
  const startIdentifying = (...args: string[]) => shop.start('run', 'customers', '--json', ...args);
  return Object.defineProperties(
    {
      startIdentifying,
      identify: async (...args: string[]) => read(await shop.cli('run', 'customers', '--json', ...args)),
      reconfigure(from: string, to: string) {
        const text = readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8');
        if (!text.includes(from)) throw new Error(`pipeline.yaml does not say ${from}`);
        shop.write('pipeline.yaml', text.replace(from, to));
      },
      plan: async () => read(await shop.cli('plan', 'customers', '--json')),
    },
    Object.getOwnPropertyDescriptors(shop),
  ) as CustomersShop;
}

/** Returns an export in the layout `generic-customers`. */
export function toCustomers(emails: readonly string[]): string {
  return `email\n${emails.join('\n')}\n`;
}

/** Returns `count` addresses, starting at `<prefix>1@example.com`. */
export function manyEmails(count: number, prefix = 'c'): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${index + 1}@example.com`);
}

/** Counts the customers in each state. */
export async function countCustomers(db: Database): Promise<Record<string, number>> {
  const { rows } = await sql<{ state: string; customers: string }>`
    select state, count(*) as customers from intake.customer_states group by state order by state`.execute(
    db,
  );
  return Object.fromEntries(rows.map(({ state, customers }) => [state, Number(customers)]));
}

/** Returns the addresses that the sandbox has queued, sorted. */
export async function queuedAt(url: string): Promise<readonly string[]> {
  const answer = await fetch(`${url}/_sandbox/customers`);
  return ((await answer.json()) as { email: string }[]).map(({ email }) => email).sort();
}
