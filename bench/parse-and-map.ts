/**
 * Measures the cost of grouping rows and mapping them to orders, relative to csv-parse alone, on one thread.
 *
 *     node bench/parse-and-map.ts [rows] [repeats]
 *
 * Each measurement uses a separate process. The lowest CPU time of several repeats counts, because other work
 * on the machine can only increase it.
 */
import { execFileSync } from 'node:child_process';
import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse';
import { parseCsv } from '../src/intake/csv/parse-csv.ts';
import { loadLayout } from '../src/intake/layout/load-layout.ts';
import { mapOrders } from '../src/intake/orders/map/map-orders.ts';
import { writeShopifyExport } from './write-shopify-export.ts';

const READ_BYTES = 256 * 1024;
const OPTIONS = { delimiter: 'auto', quote: '"', preambleLines: 0, maxRecordBytes: 1024 ** 2 } as const;

const MODES = {
  async csvParse(path: string): Promise<number> {
    let rows = -1; // The header counts as a row too.
    for await (const _ of createReadStream(path, { highWaterMark: READ_BYTES }).pipe(parse())) rows += 1;
    return rows;
  },
  async parseOnly(path: string): Promise<number> {
    let rows = 0;
    for await (const { records } of parseCsv(createReadStream(path, { highWaterMark: READ_BYTES }), OPTIONS))
      rows += records.length;
    return rows;
  },
  async parseAndMap(path: string): Promise<number> {
    const chunks = parseCsv(createReadStream(path, { highWaterMark: READ_BYTES }), OPTIONS);
    let rows = 0;
    const layout = loadLayout('shopify-orders');
    for await (const batch of mapOrders(chunks, { layout, source: { timeZone: null, currency: null } }))
      rows += batch.rowsRead;
    return rows;
  },
};
type Mode = keyof typeof MODES;
type Measured = { readonly rows: number; readonly cpuSeconds: number; readonly rssMb: number };

async function measure(mode: Mode, path: string): Promise<Measured> {
  const before = process.cpuUsage();
  const rows = await MODES[mode](path);
  const { user, system } = process.cpuUsage(before);
  return {
    rows,
    cpuSeconds: (user + system) / 1e6,
    rssMb: Math.round(process.resourceUsage().maxRSS / 1024),
  };
}

async function compare(rows: number, repeats: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const path = join(folder, 'orders.csv');
  try {
    await writeShopifyExport(path, { rows });
    const best = new Map<Mode, Measured>();
    for (let repeat = 0; repeat < repeats; repeat += 1) {
      for (const mode of Object.keys(MODES) as Mode[]) {
        const args = [fileURLToPath(import.meta.url), '--measure', mode, path];
        const result = JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Measured;
        if (result.rows !== rows) throw new Error(`${mode} read ${result.rows} of ${rows} rows`);
        if (result.cpuSeconds < (best.get(mode)?.cpuSeconds ?? Number.POSITIVE_INFINITY))
          best.set(mode, result);
      }
    }
    const base = best.get('csvParse')?.cpuSeconds ?? 0;
    for (const [mode, { cpuSeconds, rssMb }] of best) {
      const each = (cpuSeconds / rows) * 1e6;
      const more = ((cpuSeconds - base) / rows) * 1e6;
      process.stdout.write(
        `${mode.padEnd(12)} ${each.toFixed(2)} µs a row, ${more >= 0 ? '+' : ''}${more.toFixed(2)} to csv-parse, peak ${rssMb} MB\n`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const [, , first, second, third] = process.argv;
if (first === '--measure') process.stdout.write(JSON.stringify(await measure(second as Mode, third ?? '')));
else await compare(Number(first ?? 1_000_000), Number(second ?? 3));
