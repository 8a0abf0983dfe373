import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts';
import { setup } from '../support/setup.ts';
import { waitFor } from '../support/wait-for.ts';
import { countStates, manyRows, openWorkshop, readRun, repeated, toCsv, type Workshop } from './workshop.ts';

/** Opens a shop whose database is reached through a proxy that can stop responding. */
async function openRemoteShop(): Promise<{ readonly shop: Workshop; readonly proxy: DatabaseProxy }> {
  const shop = await openWorkshop({
    api: 'lease_seconds: 6\ntimeout_seconds: 5',
    sandbox: { latencyMs: 20 },
  });
  const proxy = await startDatabaseProxy(shop.databaseUrl);
  shop.env.DATABASE_URL = proxy.url;
  return { shop, proxy };
}

function spooledFiles(shop: Workshop): readonly string[] {
  return readdirSync(join(shop.folder, '.data', 'spool')).filter((name) => name.endsWith('.ndjson'));
}

describe('a database that stops responding without refusing connections', () => {
  it('while orders are posted makes the run spool its answers and fail, and the next run records them', async () => {
    const { shop, proxy } = await openRemoteShop();
    shop.drop('orders.csv', toCsv(manyRows(150)));
    const run = shop.start('run', 'orders', '--json');
    await waitFor(async () => (await shop.posted()).length >= 20);
    proxy.silence();
    const silentAt = performance.now();
    const ended = readRun(await run.ended);
    expect(performance.now() - silentAt).toBeLessThan(60_000);
    expect(ended).toMatchObject({ exitCode: 1, signal: null });
    expect(ended.stderr).not.toMatch(/^ +at .*:\d+:\d+/m);
    expect(ended.events.at(-1)).toMatchObject({ event: 'error', code: 'database_lost' });
    expect(spooledFiles(shop).length).toBeGreaterThan(0);

    shop.env.DATABASE_URL = shop.databaseUrl;
    // The lease of the first run may still be valid, and a busy machine may lose its own lease.
    await waitFor(async () => (await shop.run()).finished?.counts.entries.ready === 0);
    const { accepted = 0, in_doubt: doubts = 0, ...others } = await countStates(shop.db);
    expect(others).toEqual({});
    expect(accepted + doubts).toBe(150);
    expect(doubts).toBeLessThanOrEqual(6);
    expect(repeated(await shop.posted())).toEqual([]);
    expect(spooledFiles(shop)).toEqual([]);
  });

  it('while a file is read lets SIGTERM end the run with a known error', async () => {
    const { shop, proxy } = await openRemoteShop();
    shop.drop('orders.csv', toCsv(manyRows(60_000)));
    const run = shop.start('run', 'orders', '--json', '--limit', '1');
    await waitFor(() => run.stdout().includes('"Reading orders.csv"'));
    proxy.silence();
    run.kill('SIGTERM');
    const ended = readRun(await run.ended);
    expect(ended.signal).toBeNull();
    expect([1, 130]).toContain(ended.exitCode);
    expect(ended.stderr).not.toMatch(/^ +at .*:\d+:\d+/m);
    expect(['database_lost', 'interrupted']).toContain(ended.events.at(-1)?.code);
    expect(await shop.posted()).toEqual([]);
  });

  it('from the start makes a command fail within seconds', async () => {
    const { url } = await silentDatabase();
    const shop = await openWorkshop({ databaseUrl: url });
    const ended = await shop.cli('status', '--json');
    expect(ended.exitCode).toBe(1);
    expect(ended.stdout).toContain('"database_unreachable"');
  });
});

async function silentDatabase(): Promise<DatabaseProxy> {
  const { databaseUrl } = await setup();
  const proxy = await startDatabaseProxy(databaseUrl);
  proxy.silence();
  return proxy;
}
