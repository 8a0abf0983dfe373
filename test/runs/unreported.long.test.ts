import { expect, it } from 'vitest';
import { startDatabaseProxy } from '../support/database-proxy.ts';
import type { CliProcess } from '../support/run-cli.ts';
import { waitFor } from '../support/wait-for.ts';
import { manyRows, openWorkshop, readRun, toCsv } from './workshop.ts';

const API = 'lease_seconds: 2\ntimeout_seconds: 1';

it('rejected rows of a run that died before its report are reported once, by the next run', async () => {
  const shop = await openWorkshop({ api: API });
  shop.drop('orders.csv', toCsv([{ id: 'o1' }, { id: 'o2' }, { id: 'o3', revenue: 'twelve' }]));
  let run: CliProcess | null = null;
  const proxy = await startDatabaseProxy(shop.databaseUrl, {
    // At this point the file is sealed and nothing is claimed.
    onRequest: (bytes) => {
      if (!bytes.includes('job_locks')) return 'forward';
      run?.kill('SIGKILL');
      return 'drop';
    },
  });
  shop.env.DATABASE_URL = proxy.url;
  run = shop.start('run', 'orders', '--json');
  expect(await run.ended).toMatchObject({ signal: 'SIGKILL' });
  await proxy.close();
  shop.env.DATABASE_URL = shop.databaseUrl;

  let next = await shop.run();
  await waitFor(async () => {
    if (next.exitCode === 5) next = await shop.run();
    return next.exitCode !== 5;
  });
  expect(JSON.stringify(next)).toMatch(
    /Run 1 was interrupted: its process is gone\. Run \d+ continues its work/,
  );
  expect(next).toMatchObject({
    exitCode: 3,
    finished: { status: 'issues', counts: { files: 1, rows: 3, rejected_rows: 1, entries: { accepted: 2 } } },
  });
  expect(await shop.run()).toMatchObject({
    exitCode: 0,
    finished: { counts: { files: 0, rows: 0, rejected_rows: 0 } },
  });
});

it('rejected rows of an interrupted run make the next run exit with 3 and are not counted again', async () => {
  const shop = await openWorkshop({ sandbox: { latencyMs: 20 } });
  shop.drop('orders.csv', toCsv([...manyRows(100), { id: 'bad', revenue: 'twelve' }]));
  const first = shop.start('run', 'orders', '--json');
  await waitFor(async () => (await shop.posted()).length >= 5);
  first.kill('SIGTERM');
  expect(readRun(await first.ended)).toMatchObject({
    exitCode: 130,
    finished: { status: 'interrupted', counts: { rows: 101, rejected_rows: 1 } },
  });
  expect(await shop.run()).toMatchObject({
    exitCode: 3,
    finished: { counts: { rows: 0, rejected_rows: 0 } },
  });
  expect(await shop.run()).toMatchObject({ exitCode: 0 });
});
