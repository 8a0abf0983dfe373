import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { layEmbeddedDatabase } from '../support/embedded-database.ts';
import { waitFor } from '../support/wait-for.ts';
import { manyRows, openWorkshop, readRun, repeated, toCsv } from './workshop.ts';

describe('the embedded database', () => {
  it('needs no server: runs and other commands share its state', async () => {
    const shop = await openWorkshop({ embedded: true });
    shop.drop('orders.csv', toCsv(manyRows(20)));
    const first = await shop.run();
    expect(first).toMatchObject({
      exitCode: 0,
      finished: { status: 'ok', counts: { files: 1, orders: 20, entries: { accepted: 20 } } },
    });
    expect(first.stdout).toContain('Creating the database .data. This takes a few seconds, once.');
    expect(existsSync(join(shop.folder, '.data'))).toBe(true);
    const second = await shop.run();
    expect(second).toMatchObject({
      exitCode: 0,
      finished: { counts: { entries: { accepted: 0, already: 20 } } },
    });
    expect(second.stdout).not.toContain('Making');
    expect(await shop.posted()).toHaveLength(20);
    expect((await shop.cli('status')).stdout).toMatch(/accepted +20/);
    expect((await shop.cli('explain', 'order', 'o7')).stdout).toContain('accepted');
  });

  it('is reported without tables, with the command that creates them', async () => {
    const shop = await openWorkshop({ embedded: true });
    const before = await shop.cli('status');
    expect(before).toMatchObject({ exitCode: 2, stdout: '' });
    expect(before.stderr).toContain('npx influencer-sync migrate');
    expect(existsSync(join(shop.folder, '.data'))).toBe(false);

    await layEmbeddedDatabase(join(shop.folder, '.data'));
    expect((await shop.cli('migrate', '--dry-run')).stdout).toContain('Would apply ');
    expect((await shop.cli('status')).exitCode).toBe(2);
    expect((await shop.cli('migrate')).stdout).toMatch(
      /^Applied (migration |\d+ migrations, from )0095_baseline/,
    );
    expect(await shop.cli('migrate')).toMatchObject({ exitCode: 0, stdout: 'The database is up to date.\n' });
    expect((await shop.cli('status')).stdout).toContain('has not run yet');
  });

  it('survives kill -9 without repeated or lost orders', async () => {
    const shop = await openWorkshop({
      embedded: true,
      api: 'lease_seconds: 600\ntimeout_seconds: 300',
      sandbox: { latencyMs: 15 },
    });
    await layEmbeddedDatabase(join(shop.folder, '.data'));
    const orders = 150;
    shop.drop('orders.csv', toCsv(manyRows(orders)));
    const kills = 2;
    for (let round = 1; round <= kills; round += 1) {
      const before = (await shop.posted()).length;
      const run = shop.start('run', 'orders', '--json');
      await waitFor(async () => (await shop.posted()).length >= before + 10 * round);
      run.kill('SIGKILL');
      expect((await run.ended).signal).toBe('SIGKILL');
      // The previous owner of the database is gone: no command waits for its lease or reports it as running.
      expect((await shop.cli('status')).stdout).not.toContain('At work now');
      expect((await shop.cli('run', 'orders', '--limit', '1')).exitCode).not.toBe(5);
    }
    const last = await shop.run();
    const counts = last.finished?.counts.entries;
    expect(last.finished, last.stderr).not.toBeNull();
    expect((counts?.accepted ?? 0) + (counts?.already ?? 0) + (counts?.in_doubt ?? 0)).toBe(orders);
    expect(counts?.in_doubt).toBeLessThanOrEqual(kills * 6);
    expect(counts).toMatchObject({ ready: 0, rejected: 0, held: 0 });
    expect(repeated(await shop.posted())).toEqual([]);
  });

  it('reports why its folder cannot be created', async () => {
    const shop = await openWorkshop({ embedded: true });
    shop.drop('orders.csv', toCsv(manyRows(1)));
    shop.write('.data', 'a file');
    const noFolder = await shop.cli('run', 'orders');
    expect(noFolder).toMatchObject({ exitCode: 2 });
    expect(noFolder.stderr).toContain('The data folder cannot be used: a file is where a folder must be');
    expect(noFolder.stderr).not.toMatch(/^ +at .*:\d+:\d+/m);
  });

  it('makes a second process exit with 5 and explain what to do', async () => {
    const shop = await openWorkshop({ embedded: true, api: 'lease_seconds: 600\ntimeout_seconds: 300' });
    await layEmbeddedDatabase(join(shop.folder, '.data'));
    shop.drop('orders.csv', toCsv(manyRows(400)));
    const first = shop.start('run', 'orders', '--json');
    await waitFor(async () => (await shop.posted()).length > 0);
    // The first run is stopped, so that it remains active however slow the others are.
    first.kill('SIGSTOP');
    for (const command of [['run', 'orders'], ['status'], ['review'], ['plan', 'orders']]) {
      const second = await shop.cli(...command);
      expect(second.exitCode, command.join(' ')).toBe(5);
      expect(second.stderr).toContain(`pid ${first.pid}`);
      expect(second.stderr).toContain('database.url');
      expect(second.stderr).not.toMatch(/^ +at .*:\d+:\d+/m);
    }
    first.kill('SIGCONT');
    expect(readRun(await first.ended)).toMatchObject({
      exitCode: 0,
      finished: { counts: { entries: { accepted: 400 } } },
    });
    expect(repeated(await shop.posted())).toEqual([]);
  });
});
