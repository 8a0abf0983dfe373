import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { seedRuns } from '../reports/seed.ts';
import { countStates, openWorkshop, type Workshop } from '../runs/workshop.ts';
import { type CliProcess, readEvents } from '../support/run-cli.ts';
import { waitFor } from '../support/wait-for.ts';
import { addDoubts, countDecisions, ended } from './bulk-shop.ts';

const DOUBTS = 300;

async function openProcesses(): Promise<Workshop> {
  const shop = await openWorkshop({ api: 'lease_seconds: 3\ntimeout_seconds: 2' });
  await seedRuns(shop.db);
  await addDoubts(shop.db, DOUBTS);
  return shop;
}

async function startConsole(shop: Workshop): Promise<{ process: CliProcess; url: string }> {
  const process = shop.start('console', '--port', '0', '--json');
  const urlOf = (): unknown =>
    readEvents({ stdout: process.stdout() }).find(({ event }) => event === 'listening')?.url;
  await waitFor(() => process.stdout().endsWith('\n') && urlOf() !== undefined);
  return { process, url: String(urlOf()).replace(/\/$/, '') };
}

/**
 * Previews and confirms writing off every doubt, as a page does.
 * @returns the id of the bulk action.
 */
async function writeOffAll(url: string): Promise<string> {
  const post = (path: string, fields: Record<string, string>) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ reason: 'looked up', ...fields }),
    });
  const preview = await post('/bulk/preview', { scope: 'all', decision: 'write_off' });
  const bulk = /\/bulk\/(\d+)\?/.exec(preview.url)?.[1] ?? '';
  expect((await post('/bulk/confirm', { bulk })).status).toBe(200);
  return bulk;
}

async function settledOf(shop: Workshop): Promise<number> {
  const { rows } = await sql<{ settled: string }>`
    select count(*) as settled from ops.bulk_items where outcome = 'settled'`.execute(shop.db);
  return Number(rows[0]?.settled);
}

/** All doubts except the one with evidence. */
const EXPECTED = DOUBTS + 1;

it('a killed process loses nothing of a bulk action, and its successor repeats nothing', async () => {
  const shop = await openProcesses();
  const first = await startConsole(shop);
  const bulk = await writeOffAll(first.url);
  await waitFor(async () => (await settledOf(shop)) > 5);
  first.process.kill('SIGKILL');
  await first.process.ended;
  const atKill = await settledOf(shop);
  expect(atKill).toBeLessThan(EXPECTED);
  expect((await countStates(shop.db)).written_off).toBe(atKill + 1);
  await startConsole(shop);
  expect(await ended(shop.db, bulk)).toMatchObject({
    state: 'finished',
    settled: EXPECTED,
    changed: 0,
    failed: 0,
  });
  expect(await countDecisions(shop.db)).toEqual({
    decisions: EXPECTED,
    entries: EXPECTED,
    audited: EXPECTED,
    entriesAudited: EXPECTED,
  });
});

it('only one of two processes works on a bulk action, and the other takes over when that one is stopped', async () => {
  const shop = await openProcesses();
  const first = await startConsole(shop);
  const second = await startConsole(shop);
  const bulk = await writeOffAll(first.url);
  const holders = new Set<string>();
  const noteHolder = async (): Promise<void> => {
    const { rows } = await sql<{
      pid: number;
    }>`select pid from ops.leases where name = ${`bulk:${bulk}`}`.execute(shop.db);
    for (const { pid } of rows) holders.add(String(pid));
  };
  await waitFor(async () => {
    await noteHolder();
    return (await settledOf(shop)) > 5;
  });
  expect([...holders]).toHaveLength(1);
  first.process.kill('SIGTERM');
  expect((await first.process.ended).exitCode).toBe(0);
  expect(await settledOf(shop)).toBeLessThan(EXPECTED);
  expect(await ended(shop.db, bulk)).toMatchObject({ state: 'finished', settled: EXPECTED, changed: 0 });
  expect(await countDecisions(shop.db)).toMatchObject({ decisions: EXPECTED, audited: EXPECTED });
  second.process.kill('SIGTERM');
  expect((await second.process.ended).exitCode).toBe(0);
});
