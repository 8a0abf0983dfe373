import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { listAudit } from '../../src/reports/list-audit.ts';
import { seedRuns } from '../reports/seed.ts';
import { openWorkshop, toCsv, type Workshop } from '../runs/workshop.ts';
import { addDoubleCredits, confirm, ended, hiddenFields, toPreview } from './bulk-shop.ts';
import { startTestConsole, textOf } from './console-server.ts';

/** Opens a workshop with three held files and one file that was read. */
async function openHeld(): Promise<Workshop> {
  const shop = await openWorkshop();
  shop.drop('april.csv', toCsv([{ id: 'A1', revenue: '12.50' }]));
  for (const name of ["<i>'one'.csv", 'two.csv', 'three.csv']) shop.drop(name, `${name},b\n1,2\n`);
  await shop.run();
  return shop;
}

const statesOf = async (db: Database) => {
  const { rows } = await sql<{ name: string; state: string; reread: boolean }>`
    select regexp_replace(uri, '.*/', '') as name, state, reread_at is not null as reread from intake.source_files order by 1`.execute(
    db,
  );
  return Object.fromEntries(rows.map(({ name, state, reread }) => [name, reread ? 'reread' : state]));
};

const fieldsOf = (names: Readonly<Record<string, string>>, ids: readonly string[] = []) => [
  ...Object.entries(names),
  ...ids.map((id) => ['file', id] as const),
];

it('a bulk release releases all matching held files like the command, with a record for each', async () => {
  const shop = await openHeld();
  const console = await startTestConsole(shop);
  const shown = hiddenFields((await console.get('/files?state=held')).text, '/bulk/preview-files');
  const preview = toPreview(
    await console.post('/bulk/preview-files', {
      ...shown,
      scope: 'all',
      decision: 'release',
      reason: 'test exports',
    }),
  );
  expect(preview.text).toContain('Discard the rows of 3 files');
  expect(preview.text).toContain('Chosen All files that are held');
  expect(await statesOf(shop.db)).toMatchObject({ 'two.csv': 'held' });
  // A file that is held later is not part of the action, and a file that was released in the meantime is left
  // alone.
  shop.drop('four.csv', 'x,b\n1,2\n');
  await shop.run();
  await shop.cli('files', 'release', 'two.csv', '--reason', 'alone');
  await confirm(console, preview);
  expect(await ended(shop.db, preview.bulkId)).toMatchObject({ state: 'finished', settled: 2, changed: 1 });
  expect(await statesOf(shop.db)).toMatchObject({
    'april.csv': 'sealed',
    'three.csv': 'released',
    'four.csv': 'held',
  });
  const page = textOf((await console.get(preview.path)).text);
  expect(page).toMatch(/it has changed since the preview 1 discarded 2/);
  const records = await listAudit(shop.db, { limit: 10, bulkId: preview.bulkId });
  expect(records).toMatchObject([
    { action: 'release_file', via: 'console', actor: 'tester', reason: 'looked up' },
    { action: 'release_file' },
  ]);
});

it('a bulk reread reads ticked files again and leaves out files to which the decision does not apply', async () => {
  const shop = await openHeld();
  const console = await startTestConsole(shop);
  const { text } = await console.get('/files');
  const boxes = [...text.matchAll(/type="checkbox" name="file" value="(\d+)"/g)].map(([, id = '']) => id);
  expect(boxes).toHaveLength(4);
  const preview = async (decision: string) =>
    toPreview(
      await console.post(
        '/bulk/preview-files',
        fieldsOf({ scope: 'selected', decision, reason: 'its layout was corrected' }, boxes),
      ),
    );
  const release = await preview('release');
  expect(release.text).toContain('Discard the rows of 3 files');
  expect(release.text).toMatch(/1 file was chosen and is left out.* left out: it is no longer held 1/);
  const reread = await preview('reread');
  expect(reread.text).toContain('Read 4 files again');
  await confirm(console, reread);
  expect(await ended(shop.db, reread.bulkId)).toMatchObject({ settled: 4 });
  expect(await statesOf(shop.db)).toEqual({
    "%3Ci%3E'one'.csv": 'reread',
    'april.csv': 'reread',
    'three.csv': 'reread',
    'two.csv': 'reread',
  });
  const none = await console.post('/bulk/preview-files', {
    scope: 'selected',
    decision: 'reread',
    reason: 'x',
  });
  expect([none.status, textOf(none.text)]).toEqual([400, expect.stringContaining('Tick at least one file.')]);
});

it('a bulk acknowledgement of double credits leaves out one that was credited again in the meantime', async () => {
  const shop = await openWorkshop();
  await seedRuns(shop.db);
  await addDoubleCredits(shop.db);
  const console = await startTestConsole(shop);
  const { text: list } = await console.get('/doubts');
  expect(textOf(list)).toContain('Preview the 2 double credits');
  const shown = hiddenFields(list, '/bulk/preview-credits');
  const preview = toPreview(
    await console.post('/bulk/preview-credits', { ...shown, scope: 'all', reason: 'taken back' }),
  );
  const tooMuch = /Acknowledge the double credit of 2 entries: (.*?) too much/.exec(preview.text)?.[1];
  expect((await shop.cli('review')).stdout).toContain(`${tooMuch} too much`);
  await sql`
    insert into ledger.answers (entry_id, attempt, kind, http_status, message, deal_id, via, applied)
    select entry_id, 9, 'accepted', 200, 'Order added.', 'D1', 'direct', false from ledger.entries where order_id = '1001'`.execute(
    shop.db,
  );
  await confirm(console, preview);
  expect(await ended(shop.db, preview.bulkId)).toMatchObject({ settled: 1, changed: 1 });
  expect((await shop.cli('review')).stdout).toContain('Credited more than once (1)');
  expect(await listAudit(shop.db, { limit: 10, bulkId: preview.bulkId })).toMatchObject([
    { action: 'acknowledge_double_credit', reason: 'looked up', via: 'console' },
  ]);
});
