import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { listAudit } from '../../src/reports/list-audit.ts';
import { seedRuns } from '../reports/seed.ts';
import { countStates, openWorkshop } from '../runs/workshop.ts';
import { waitFor } from '../support/wait-for.ts';
import {
  addDoubts,
  confirm,
  countDecisions,
  ended,
  hiddenFields,
  previewAll,
  toPreview,
} from './bulk-shop.ts';
import { startTestConsole, textOf } from './console-server.ts';

/**
 * Opens the seeded ledger with its two doubts: one of 33 EUR with evidence for deal D1, and one of 22 EUR for
 * a handle, whose process is gone.
 */
async function openSeeded({ doubts = 0, errors = [] }: { doubts?: number; errors?: unknown[] } = {}) {
  const shop = await openWorkshop();
  const seeded = await seedRuns(shop.db);
  if (doubts > 0) await addDoubts(shop.db, doubts);
  return { shop, db: shop.db, seeded, console: await startTestConsole(shop, {}, { errors }) };
}

describe('the preview of a bulk action', () => {
  it('has the numbers of review, lists what is left out and why, and changes nothing', async () => {
    const { shop, db, console } = await openSeeded({ doubts: 3 });
    expect((await shop.cli('review')).stdout).toContain('5 orders in doubt: 58.00 EUR');
    const list = await console.get('/doubts');
    expect(textOf(list.text)).toContain('Preview the 5 entries that match: 58.00 EUR');
    const { text } = await previewAll(console, { decision: 'write_off' });
    expect(text).toContain('Write off 4 entries: 25.00 EUR');
    expect(text).toContain('Chosen All entries in doubt');
    expect(text).toContain('1 entry was chosen and is left out');
    expect(text).toContain(
      'left out: there is evidence that the service has it. Settle it on its own page 1 33.00 EUR',
    );
    expect(await countDecisions(db)).toMatchObject({ decisions: 0 });
    expect((await countStates(db)).in_doubt).toBe(5);
  });

  it('is frozen: neither a reload nor later doubts extend it', async () => {
    const { db, console } = await openSeeded({ doubts: 3 });
    const preview = await previewAll(console, { decision: 'write_off' });
    await addDoubts(db, 10);
    expect(textOf((await console.get(preview.path)).text)).toContain('Write off 4 entries: 25.00 EUR');
    await confirm(console, preview);
    expect(await ended(db, preview.bulkId)).toMatchObject({ state: 'finished', settled: 4, changed: 0 });
    expect(await countStates(db)).toMatchObject({ in_doubt: 11, written_off: 5 });
  });

  it('uses the instant that the page used as the limit of the age filter', async () => {
    const { db, console } = await openSeeded({ doubts: 3 });
    const page = await console.get('/doubts?older=an_hour&job=attribute-orders');
    const shown = hiddenFields(page.text, '/bulk/preview');
    expect(shown.filter_since).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    // Each of the three is now more than an hour old, but was not when the page was shown.
    await sql`update ledger.entries set state_changed_at = ${shown.filter_since}::timestamptz + interval '1 second' where order_id like 'B%'`.execute(
      db,
    );
    const { text, bulkId } = toPreview(
      await console.post('/bulk/preview', {
        ...shown,
        scope: 'all',
        decision: 'write_off',
        reason: 'looked up',
      }),
    );
    expect(text).toContain('Write off 1 entry: 22.00 EUR');
    expect(text).toMatch(
      /Chosen Entries in doubt of job attribute-orders, in doubt since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC or longer/,
    );
    const { rows } = await sql<{ since: string }>`
      select filter ->> 'sinceBefore' as since from ops.bulk_actions where bulk_id = ${bulkId}::bigint`.execute(
      db,
    );
    expect(rows[0]?.since).toBe(shown.filter_since);
  });

  it('of ticked entries contains only these, and lists those that are no longer in doubt', async () => {
    const { db, seeded, console } = await openSeeded({ doubts: 3 });
    const { text: list } = await console.get('/doubts');
    const boxes = [...list.matchAll(/type="checkbox" name="entry" value="(\d+)"/g)].map(([, id = '']) => id);
    expect(boxes).toHaveLength(5);
    const ticked = [seeded.lostId, seeded.refusedId, boxes.at(-1) ?? ''];
    const fields = [
      ...Object.entries(hiddenFields(list, '/bulk/preview')),
      ...ticked.map((id) => ['entry', id] as const),
      ['scope', 'selected'],
      ['decision', 'write_off'],
      ['reason', 'looked up'],
    ] as const;
    const preview = toPreview(await console.post('/bulk/preview', fields));
    expect(preview.text).toContain('Chosen 3 entries, each ticked');
    expect(preview.text).toContain('Write off 2 entries: 23.00 EUR');
    expect(preview.text).toContain('left out: somebody has settled it, or it was sent again 1 44.00 EUR');
    await confirm(console, preview);
    expect(await ended(db, preview.bulkId)).toMatchObject({ settled: 2, changed: 0 });
    expect((await countStates(db)).in_doubt).toBe(3);
  });

  it('requires a ticked or matching entry, and accepts a deal only for credited orders', async () => {
    const { console } = await openSeeded();
    const post = async (fields: Readonly<Record<string, string>>) => {
      const { status, text } = await console.post('/bulk/preview', { reason: 'looked up', ...fields });
      return [status, textOf(text)];
    };
    expect(await post({ scope: 'selected', decision: 'write_off' })).toEqual([
      400,
      expect.stringContaining('Tick at least one entry.'),
    ]);
    expect(await post({ scope: 'all', decision: 'write_off', deal: 'D1' })).toEqual([
      400,
      expect.stringContaining('Leave both empty.'),
    ]);
    expect(await post({ scope: 'all', decision: 'write_off', filter_deal: 'NONE' })).toEqual([
      409,
      expect.stringContaining('No entry in doubt matches any more'),
    ]);
    expect(textOf((await console.get('/bulk')).text)).toContain('There are no bulk actions yet.');
  });

  it('names a deal for each accepted entry: its own, that of its evidence, or else the given one', async () => {
    const { db, seeded, console } = await openSeeded({ doubts: 1 });
    const without = await previewAll(console, { decision: 'accepted' });
    expect(without.text).toContain('Accept 2 entries as credited: 34.00 EUR');
    expect(without.text).toContain(
      'left out: it is unknown which deal was credited. Enter the deal, or settle the entry alone 1 22.00 EUR',
    );
    const given = await previewAll(console, { decision: 'accepted', deal: 'D9' });
    expect(given.text).toContain('Accept 3 entries as credited: 56.00 EUR');
    await confirm(console, given);
    expect(await ended(db, given.bulkId)).toMatchObject({ settled: 3 });
    const { rows } = await sql<{ entry_id: string; deal_id: string }>`
      select entry_id, deal_id from ledger.entries where state_reason = 'accepted by decision' order by entry_id`.execute(
      db,
    );
    expect(rows.map(({ deal_id }) => deal_id)).toEqual(['D1', 'D9', 'D1']);
    expect(rows.map(({ entry_id }) => entry_id)).toContain(seeded.lostId);
  });

  it('cannot be confirmed after a day, and its frozen entries are deleted', async () => {
    const { db, console } = await openSeeded({ doubts: 3 });
    const preview = await previewAll(console, { decision: 'write_off' });
    const fields = hiddenFields((await console.get(preview.path)).text, '/bulk/confirm');
    await sql`update ops.bulk_actions set expires_at = clock_timestamp()`.execute(db);
    const late = await console.post('/bulk/confirm', { ...fields, reason: 'looked up' });
    expect(late.status).toBe(409);
    expect(textOf(late.text)).toMatch(/The preview 1 expired at .* UTC\. Make a new preview/);
    const page = textOf((await console.get(preview.path)).text);
    expect(page).toContain('it was not executed. Nothing was changed.');
    // Any change makes the process check for pending work immediately.
    await previewAll(console, { decision: 'write_off' });
    await waitFor(async () => {
      const { rows } = await sql`select from ops.bulk_items where bulk_id = 1`.execute(db);
      return rows.length === 0;
    });
    expect(textOf((await console.get('/bulk')).text)).toMatch(/1 expired Write off 4 entries: 25\.00 EUR/);
    expect((await countStates(db)).in_doubt).toBe(5);
  });
});

