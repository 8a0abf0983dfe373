import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Database } from '../../src/db/connect.ts';
import { HASH_KEY, toCustomers } from '../jobs/identify-customers/story.ts';
import { openWorkshop, type Workshop, type WorkshopOptions } from '../pipeline/workshop.ts';
import type { CliResult } from '../support/run-cli.ts';

export const PERSON = 'Jane.Doe+shop@Example.com';
/** As intake folds it, which is what every spelling comes to. */
export const FOLDED = 'jane.doe+shop@example.com';
/** People whose addresses contain that of the person. */
export const OTHERS = ['mary.jane.doe+shop@example.com', 'jane.doe+shop@example.com.au', 'joe@example.com'];

const FLOW = `customers: {hash_key: "\${CUSTOMER_HASH_KEY:-}", previous_hash_key: "\${PREVIOUS_CUSTOMER_HASH_KEY:-}"}
sources:
  shop: {uri: ./exports/, layout: shopify-orders, order_platform: shopify, consent: not_recorded, limits: {max_rejected_share: 1}}
  customers: {uri: ./customers/, layout: generic-customers, consent: not_recorded, limits: {max_rejected_share: 1}}
  club: {uri: ./club/, layout: generic-customers, consent: not_recorded}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
  customers: {kind: identify-customers, source: customers, brand_id: 4819, lookup: real_time}
  club: {kind: identify-customers, source: club, brand_id: 4820}
`;

export type PrivacyShop = Workshop & {
  /** Puts an export into a folder. */
  put(folder: 'exports' | 'customers' | 'club', name: string, lines: readonly string[]): void;
  /** `run <job> --json`, which must end with that code. */
  ran(job: string): Promise<CliResult>;
  /** Addresses that the sandbox was sent, repeats included. */
  submitted(): Promise<readonly string[]>;
};

/** A shop whose orders and customers are read, and another brand's club. */
export async function openPrivacyShop(options: WorkshopOptions = {}): Promise<PrivacyShop> {
  const shop = await openWorkshop({
    flow: FLOW,
    ...options,
    env: { CUSTOMER_HASH_KEY: HASH_KEY, ...options.env },
  });
  for (const folder of ['customers', 'club']) mkdirSync(join(shop.folder, folder));
  return {
    ...shop,
    // A getter: spreading would open it once and for all.
    get db() {
      return shop.db;
    },
    put: (folder, name, lines) =>
      shop.write(join(folder, name), folder === 'exports' ? `${lines.join('\n')}\n` : toCustomers(lines)),
    ran: (job) => shop.cli('run', job, '--json'),
    async submitted() {
      const answer = await fetch(`${shop.sandbox.url}/_sandbox/customers`);
      return ((await answer.json()) as { email: string }[]).map(({ email }) => email);
    },
  };
}

/** Every place that contains one of the texts, whatever the case: `schema.table.column` of each column of each table, and files. */
export async function findEverywhere(
  { db, folder }: Pick<Workshop, 'db' | 'folder'>,
  texts: readonly string[],
): Promise<readonly string[]> {
  return [...(await findInTables(db, texts)), ...findInFiles(folder, texts)];
}

async function findInTables(db: Database, texts: readonly string[]): Promise<readonly string[]> {
  const { rows: tables } = await sql<{ name: string }>`
    select c.oid::regclass::text as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'm') and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'`.execute(db);
  const found = new Set<string>();
  for (const { name } of tables) {
    // As JSON a text is as it is, and a bytea hexadecimal.
    const { rows } = await sql<{ row: Readonly<Record<string, unknown>> }>`
      select to_json(t) as row from ${sql.raw(name)} t`.execute(db);
    for (const { row } of rows)
      for (const [column, value] of Object.entries(row))
        if (contains(textOf(value), texts)) found.add(`${name}.${column}`);
  }
  return [...found].toSorted();
}

function textOf(value: unknown): string {
  if (typeof value === 'string' && /^\\x([0-9a-f]{2})*$/.test(value))
    return Buffer.from(value.slice(2), 'hex').toString('latin1');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Beside the exports: the data folder, and whatever a command may have written. */
function findInFiles(folder: string, texts: readonly string[]): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/^(exports|customers|club|requests)(\/|$)/.test(name))
    .filter((name) => statSync(join(folder, name)).isFile())
    .filter((name) => contains(readFileSync(join(folder, name), 'latin1'), texts));
}

/** As a whole: the address of another person may contain it. UUIDs are compared without their hyphens. */
function contains(cell: string, texts: readonly string[]): boolean {
  const folded = cell.toLowerCase();
  return texts.some((text) => {
    const isDigest = /^[0-9a-f]{32}$/.test(text);
    if (isDigest) return folded.replaceAll('-', '').includes(text);
    return OTHERS.reduce(
      (left, other) => (other === text ? left : left.replaceAll(other, '')),
      folded,
    ).includes(text);
  });
}
