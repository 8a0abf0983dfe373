import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { listAudit } from '../../src/reports/list-audit.ts';
import { addDoubleCredits, addDoubts, countDecisions } from '../console/bulk-shop.ts';
import { seedRuns } from '../reports/seed.ts';
import { countStates, openWorkshop } from '../runs/workshop.ts';
import { readEvents } from '../support/run-cli.ts';
import { waitFor } from '../support/wait-for.ts';

async function openSeeded(doubts: number) {
  const shop = await openWorkshop();
  const seeded = await seedRuns(shop.db);
  if (doubts > 0) await addDoubts(shop.db, doubts);
  return { shop, db: shop.db, seeded };
}

const WRITE_OFF = ['review', '--all', '--write-off', '--reason', 'nobody can find out'];

describe('review --all', () => {
  it('prints count, amount and omitted entries, and changes nothing without --yes if no terminal can confirm', async () => {
    const { shop, db } = await openSeeded(3);
    const { exitCode, stdout, stderr } = await shop.cli(...WRITE_OFF);
    expect(exitCode).toBe(2);
    expect(stdout).toContain('Write off 4 entries: 25.00 EUR\n  All entries in doubt');
    expect(stdout.replace(/\s+/g, ' ')).toContain(
      '1 entry, 33.00 EUR: left out: there is evidence that the service has it. Settle it on its own page',
    );
    expect(stderr).toContain('--yes');
    expect(await countDecisions(db)).toMatchObject({ decisions: 0 });
    expect((await shop.cli('review', '--all', '--write-off')).exitCode).toBe(2);
    expect((await shop.cli('review', '--all', '--reason', 'x')).exitCode).toBe(2);
    expect((await shop.cli('review', '7', ...WRITE_OFF.slice(1))).exitCode).toBe(2);
  });

  it('settles each entry like a single decision, with a record for each and one for all', async () => {
    const { shop, db, seeded } = await openSeeded(3);
    const { exitCode, stdout } = await shop.cli(...WRITE_OFF, '--yes', '--json');
    expect(exitCode).toBe(0);
    expect(readEvents({ stdout }).filter(({ event }) => String(event).startsWith('bulk'))).toMatchObject([
      { event: 'bulk_previewed', decision: 'write_off', entries: 4, ineligible: 1 },
      { event: 'bulk_ended', state: 'finished', settled: 4, changed: 0, failed: 0 },
    ]);
    expect(await countStates(db)).toMatchObject({ in_doubt: 1, written_off: 5 });
    expect(await countDecisions(db)).toEqual({ decisions: 4, entries: 4, audited: 4, entriesAudited: 4 });
    const [part] = await listAudit(db, { limit: 1, subject: seeded.lostId });
    expect(part).toMatchObject({
      action: 'settle_doubt',
      via: 'command',
      bulkId: '1',
      reason: 'nobody can find out',
    });
    expect((await listAudit(db, { limit: 10 })).map(({ action, via }) => [action, via])).toEqual([
      ['confirm_bulk', 'command'],
      ['preview_bulk', 'command'],
    ]);
    expect((await shop.cli(...WRITE_OFF, '--for-deal', 'NONE', '--yes')).stdout).toBe(
      'No order in doubt matches.\n',
    );
  });

  it('settles only the entries that match job, reason, deal and age', async () => {
    const { shop, db } = await openSeeded(3);
    const only = ['--why', 'no answer in time', '--for-deal', 'D1', '--job', 'attribute-orders'];
    await sql`update ledger.entries set state_changed_at = now() - interval '3 days' where order_id = (select max(order_id) from ledger.entries where order_id like 'B%')`.execute(
      db,
    );
    const { stdout } = await shop.cli(...WRITE_OFF, ...only, '--older-than', '2d', '--yes');
    expect(stdout.replace(/\s+/g, ' ')).toMatch(
      /Write off 1 entry: 1\.00 EUR Entries in doubt of job attribute-orders, for deal D1, in doubt since .* UTC or longer, because no answer in time/,
    );
    expect(stdout).toContain('1 entry, 1.00 EUR: written off');
    expect(await countStates(db)).toMatchObject({ in_doubt: 4 });
  });

  it('acknowledges all double credits', async () => {
    const { shop, db } = await openSeeded(0);
    await addDoubleCredits(db);
    const { exitCode, stdout } = await shop.cli(
      'review',
      '--all',
      '--acknowledge',
      '--reason',
      'taken back',
      '--yes',
    );
    expect(exitCode).toBe(0);
    expect(stdout).toContain('Acknowledge the double credit of 2 entries:');
    expect((await shop.cli('review')).stdout).not.toContain('Credited more than once');
  });

  it('stops on Ctrl-C: settled entries stay settled, and the others are unchanged', async () => {
    const { shop, db } = await openSeeded(1_500);
    const command = shop.start(...WRITE_OFF, '--yes');
    const settled = async () =>
      (
        await sql<{
          n: number;
        }>`select count(*)::int as n from ops.bulk_items where outcome = 'settled'`.execute(db)
      ).rows[0]?.n ?? 0;
    await waitFor(async () => (await settled()) > 5);
    command.kill('SIGINT');
    const { exitCode, stdout } = await command.ended;
    expect(exitCode).toBe(130);
    expect(stdout).toContain('Bulk action 1 is aborted');
    const count = await settled();
    expect(count).toBeLessThan(1_501);
    expect(await countDecisions(db)).toMatchObject({ decisions: count, audited: count });
    expect((await listAudit(db, { limit: 1 }))[0]).toMatchObject({ action: 'abort_bulk', via: 'command' });
  });
});

it('files release --all releases the held files of a source', async () => {
  const shop = await openWorkshop();
  for (const name of ['one.csv', 'two.csv']) shop.drop(name, `${name},b\n1,2\n`);
  await shop.run();
  const release = ['files', 'release', '--all', '--source', 'shop', '--reason', 'test exports'];
  expect((await shop.cli(...release)).exitCode).toBe(2);
  expect((await shop.cli('files', 'release', '--reason', 'x')).exitCode).toBe(2);
  const { exitCode, stdout } = await shop.cli(...release, '--yes');
  expect(exitCode).toBe(0);
  expect(stdout).toContain('Discard the rows of 2 files\n  All files that are held, of source shop');
  expect(stdout).toContain('2 files: discarded');
  expect((await shop.cli('files')).stdout).toContain('2 released');
  expect((await shop.cli(...release, '--yes')).stdout).toBe('No file is held.\n');
});
