import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { listAudit } from '../../src/reports/list-audit.ts';
import { HEADER, openWorkshop, type Workshop } from '../runs/workshop.ts';
import { startTestConsole, textOf } from './console-server.ts';

/**
 * Opens a file with two rejected rows and one good row, and a file that is held. Their names and cells
 * contain markup.
 */
async function openRejected(): Promise<Workshop> {
  const shop = await openWorkshop();
  shop.drop(
    'april.csv',
    `${HEADER}
B1,10.00,EUR,MIA10,2026-04-10T11:11:26Z,paid
=B2,<b>x</b>,EUR,jane@example.com,2026-04-10T11:11:26Z,paid
B3,12.00,EUR,MIA10,yesterday,paid
`,
  );
  shop.drop("<i>'held'.csv", 'a,b\n1,2\n');
  await shop.run();
  return shop;
}

async function fileId({ db }: Workshop, name: string): Promise<string> {
  const { rows } = await sql<{ id: string }>`
    select source_file_id as id from intake.source_files where position(${name} in uri) > 0`.execute(db);
  return rows[0]?.id ?? '';
}

const lasting = async ({ db }: Workshop) =>
  (
    await sql`select state, released_by, release_reason, reread_at is not null as reread, reread_by from intake.source_files
      order by uri`.execute(db)
  ).rows;

