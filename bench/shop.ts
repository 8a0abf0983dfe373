/** The small shop that benchmarks run: one code, and files of the layout `generic`. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The command, as a user runs it. */
const MAIN = fileURLToPath(new URL('../src/start.js', import.meta.url));

/** First line of an export of orders. */
export const ORDERS_HEADER = 'order_id,order_revenue,currency,discount_codes,placed_at,status';

/** Arguments of `node` that run a command. */
export function commandLine(args: readonly string[]): string[] {
  return [MAIN, ...args];
}

/** Writes codes.csv and pipeline.yaml, or configurations with other names. */
export function writeShop(folder: string, configs: string | Readonly<Record<string, string>>): void {
  writeFileSync(join(folder, 'codes.csv'), 'code,influencer_handle,deal_id\nMIA10,mia.test,DEAL1\n');
  const named = typeof configs === 'string' ? { 'pipeline.yaml': configs } : configs;
  for (const [name, text] of Object.entries(named)) writeFileSync(join(folder, name), text);
}

/**
 * A configuration whose job `hourly` reads ./exports/. It takes API_URL, API_KEY and DATABASE_URL from the
 * environment.
 *
 * @param options.requestsPerSecond limit of the account; 0 is none.
 */
export function hourlyConfig({ requestsPerSecond = 0, concurrency = 64 } = {}): string {
  return `api: {url: "\${API_URL}", key: "\${API_KEY}", requests_per_second: ${requestsPerSecond}, concurrency: ${concurrency}}
database: {url: "\${DATABASE_URL}"}
sources: {hourly: {uri: ./exports/, layout: generic, order_platform: shopify}}
jobs: {hourly: {kind: attribute-orders, source: hourly, brand_id: 4819, codes: ./codes.csv, schedule: "5 4 1 1 *"}}
`;
}

export type WrittenOrders = {
  /** Name of the file without its ending, with which the ids of the orders begin. */
  readonly name: string;
  readonly count: number;
  readonly placedAt?: string;
  /** The code of each order; the shop's only code if omitted. */
  readonly codeOf?: (index: number) => string;
};

/** Writes the export `<name>.csv` into a folder, which is created if there is none. */
export function writeOrders(folder: string, orders: WrittenOrders): void {
  const { name, count, placedAt = '2026-04-10T11:11:26Z', codeOf = () => 'MIA10' } = orders;
  const rows = Array.from(
    { length: count },
    (_, index) => `${name}-${index},10.00,EUR,${codeOf(index)},${placedAt},paid`,
  );
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.csv`), `${[ORDERS_HEADER, ...rows].join('\n')}\n`);
}

/** Starts a command as a process of its own. Only its errors are shown, unless `stdio` says otherwise. */
export function startCommand(
  args: readonly string[],
  options: {
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly cwd?: string;
    readonly stdio?: StdioOptions;
  },
): ChildProcess {
  return spawn(process.execPath, commandLine(args), { stdio: ['ignore', 'ignore', 'inherit'], ...options });
}

/** Runs a command of a shop to its end. @throws Error unless it ends with 0. */
export async function runCommand(
  args: readonly string[],
  { folder, env }: { readonly folder: string; readonly env: Readonly<Record<string, string>> },
): Promise<void> {
  const child = startCommand([...args, '--json'], {
    cwd: folder,
    env: { PATH: process.env.PATH, ...env, INFLUENCER_SYNC_CONFIG: 'pipeline.yaml' },
  });
  const [code] = (await once(child, 'close')) as [number];
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}`);
}

/** The address that `serve --json` prints once it listens. */
export async function readServeUrl({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) throw new Error('it has no output');
  for await (const line of createInterface({ input: stdout }))
    return (JSON.parse(line) as { url: string }).url;
  throw new Error('serve ended before it printed its address');
}
