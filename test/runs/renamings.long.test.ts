import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { waitFor } from '../support/wait-for.ts';
import { startWorkers } from './workers/spread-shop.ts';
import {
  countStates,
  leasesAreOver,
  manyRows,
  openWorkshop,
  repeated,
  toCsv,
  type Workshop,
} from './workshop.ts';

const GENERIC = fileURLToPath(new URL('../../config/layouts/generic.yaml', import.meta.url));

/** What has another name than before. */
const NAMES = ['job', 'source', 'layout', 'platform'] as const;
type Names = readonly (typeof NAMES)[number][];

/** @param job further settings of the job. */
const flowOf = (changed: Names, settings = '') => {
  const job = changed.includes('job') ? 'dutch' : 'orders';
  const source = changed.includes('source') ? 'nl-shop' : 'shop';
  const layout = changed.includes('layout') ? 'mine' : 'generic';
  const platform = changed.includes('platform') ? 'woocommerce' : 'shopify';
  return `
sources:
  ${source}: {uri: ./exports/, layout: ${layout}, order_platform: ${platform}, time_zone: Europe/Amsterdam}
jobs:
  ${job}: {kind: attribute-orders, source: ${source}, brand_id: 4819, codes: ./codes.csv, revenue: total, include: [paid]${settings}}
`;
};

/** Opens a shop one of whose orders was sent, one is in doubt, one is approved for a second attempt, two wait, and one is held. */
async function openHalfDone(): Promise<Workshop> {
  const shop = await openWorkshop({ flow: flowOf([]), api: 'concurrency: 1' });
  mkdirSync(join(shop.folder, 'layouts'));
  cpSync(GENERIC, join(shop.folder, 'layouts', 'mine.yaml'));
  const ids = ['sent', 'doubtful', 'approved', 'waiting', 'last'];
  shop.drop('1.csv', toCsv([...ids.map((id) => ({ id })), { id: 'held', status: 'mystery' }]));
  await shop.sandbox.setFaults(
    ['doubtful', 'approved'].map((id) => ({
      kind: 'error_before',
      match: { body: { order_id: id } },
      status: 500,
      text: 'Oops.',
    })),
  );
  expect((await shop.run('--limit', '3')).exitCode).toBe(6);
  await shop.sandbox.setFaults(null);
  await resend(shop, 'approved');
  return shop;
}