describe('rejected rows', () => {
  it('are grouped by cause with the numbers of the command, and can be filtered', async () => {
    const shop = await openRejected();
    const { get } = await startTestConsole(shop);
    const listed = (await shop.cli('rejected')).stdout;
    expect(listed).toContain('2 rejected rows');
    const all = textOf((await get('/rejected')).text);
    expect(all).toContain('2 rows could not be used.');
    expect(all).toMatch(/bad money 1 1 .* bad time 1 1|bad time 1 1 .* bad money 1 1/);
    expect(all).toContain('april.csv line 3');
    // The file is not shown as read without fault, and what its rows are worth is not left out of a sum.
    const file = (await get(`/files/${await fileId(shop, 'april')}`)).text;
    expect(file).toContain('class="answer yellow"');
    expect(textOf(file)).toContain('See 2 of its rows to correct');
    expect(textOf((await get('/fix')).text)).toMatch(/rejected rows 1 unknown .* held files 1 unknown/);
    // An order of a file that could not be used is not called unknown.
    expect((await get('/orders/shop/B3')).text).toMatch(
      /<p>Not read: line 4 of april\.csv could not be used\..*href="\/rejected\/\d+\/3">See the row</,
    );
    const unknown = (await get('/orders/shop/NOPE')).text;
    expect(unknown).toMatch(
      /href="\/rejected\?source=shop">2 rows<\/a> could not be used, and one of them may be/,
    );
    const some = textOf((await get('/rejected?code=bad_money&file=april&source=shop&run=1')).text);
    expect(some).toContain('1 row could not be used.');
    expect(some).not.toContain('april.csv line 4');
    for (const filter of ['run=2', 'source=other', 'file=may', 'code=none'])
      expect(textOf((await get(`/rejected?${filter}`)).text)).toMatch(
        /Nothing matches this filter\.(?!.*No row is rejected)/,
      );
  });

  it('are shown as they are in the file, with addresses masked, to operators only', async () => {
    const shop = await openRejected();
    const path = `/rejected/${await fileId(shop, 'april')}/2`;
    const { text, status } = await (await startTestConsole(shop)).get(path);
    expect(status).toBe(200);
    expect(textOf(text)).toMatch(
      /In the file .*order_id =B2 .*order_revenue <b>x<\/b> .*discount_codes j\*\*\*@\*\*\*/,
    );
    expect(text).not.toMatch(/<b>x|jane@/);
    const token = 't'.repeat(32);
    const guarded = await startTestConsole(shop, { tokens: [{ name: 'robot', role: 'viewer', token }] });
    const viewed = await guarded.get(path, { authorization: `Bearer ${token}` });
    expect(textOf(viewed.text)).toContain('Only an operator may see the row itself.');
    expect(viewed.text).not.toContain('=B2');
    const saved = await guarded.get('/rejected?download=csv', { authorization: `Bearer ${token}` });
    expect([saved.status, saved.text.includes('=B2')]).toEqual([403, false]);
  });

  it('are shown without their content if the file is gone', async () => {
    const shop = await openRejected();
    rmSync(join(shop.folder, 'exports', 'april.csv'));
    const { get } = await startTestConsole(shop);
    const shown = await get(`/rejected/${await fileId(shop, 'april')}/2`);
    expect([shown.status, textOf(shown.text)]).toEqual([200, expect.stringContaining('The file is gone')]);
    const saved = await get('/rejected?download=csv');
    expect([saved.status, textOf(saved.text)]).toEqual([404, expect.stringContaining('are gone')]);
    rmSync(join(shop.folder, 'exports'), { recursive: true });
    expect((await get(`/rejected/${await fileId(shop, 'april')}/2`)).status).toBe(200);
  });

  it('are saved like the export of the command: formulas are escaped, and the file has a fixed name', async () => {
    const shop = await openRejected();
    const { url } = await startTestConsole(shop);
    const response = await fetch(`${url}/rejected?download=csv&code=bad_money`);
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="rejected-rows.csv"');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    const saved = await response.text();
    expect(saved).toContain("'=B2,<b>x</b>");
    const exported = await shop.cli('rejected', '--code', 'bad_money', '--export', '-');
    expect(saved).toBe(exported.stdout);
    // Under a header with more columns, a row would have blank cells that it does not have: each form is a file.
    const june =
      'order_id,order_revenue,currency,discount_codes,placed_at,status,note\nJ1,y,EUR,MIA10,2026-04-10T11:11:26Z,paid,gift\n';
    shop.drop('june.csv', june);
    await shop.run();
    const choice = await fetch(`${url}/rejected?download=csv&code=bad_money`);
    const links = [...(await choice.text()).matchAll(/href="([^"]*form=[^"]*)">([^<]*)</g)];
    expect([choice.status, ...links.map(([, , label]) => label)]).toEqual([
      200,
      '1 row of april.csv',
      '1 row of june.csv',
    ]);
    const files = links.map(async ([, href = '']) =>
      (await fetch(new URL(href.replaceAll('&amp;', '&'), url))).text(),
    );
    expect(await Promise.all(files)).toEqual([saved, june.replaceAll('\n', '\r\n')]);
    // A link never brings the rows of another form, although they are the only ones that are left.
    const [, ofJune = ''] = links.map(([, href = '']) => new URL(href.replaceAll('&amp;', '&'), url).href);
    const named = await fetch(ofJune);
    expect(named.headers.get('content-disposition')).toMatch(/"rejected-rows-[0-9a-f]{10}\.csv"/);
    const left = await (await fetch(`${ofJune}&file=april`)).text();
    expect(textOf(left)).toContain(
      'The rows that you chose are not rejected any more. These are: 1 row of april.csv',
    );
  });
});

