import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { listAudit } from '../../src/reports/list-audit.ts';
import { type Seeded, seedRuns } from '../reports/seed.ts';
import { openWorkshop } from '../runs/workshop.ts';
import { type ConsoleServer, startTestConsole, textOf } from './console-server.ts';
import { openConsoleShop } from './console-shop.ts';

/**
 * Opens the seeded ledger: entry 1005 is in doubt with evidence for deal D1, and entry 1006 was sent for a
 * handle by a process that is gone.
 */
async function openSeeded() {
  const shop = await openWorkshop();
  const seeded = await seedRuns(shop.db);
  return { shop, seeded, console: await startTestConsole(shop) };
}

/** Returns the hidden fields that the page of an entry would send in its current state. */
async function shownFields({ get }: ConsoleServer, entry: string): Promise<Record<string, string>> {
  const { text } = await get(`/doubts?entry=${entry}`);
  const [, form = ''] = text.split('action="/doubts/settle"');
  return Object.fromEntries(
    [...form.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)].map(
      ([, name = '', value = '']) => [name, value],
    ),
  );
}

async function stateOf({ shop, entry }: { shop: { db: Parameters<typeof listAudit>[0] }; entry: string }) {
  const { rows } = await sql<{ state: string; deal_id: string | null; decisions: string }>`
    select state, deal_id, (select count(*) from ledger.decisions d where d.entry_id = e.entry_id) as decisions
    from ledger.entries e where entry_id = ${entry}::bigint`.execute(shop.db);
  return rows[0];
}