async function resend(shop: Workshop, order: string): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select entry_id as id from ledger.entries where order_id = ${order}`.execute(shop.db);
  const decision = ['--resend', '--reason', 'not listed', '--yes'];
  expect((await shop.cli('review', rows[0]?.id ?? '', ...decision)).exitCode).toBe(0);
}

const combinations: readonly Names[] = Array.from({ length: 2 ** NAMES.length }, (_, bits) =>
  NAMES.filter((_name, place) => (bits >> place) & 1),
)
  .slice(1)
  // Each name that matters alone, the two that make another job, and all of them; RENAMINGS=all shows the rest.
  .filter(
    (changed) =>
      process.env.RENAMINGS === 'all' ||
      ['job', 'source', 'platform', 'job, source', NAMES.join(', ')].includes(changed.join(', ')),
  );

const inOneLine = (text: string) => text.replace(/\s+/g, ' ');

/*
 * What follows, what stops, and what is said. Entries follow the job, and the job follows its sources, or its name. If
 * both are new, nothing says that it is the same job, so its entries stay, no run is green, and the money is named.
 */
describe('half of the orders are posted, and another name has', () => {
  it.each(combinations.map((changed) => [changed.join(', '), changed] as const))(
    '%s: each order is posted once, now or under the old names, and no doubt is forgotten',
    async (_, changed) => {
      const shop = await openHalfDone();
      const text = readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8');
      shop.write('pipeline.yaml', text.replace(flowOf([]), flowOf(changed)));
      shop.drop('2.csv', toCsv([{ id: 'new', revenue: '12.00' }]));
      const job = changed.includes('job') ? 'dutch' : 'orders';
      const isAnother = changed.includes('job') && changed.includes('source');
      expect((await shop.cli('plan', job)).exitCode).toBe(3);
      const run = await shop.cli('run', job);
      expect(run.exitCode).toBe(isAnother ? 3 : 6);
      const said = '4 ledger entries (40.00 EUR) wait or are in doubt under the job orders';
      for (const { stdout, stderr } of [run, await shop.cli('doctor')])
        expect(inOneLine(stdout + stderr).includes(said)).toBe(isAnother);
      const all = ['approved', 'last', 'new', 'sent', 'waiting'];
      expect(await shop.posted()).toEqual(isAnother ? ['new', 'sent'] : all);
      shop.write('pipeline.yaml', text);
      expect((await shop.run()).exitCode).toBe(6);
      expect(await shop.posted()).toEqual(all);
      await resend(shop, 'doubtful');
      await shop.cli('review', '--held', '--order', 'held', '--credit', '--reason', 'paid', '--yes');
      await shop.run();
      expect(await shop.posted()).toEqual([...all, 'doubtful', 'held'].toSorted());
    },
  );
});

describe('a backfill is half done, and another name has', () => {
  const START = ', start_date: 2026-06-01, time_zone: Europe/Amsterdam';

  it.each([
    ['the job', ['job']],
    ['the source', ['source']],
  ] as const)('%s: it goes on, and nothing that it sent counts as withdrawn', async (_, changed) => {
    const shop = await openWorkshop({ flow: flowOf([], START), api: 'concurrency: 1' });
    // A backfill posts the oldest orders first.
    const ids = ['sent', 'doubtful', 'refused', 'waiting'];
    shop.drop('1.csv', toCsv(ids.map((id, at) => ({ id, placedAt: `2026-04-10T11:11:0${at}Z` }))));
    await shop.sandbox.setFaults([
      { kind: 'error_before', match: { body: { order_id: 'doubtful' } }, status: 500, text: 'Oops.' },
      { kind: 'error_before', match: { body: { order_id: 'refused' } }, status: 401, text: 'No.' },
    ]);
    const period = ['--from', '2026-01-01', '--to', '2026-05-30', '--yes'];
    expect((await shop.cli('backfill', 'orders', ...period)).exitCode).toBe(4);
    expect(await shop.posted()).toEqual(['sent']);
    await shop.sandbox.setFaults(null);
    const text = readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8');
    shop.write('pipeline.yaml', text.replace(flowOf([], START), flowOf(changed, START)));
    const job = changed[0] === 'job' ? 'dutch' : 'orders';
    expect((await shop.cli('run', job)).exitCode).toBe(6);
    expect(await shop.db.selectFrom('ledger.adjustments').select('kind').execute()).toEqual([]);
    expect((await shop.cli('backfill', 'resume')).exitCode).toBe(6);
    expect(await shop.posted()).toEqual(['refused', 'sent', 'waiting']);

    shop.drop('2.csv', toCsv([{ id: 'sent', status: 'cancelled', placedAt: '2026-04-10T11:11:00Z' }]));
    await shop.cli('run', job);
    expect(await shop.db.selectFrom('ledger.adjustments').select('kind').execute()).toEqual([
      { kind: 'cancelled' },
    ]);
  });
});

/*
 * A run is killed while workers post its orders, and the configuration changes before they are restarted. They post what
 * they have begun, and a run of the new configuration leaves to them only what they would do as it would itself.
 */
describe('workers of the old configuration hold entries of a killed run, and another name has', () => {
  const ORDERS = 240;
  const SPREAD = 'work: {engine: pg-boss, serve_works: false}\n';

  const names = [
    ['the job', 'job'],
    ['the source', 'source'],
    ['the layout', 'layout'],
    ['the platform', 'platform'],
  ] as const;
  // Workers refuse a job that they do not know, and follow the other names: RENAMINGS=all shows each of these.
  const tried = names.filter(([, changed]) => process.env.RENAMINGS === 'all' || changed === 'job');

  it.each(tried)('%s: each order is posted once, and what they cannot do is said', async (_, changed) => {
    const shop = await openWorkshop({
      flow: SPREAD + flowOf([]),
      api: 'concurrency: 4\nlease_seconds: 8\ntimeout_seconds: 3',
      sandbox: { latencyMs: 120 },
    });
    mkdirSync(join(shop.folder, 'layouts'));
    cpSync(GENERIC, join(shop.folder, 'layouts', 'mine.yaml'));
    shop.drop('1.csv', toCsv(manyRows(ORDERS)));
    const workers = await startWorkers(shop, 2, { LOG_LEVEL: 'silent' });
    let killed = shop.start('run', 'orders', '--json');
    await waitFor(async () => {
      // A busy machine may let the lease of a run expire.
      if (killed.hasEnded()) killed = shop.start('run', 'orders', '--json');
      return (await shop.posted()).length >= 20;
    });
    killed.kill('SIGKILL');
    await killed.ended;
    const text = readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8');
    shop.write('pipeline.yaml', text.replace(flowOf([]), flowOf([changed])));
    shop.drop('2.csv', toCsv([{ id: 'new', revenue: '12.00' }]));
    await leasesAreOver(shop);

    // They post for the same job whatever its sources are called, because a request was fixed when its order was decided.
    const job = changed === 'job' ? 'dutch' : 'orders';
    const beside = await shop.cli('run', job);
    const waiting = (await countStates(shop.db)).ready ?? 0;
    if (changed === 'job' && waiting > 0) {
      expect(beside.exitCode).toBe(1);
      expect(inOneLine(beside.stdout)).toMatch(
        /It stopped: A worker \(process \d+ on \S+\) has a different configuration \(without job dutch\) than the run\..*to be posted/,
      );
    } else {
      expect([0, 6], beside.stderr).toContain(beside.exitCode);
      expect(waiting).toBe(0);
    }
    for (const worker of workers) worker.kill('SIGTERM');
    for (const { ended } of workers) expect((await ended).exitCode).toBe(0);
    const last = await shop.cli('run', job);
    const { accepted = 0, in_doubt: doubts = 0, ...others } = await countStates(shop.db);
    expect(others).toEqual({});
    expect(accepted + doubts).toBe(ORDERS + 1);
    expect(last.exitCode, last.stderr).toBe(doubts > 0 ? 6 : 0);
    const posted = await shop.posted();
    expect(repeated(posted)).toEqual([]);
    expect(posted.length).toBeGreaterThanOrEqual(accepted);
  });
});
