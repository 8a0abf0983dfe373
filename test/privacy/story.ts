import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import type { Database } from '../../src/db/connect.ts';
import { HASH_KEY, toCustomers } from '../jobs/identify-customers/story.ts';
import { openWorkshop, type Workshop, type WorkshopOptions } from '../runs/workshop.ts';
import { reducedExport } from '../support/reduced-export.ts';
import type { CliResult } from '../support/run-cli.ts';

export const PERSON = 'Jane.Doe+shop@Example.com';
/** The address as intake folds it; every spelling yields this text. */
export const FOLDED = 'jane.doe+shop@example.com';
/** Other people. The addresses of the first two contain the person's address. */
export const OTHERS = ['mary.jane.doe+shop@example.com', 'jane.doe+shop@example.com.au', 'joe@example.com'];

const FLOW = `customers: {hash_key: "\${CUSTOMER_HASH_KEY:-}", previous_hash_key: "\${PREVIOUS_CUSTOMER_HASH_KEY:-}"}
sources:
  shop: {uri: ./exports/, layout: shopify-orders, order_platform: shopify, missing_columns: ${JSON.stringify(reducedExport('shopify-orders'))}, limits: {max_rejected_share: 1}}
  customers: {uri: ./customers/, layout: generic-customers, consent: not_recorded, missing_columns: {unsubscribed: Most lists leave them out.}, limits: {max_rejected_share: 1}}
  club: {uri: ./club/, layout: generic-customers, consent: not_recorded}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
  customers: {kind: identify-customers, source: customers, brand_id: 4819, lookup: real_time}
  club: {kind: identify-customers, source: club, brand_id: 4820}
`;

export type PrivacyShop = Workshop & {
  /** Writes an export into a folder. */
  put(folder: 'exports' | 'customers' | 'club', name: string, lines: readonly string[]): void;
  /** Runs `run <job> --json`. */
  ran(job: string): Promise<CliResult>;
  /** Returns the addresses that the sandbox received, including repeats. */
  submitted(): Promise<readonly string[]>;
};

/** Opens a shop whose orders and customers are read, and the club of another brand. */
export async function openPrivacyShop(options: WorkshopOptions = {}): Promise<PrivacyShop> {
  const shop = await openWorkshop({
    flow: FLOW,
    ...options,
    env: { CUSTOMER_HASH_KEY: HASH_KEY, ...options.env },
  });
  for (const folder of ['customers', 'club']) mkdirSync(join(shop.folder, folder));
  return {
    ...shop,
    // A getter, because spreading would open the database immediately.
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

/**
 * Returns every place that contains one of the texts, ignoring case: `schema.table.column` for each column of
 * each table, and files.
 */
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
    // JSON keeps a text unchanged and writes a bytea in hexadecimal.
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

/** Searches all files except the inputs: the data folder and anything that a command may have written. */
function findInFiles(folder: string, texts: readonly string[]): readonly string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !/^(exports|customers|club|requests)(\/|$)/.test(name))
    .filter((name) => statSync(join(folder, name)).isFile())
    .filter((name) => contains(readFileSync(join(folder, name), 'latin1'), texts));
}

/**
 * Matches whole addresses, because another person's address may contain the text. UUIDs are compared without
 * hyphens.
 */
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