describe('orders in doubt', () => {
  it('are listed with the numbers of the command, each with hints what to look for', async () => {
    const { shop, seeded, console } = await openSeeded();
    expect((await shop.cli('review')).stdout).toContain('2 orders in doubt: 55.00 EUR');
    const list = textOf((await console.get('/doubts')).text);
    expect(list).toContain('2 entries in doubt : 55.00 EUR');
    expect(list).toMatch(/shopify order 1005 33\.00 EUR/);
    expect(list).toContain('webhook order');
    const one = textOf((await console.get(`/doubts?entry=${seeded.doubtId}`)).text);
    expect(one).toMatch(/Platform shopify Order id 1005/);
    expect(one).toMatch(/webhook order, deal D1, 33\.00 EUR/);
  });

  it('name the reference to look for, as the service has it in the notes of the order', async () => {
    const { shop } = await openConsoleShop();
    const { get } = await startTestConsole(shop);
    const doubtful = (await shop.sandbox.referrals()).find(({ order_id: id }) => id === 'A2');
    expect(doubtful?.order_notes).toMatch(/^influencer-sync [0-9a-f]{8}\.e2\.a1$/);
    expect(textOf((await get('/doubts?entry=2')).text)).toContain(
      `Reference, in the notes of the order ${doubtful?.order_notes}`,
    );
  });

  it('are filtered by reason, deal and age, and the sum is that of the filtered entries', async () => {
    const { console } = await openSeeded();
    const gone = 'its process was gone before the answer was recorded';
    const list = textOf((await console.get(`/doubts?reason=${encodeURIComponent(gone)}`)).text);
    expect(list).toContain('1 entry in doubt : 22.00 EUR');
    expect(list).not.toMatch(/shopify order 1005/);
    expect(textOf((await console.get('/doubts?deal=NONE')).text)).toContain('Nothing matches this filter.');
    expect(textOf((await console.get('/doubts?older=an_hour')).text)).toContain('2 entries in doubt');
  });

  it.each([
    ['accepted', ['--accepted'], {}],
    ['write_off', ['--write-off'], {}],
    ['resend', ['--resend', '--yes'], { understood: 'yes' }],
  ] as const)(
    'the decision %s changes the ledger and the reports exactly like the command',
    async (decision, options, more) => {
      const byCommand = await openSeeded();
      const { doubtId } = byCommand.seeded;
      expect(
        (await byCommand.shop.cli('review', doubtId, ...options, '--reason', 'looked up')).exitCode,
      ).toBe(0);
      const byForm = await openSeeded();
      const fields = await shownFields(byForm.console, doubtId);
      const answer = await byForm.console.post('/doubts/settle', {
        ...fields,
        ...more,
        decision,
        reason: 'looked up',
      });
      expect(answer.status).toBe(200);
      expect(answer.url).toMatch(/\/doubts\?done=\d+$/);
      expect(textOf(answer.text)).toContain(`Entry ${doubtId} is `);
      const situation = async (db: typeof byForm.shop.db) => {
        const { rows } = await sql`
        select e.state, e.state_reason, e.attempt, e.resends_approved, e.deal_id, e.collab_id, d.decision, d.attempt as decided, d.reason,
          s.disposition, s.disposition_reason
        from ledger.entries e left join ledger.decisions d using (entry_id) left join reporting.order_dispositions s using (entry_id)
        where e.entry_id = ${doubtId}::bigint`.execute(db);
        return rows;
      };
      expect(await situation(byForm.shop.db)).toEqual(await situation(byCommand.shop.db));
      const [formRecord] = await listAudit(byForm.shop.db, { limit: 1 });
      const [commandRecord] = await listAudit(byCommand.shop.db, { limit: 1 });
      const about = { action: 'settle_doubt', subjectKind: 'entry', subject: doubtId, reason: 'looked up' };
      expect(formRecord).toMatchObject({ ...about, actor: 'tester', via: 'console' });
      expect(commandRecord).toMatchObject({
        ...about,
        via: 'command',
        before: formRecord?.before,
        after: formRecord?.after,
      });
    },
  );

  it('the second decision on an entry is refused, and so is a form from before it was sent again', async () => {
    const { shop, seeded, console } = await openSeeded();
    const entry = seeded.doubtId;
    const fields = { ...(await shownFields(console, entry)), reason: 'looked up' };
    await console.post('/doubts/settle', { ...fields, decision: 'accepted' });
    const second = await console.post('/doubts/settle', { ...fields, decision: 'write_off' });
    expect(second.status).toBe(409);
    expect(textOf(second.text)).toContain(`Entry ${entry} is accepted now`);
    expect(await stateOf({ shop, entry })).toEqual({ state: 'accepted', deal_id: 'D1', decisions: '1' });

    const other = { ...(await shownFields(console, seeded.lostId)), reason: 'looked up' };
    await sql`update ledger.entries set attempt = attempt + 1, resends_approved = 1, state = 'in_doubt', owner = null, doubtful_attempt = 1, state_reason = 'x'
      where entry_id = ${seeded.lostId}::bigint`.execute(shop.db);
    const stale = await console.post('/doubts/settle', { ...other, decision: 'write_off' });
    expect(stale.status).toBe(409);
    expect((await stateOf({ shop, entry: seeded.lostId }))?.state).toBe('in_doubt');
  });

  it('of concurrent decisions on one entry only one is made', async () => {
    const { shop, seeded, console } = await openSeeded();
    const fields = {
      ...(await shownFields(console, seeded.doubtId)),
      reason: 'looked up',
      decision: 'write_off',
    };
    const answers = await Promise.all([1, 2, 3].map(() => console.post('/doubts/settle', fields)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    expect((await stateOf({ shop, entry: seeded.doubtId }))?.decisions).toBe('1');
    expect(await listAudit(shop.db, { limit: 10 })).toHaveLength(1);
  });

  it('an entry without a deal can be accepted only with one, and the deals of the mirror are suggested', async () => {
    const { shop, seeded, console } = await openSeeded();
    await sql`
      insert into mirror.deal_versions (deal_id, influencer_handle, brand_id, is_active, raw, row_hash, valid_from, first_seen_at, run_id)
      values ('D7', '@Mara.Paints', '4819', true, '{}', 'a', now(), now(), ${seeded.runId})`.execute(shop.db);
    const { text } = await console.get(`/doubts?entry=${seeded.lostId}`);
    expect(text).toContain('<option value="D7">brand 4819</option>');
    const fields = {
      ...(await shownFields(console, seeded.lostId)),
      reason: 'looked up',
      decision: 'accepted',
    };
    const refused = await console.post('/doubts/settle', { ...fields, deal: '', collab: '' });
    expect(refused.status).toBe(409);
    expect(textOf(refused.text)).toContain('it is unknown which deal was credited');
    expect((await console.post('/doubts/settle', { ...fields, deal: 'D7' })).status).toBe(200);
    expect(await stateOf({ shop, entry: seeded.lostId })).toMatchObject({ state: 'accepted', deal_id: 'D7' });
  });

  it('an entry is sent again only after a tick, and settled only with a reason', async () => {
    const { shop, seeded, console } = await openSeeded();
    const fields = await shownFields(console, seeded.doubtId);
    const unticked = await console.post('/doubts/settle', {
      ...fields,
      decision: 'resend',
      reason: 'not there',
    });
    expect([unticked.status, textOf(unticked.text)]).toEqual([400, expect.stringContaining('tick the box')]);
    for (const reason of ['', '  '])
      expect(
        (await console.post('/doubts/settle', { ...fields, decision: 'write_off', reason })).status,
      ).toBe(400);
    expect(await stateOf({ shop, entry: seeded.doubtId })).toMatchObject({
      state: 'in_doubt',
      decisions: '0',
    });
  });

  it('a refused entry can be sent again, and a settled entry has no form', async () => {
    const { shop, seeded, console } = await openSeeded();
    const { refusedId } = seeded as Seeded;
    const { text } = await console.get(`/doubts?entry=${refusedId}`);
    expect(text).not.toContain('value="write_off"');
    // The page of its order leads here.
    const { rows } = await sql<{
      id: string;
    }>`select order_id as id from ledger.entries where entry_id = ${refusedId}::bigint`.execute(shop.db);
    expect((await console.get(`/orders/-/${rows[0]?.id}`)).text).toContain(
      `href="/doubts?entry=${refusedId}">Send it again<`,
    );
    const fields = { ...(await shownFields(console, refusedId)), decision: 'resend', understood: 'yes' };
    const waits = (text: string) => Number(/class="waits" title="(\d+) waiting/.exec(text)?.[1] ?? 0);
    const before = waits((await console.get('/doubts')).text);
    const answer = await console.post('/doubts/settle', { ...fields, reason: 'corrected' });
    // The header, which may be some seconds old, counts what this person has just changed.
    const now = waits((await console.get('/')).text);
    expect([answer.status, waits(answer.text)]).toEqual([200, now]);
    expect(now).not.toBe(before);
    expect(await stateOf({ shop, entry: refusedId })).toMatchObject({ state: 'ready' });
    expect(textOf((await console.get(`/doubts?entry=${refusedId}`)).text)).toContain(
      'There is nothing to settle.',
    );
    expect((await console.get('/doubts?entry=999')).status).toBe(404);
  });

  it('a viewer sees entries without a form', async () => {
    const { shop, seeded } = await openSeeded();
    const { get } = await startTestConsole(shop, { readOnly: true });
    const { text } = await get(`/doubts?entry=${seeded.doubtId}`);
    expect(text).not.toContain('method="post"');
    expect(textOf(text)).toContain('This console is read-only.');
  });

  it('hostile text of the service is escaped, and e-mail addresses in a reason are masked', async () => {
    const { shop, entry } = await openHostile();
    const console = await startTestConsole(shop);
    for (const path of ['/doubts', `/doubts?entry=${entry}`]) {
      const { text } = await console.get(path);
      expect(text).toContain('&lt;script&gt;alert(2)');
      expect(text).not.toMatch(/<script>alert|jane@example\.com/);
    }
    const fields = {
      ...(await shownFields(console, entry)),
      decision: 'write_off',
      reason: 'asked jane@example.com <b>',
    };
    const { url } = await console.post('/doubts/settle', fields);
    expect(url).toMatch(/done=/);
    const audit = await console.get('/audit');
    expect(audit.text).toContain('asked j***@*** &lt;b&gt;');
  });
});

async function openHostile() {
  const { shop } = await openConsoleShop();
  const { rows } = await sql<{ entry_id: string }>`
    update ledger.entries set state_reason = '<script>alert(2)</script> jane@example.com' where state = 'in_doubt' returning entry_id`.execute(
    shop.db,
  );
  return { shop, entry: rows[0]?.entry_id ?? '' };
}

describe('double credits', () => {
  it('are listed with the numbers of the command, and acknowledged once, in the state that was shown', async () => {
    const { shop, console } = await openSeeded();
    const { rows } = await sql<{ entry_id: string }>`
      insert into ledger.answers (entry_id, attempt, kind, http_status, message, deal_id, via, applied)
      select entry_id, 2, 'accepted', 200, 'Order added.', 'D1', 'direct', false from ledger.entries where order_id = '1001'
      returning entry_id`.execute(shop.db);
    const entry = rows[0]?.entry_id ?? '';
    expect((await shop.cli('review')).stdout).toContain('1,234.50 EUR too much');
    expect(textOf((await console.get('/doubts')).text)).toMatch(
      /Credited more than once .* shopify order 1001 1,234\.50 EUR 2 times/,
    );
    const fields = { ...(await shownFields(console, entry)), reason: 'taken back' };
    expect(fields).toMatchObject({ credits: '2', decision: 'acknowledge' });
    expect((await console.post('/doubts/settle', { ...fields, credits: '3' })).status).toBe(409);
    const done = await console.post('/doubts/settle', fields);
    expect(textOf(done.text)).toContain(`The double credit of entry ${entry} is acknowledged.`);
    expect((await console.post('/doubts/settle', fields)).status).toBe(409);
    expect((await shop.cli('review')).stdout).not.toContain('too much');
  });
});