describe('files', () => {
  it('are listed with the states of the command, and show why they were held', async () => {
    const shop = await openRejected();
    const { get, post } = await startTestConsole(shop);
    expect((await shop.cli('files')).stdout).toContain('2 files (1 held, 1 read)');
    const { text } = await get('/files');
    expect(textOf(text)).toContain('1 held , 1 read');
    expect(text).toContain('&lt;i&gt;&#39;held&#39;.csv');
    const held = textOf((await get('/files?state=held')).text);
    expect(held).toContain("<i>'held'.csv");
    expect(held).not.toContain('april.csv');
    // A single one is where Home leads to.
    const page = `/files/${await fileId(shop, 'held')}`;
    expect((await get('/')).text).toContain(`href="${page}">Decide about what is held<`);
    const one = await get(page);
    expect(one.status).toBe(200);
    // What releasing does is called so.
    expect(textOf(one.text)).toMatch(/Discard its rows .* Read it again /);
    expect(textOf(one.text)).not.toContain('Release');
    expect(one.text).not.toContain('<i>');
    for (const nothing of ['/files/999', '/files/x', '/rejected/1/999', '/rejected/x/y'])
      expect((await get(nothing)).status).toBe(404);
    // What ends the hold is said, or done, on the page.
    const file = await fileId(shop, 'held');
    const newest = { file, state: 'held', reason: 'exported at noon', shown: '2' };
    const other = await post('/files/newest', newest);
    expect([other.status, other.text]).toEqual([409, expect.stringContaining('Its page says which.')]);
    const hold = async (code: string, help: string) =>
      await sql`update intake.source_files set hold_code = ${code}, hold_help = ${help} where state = 'held'`.execute(
        shop.db,
      );
    await hold('too_many_rejected', 'If it is correct, raise sources.shop.limits.max_rejected_share.');
    expect(textOf((await get(`/files/${file}`)).text)).toMatch(
      /First change sources\.shop\.limits\.max_rejected_share in the configuration, which is 0\.\d+ now/,
    );
    await hold('conflicting_states', 'If this file is the newer one, say so.');
    const offered = await get(`/files/${file}`);
    expect(offered.text).toMatch(/name="shown" value="2"[\s\S]*It is the newest<\/button>/);
    // It is not known to be newer than a file that was read after its page was shown.
    const stale = await post('/files/newest', { ...newest, shown: '1' });
    expect([stale.status, textOf(stale.text)]).toEqual([
      409,
      expect.stringContaining('Another file of shop was read since the page was shown.'),
    ]);
    expect(textOf((await post('/files/newest', newest)).text)).toContain(
      "<i>'held'.csv is newer than all files of its source so far. The next run reads it as such.",
    );
    const decided = await get(`/files/${file}`);
    expect(textOf(decided.text)).toContain('tester said that it is the newest.');
    expect(decided.text).not.toContain('It is the newest</button>');
    expect((await post('/files/newest', newest)).status).toBe(409);
  });

  it('are released and read again exactly like by the command, with a record for each', async () => {
    const byCommand = await openRejected();
    await byCommand.cli('files', 'release', "<i>'held'.csv", '--reason', 'a test export');
    await byCommand.cli('files', 'reread', 'april.csv');
    const byForm = await openRejected();
    const { post } = await startTestConsole(byForm);
    const held = { file: await fileId(byForm, 'held'), state: 'held', reason: 'a test export' };
    const released = await post('/files/release', held);
    expect(textOf(released.text)).toContain("The rows of <i>'held'.csv are discarded.");
    expect((await post('/files/release', held)).status).toBe(409);
    const read = { file: await fileId(byForm, 'april'), state: 'read', reason: 'its layout was corrected' };
    expect((await post('/files/reread', read)).status).toBe(200);
    expect((await post('/files/reread', { ...read, reason: '' })).status).toBe(400);
    const nobody = (rows: readonly unknown[]) =>
      JSON.parse(
        JSON.stringify(rows).replaceAll(/"(?:\w|[ -])+"(?=,"(?:release_reason)"|})/g, '"who"'),
      ) as unknown;
    expect(nobody(await lasting(byForm))).toEqual(nobody(await lasting(byCommand)));
    const records = async ({ db }: Workshop) =>
      (await listAudit(db, { limit: 10 })).map(({ via, action, subjectKind, summary }) => ({
        via,
        action,
        subjectKind,
        summary,
      }));
    expect(await records(byForm)).toEqual(
      (await records(byCommand)).map((record) => ({ ...record, via: 'console' })),
    );
    expect(await records(byForm)).toHaveLength(2);
  });

  it('of a layout are all read again with one command and one record', async () => {
    const shop = await openRejected();
    await shop.cli('files', 'reread', '--layout', 'generic');
    expect(await listAudit(shop.db, { limit: 10 })).toMatchObject([
      { action: 'reread_file', subject: null, filter: { layout: 'generic' }, via: 'command' },
    ]);
  });
});