describe('a bulk action', () => {
  it('changes the ledger and the reports entry by entry like review, with a record for each and one for all', async () => {
    const { shop, db, seeded, console } = await openSeeded({ doubts: 2 });
    const preview = await previewAll(console, { decision: 'write_off' });
    await confirm(console, preview, { reason: 'asked jane@example.com' });
    await ended(db, preview.bulkId);
    const { rows } = await sql`
      select e.state, e.state_reason, d.decision, d.reason, d.attempt, d.decided_by, s.disposition, s.disposition_reason
      from ledger.entries e join ledger.decisions d using (entry_id) join reporting.order_dispositions s using (entry_id)
      where e.entry_id = ${seeded.lostId}::bigint`.execute(db);
    expect(rows).toEqual([
      {
        state: 'written_off',
        state_reason: 'written off by decision',
        decision: 'write_off',
        reason: 'asked j***@***',
        attempt: 1,
        decided_by: 'tester',
        disposition: 'held',
        disposition_reason: 'written_off',
      },
    ]);
    expect(await countDecisions(db)).toEqual({ decisions: 3, entries: 3, audited: 3, entriesAudited: 3 });
    const [part] = await listAudit(db, { limit: 1, subject: seeded.lostId });
    expect(part).toMatchObject({
      action: 'settle_doubt',
      actor: 'tester',
      bulkId: preview.bulkId,
      via: 'console',
    });
    const whole = await listAudit(db, { limit: 10 });
    expect(whole.map(({ action, subject }) => [action, subject])).toEqual([
      ['confirm_bulk', preview.bulkId],
      ['preview_bulk', preview.bulkId],
    ]);
    expect(textOf((await console.get(`/audit?bulk=${preview.bulkId}`)).text)).toContain(
      `Entry ${seeded.lostId} is written off now.`,
    );
    expect((await console.get('/audit')).text).toContain(`href="/bulk/${preview.bulkId}"`);
    expect((await shop.cli('review')).stdout).toContain('1 order in doubt: 33.00 EUR');
    expect(textOf((await console.get('/bulk')).text)).toMatch(
      /1 finished Write off 3 entries: 24\.00 EUR .* 3 asked/,
    );
  });

  it('skips and counts entries that have changed since the preview', async () => {
    const { db, seeded, console } = await openSeeded({ doubts: 3 });
    const preview = await previewAll(console, { decision: 'write_off' });
    // One was settled. Another was sent again: it is in doubt as before, but because of another attempt.
    await sql`update ledger.entries set state = 'accepted', deal_id = 'D1', state_reason = 'x' where entry_id = ${seeded.lostId}::bigint`.execute(
      db,
    );
    await sql`update ledger.entries set attempt = 2, resends_approved = 1 where order_id = (select max(order_id) from ledger.entries where order_id like 'B%')`.execute(
      db,
    );
    await confirm(console, preview);
    expect(await ended(db, preview.bulkId)).toMatchObject({
      state: 'finished',
      settled: 2,
      changed: 2,
      failed: 0,
    });
    expect(await countStates(db)).toMatchObject({ written_off: 3, in_doubt: 2 });
    const page = textOf((await console.get(preview.path)).text);
    expect(page).toContain('not changed: it has changed since the preview 2 23.00 EUR');
    expect(textOf((await console.get(`${preview.path}?outcome=changed`)).text)).toContain(
      'shopify order 1006',
    );
  });

  it('is confirmed only once, and a reload of any page repeats nothing', async () => {
    const { db, console } = await openSeeded({ doubts: 3 });
    const preview = await previewAll(console, { decision: 'write_off' });
    const fields = {
      ...hiddenFields((await console.get(preview.path)).text, '/bulk/confirm'),
      reason: 'looked up',
    };
    const answers = await Promise.all([1, 2, 3].map(() => console.post('/bulk/confirm', fields)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    await ended(db, preview.bulkId);
    const again = await console.post('/bulk/confirm', fields);
    expect([again.status, textOf(again.text)]).toEqual([
      409,
      expect.stringContaining('has already finished'),
    ]);
    for (const path of ['/doubts', preview.path, '/bulk']) await console.get(path);
    expect(await countDecisions(db)).toMatchObject({ decisions: 4, entries: 4 });
  });

  it('sends entries again only if the operator ticked the box for it', async () => {
    const { db, seeded, console } = await openSeeded();
    const preview = await previewAll(console, { decision: 'resend' });
    const unticked = await confirm(console, preview);
    expect([unticked.status, unticked.text]).toEqual([409, expect.stringContaining('tick the box')]);
    expect((await confirm(console, preview, { understood: 'yes' })).status).toBe(200);
    expect(await ended(db, preview.bulkId)).toMatchObject({ settled: 1 });
    const { rows } =
      await sql`select state from ledger.entries where entry_id in (${seeded.lostId}, ${seeded.doubtId}) order by entry_id`.execute(
        db,
      );
    expect(rows).toEqual([{ state: 'in_doubt' }, { state: 'ready' }]);
  });

  it('settles nothing more after an abort, and updates its reports', async () => {
    const { db, console } = await openSeeded({ doubts: 1_500 });
    const preview = await previewAll(console, { decision: 'write_off' });
    await confirm(console, preview);
    await waitFor(async () => (await settledOf(db)) > 5);
    expect(textOf((await console.get(preview.path)).text)).toMatch(
      / \d[\d,]* of 1,501 entries are done\. Process \d+ on \S+ is working on it/,
    );
    const aborted = await console.post('/bulk/abort', {
      bulk: preview.bulkId,
      reason: 'wrong ones',
      return_to: preview.path,
    });
    expect(textOf(aborted.text)).toContain('is aborted. Entries that it has settled stay settled.');
    const atAbort = await settledOf(db);
    expect(await ended(db, preview.bulkId)).toMatchObject({
      state: 'aborted',
      settled: atAbort,
      abortedBy: 'tester',
    });
    expect(atAbort).toBeLessThan(1_501);
    expect(await countDecisions(db)).toMatchObject({ decisions: atAbort, audited: atAbort });
    const again = await console.post('/bulk/abort', { bulk: preview.bulkId, reason: 'x' });
    expect([again.status, textOf(again.text)]).toEqual([409, expect.stringContaining('tester has aborted')]);
  });

  it('continues after an entry that cannot be settled, and reports it', async () => {
    const errors: unknown[] = [];
    const { db, console } = await openSeeded({ doubts: 3, errors });
    await sql`alter table ledger.entries add constraint refused check (order_id <> '1006' or state <> 'written_off')`.execute(
      db,
    );
    const preview = await previewAll(console, { decision: 'write_off' });
    await confirm(console, preview);
    expect(await ended(db, preview.bulkId)).toMatchObject({ state: 'finished', settled: 3, failed: 1 });
    expect(errors.splice(0)).toMatchObject([{ code: '23514' }]);
  });

  it('is shown in pages', async () => {
    const { db, console } = await openSeeded({ doubts: 120 });
    const { path, bulkId } = await previewAll(console, { decision: 'write_off' });
    const seen: string[] = [];
    let next: string | null = path;
    for (let parts = 0; next !== null && parts < 5; parts += 1) {
      const { text } = await console.get(next);
      seen.push(...[...text.matchAll(/href="\/doubts\?entry=(\d+)"/g)].map(([, id = '']) => id));
      next = /rel="next" href="([^"]+)"/.exec(text)?.[1]?.replaceAll('&amp;', '&') ?? null;
    }
    const { rows } = await sql<{ entry_id: string }>`
      select subject_id as entry_id from ops.bulk_items where bulk_id = ${bulkId}::bigint order by subject_id`.execute(
      db,
    );
    expect(rows).toHaveLength(122);
    expect(seen).toEqual(rows.map(({ entry_id }) => entry_id));
  });

  it('is shown to viewers without forms, and cannot be carried out in a read-only console', async () => {
    const { db, shop, console } = await openSeeded({ doubts: 3 });
    const preview = await previewAll(console, { decision: 'write_off' });
    const readOnly = await startTestConsole(shop, { readOnly: true });
    const { text } = await readOnly.get(preview.path);
    expect(text).not.toContain('method="post"');
    expect(textOf(text)).toContain('Write off 4 entries: 25.00 EUR');
    expect((await readOnly.get('/doubts')).text).not.toMatch(/method="post"|type="checkbox"/);
    for (const id of ['99', 'x', '1%27']) expect((await console.get(`/bulk/${id}`)).status).toBe(404);
    expect((await countStates(db)).in_doubt).toBe(5);
  });
});

async function settledOf(db: Parameters<typeof countStates>[0]): Promise<number> {
  const { rows } = await sql<{ settled: string }>`
    select count(*) as settled from ops.bulk_items where outcome = 'settled'`.execute(db);
  return Number(rows[0]?.settled);
}
