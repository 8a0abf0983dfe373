/** The small shop that benchmarks run: one code, and files of the layout `generic`. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
