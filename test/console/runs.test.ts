import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { readChangeVersion } from '../../src/reports/status/read-overview.ts';
import { openWorkshop, toCsv, type Workshop } from '../runs/workshop.ts';
import { startTestConsole, textOf } from './console-server.ts';
import { openConsoleShop } from './console-shop.ts';

const HOSTILE_FILE = `<img src=x onerror='x'>.csv`;

/** Adds slots of the last two days: one for each outcome, and one that has not started. */
async function addSlots(shop: Workshop): Promise<void> {
  await sql`
    insert into ops.slots (job, slot, state, reason, attempts, run_id, settled_at, started_at, owner)
    select 'orders', date_trunc('day', clock_timestamp() at time zone 'UTC') at time zone 'UTC' - v.ago::interval, v.state, v.reason, v.attempts, v.run_id,
      case when v.state in ('due', 'running') then null else clock_timestamp() end, case when v.attempts > 0 then clock_timestamp() end,
      case when v.state = 'running' then gen_random_uuid() end
    from (values ('1 hour', 'done', null, 1, 1), ('5 hours', 'failed', 'a bug', 1, 2), ('9 hours', 'missed', 'no process ran at its time', 0, null),
      ('13 hours', 'skipped', 'the job was still running', 0, null), ('17 hours', 'due', null, 0, null), ('21 hours', 'running', null, 1, null))
      as v (ago, state, reason, attempts, run_id)`.execute(shop.db);
}

describe('runs', () => {
  it('are listed like by the command, with what they did and their amounts', async () => {
    const { shop } = await openConsoleShop();
    const { get } = await startTestConsole(shop);
    const runs = (await shop.cli('runs')).stdout;
    expect(runs).toMatch(/2 +orders +issues .* 0 posted\n *1 +orders +ok .* 1 posted, 12\.50 EUR/);
    const page = textOf((await get('/runs')).text);
    expect(page).toMatch(
      /Runs 2, newest first .* 2 orders issues .* 0 posted Left for a person: .* 1 orders ok .* 1 posted, 12\.50 EUR/,
    );
    // One that failed says where, and has no parts of what it did not do.
    rmSync(join(shop.folder, 'exports'), { recursive: true });
    expect((await shop.cli('run', 'orders')).exitCode).toBe(2);
    const failed = textOf((await get('/runs/3')).text);
    expect(failed).toMatch(/It failed .*: The folder does not exist \(\/.*\/exports\)\. Create the folder/);
    expect(failed).not.toMatch(/Steps|Messages/);
  });

  it('are filtered by job, status and day, with the filter in the address, and shown in pages', async () => {
    const { shop } = await openConsoleShop();
    await sql`
      insert into ops.runs (job, kind, status, started_at, finished_at, host, pid, exit_code)
      select 'other', 'attribute-orders', 'failed', timestamptz '2026-01-02 00:00Z' + n * interval '1 minute', timestamptz '2026-01-03 00:00Z', 'h', 1, 1
      from generate_series(1, 60) n`.execute(shop.db);
    const { get, url } = await startTestConsole(shop);
    const path = '/runs?job=other&status=failed&from=2026-01-02&to=2026-01-02';
    const first = await get(path);
    expect(textOf(first.text)).toContain('Runs 60, newest first');
    expect(first.text).toContain('<option value="other" selected>');
    expect(first.text).toContain('value="2026-01-02"');
    const next = /rel="next" href="([^"]+)"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const second = await get(next);
    const idsOf = (text: string) => [...text.matchAll(/href="\/runs\/(\d+)"/g)].map(([, id]) => Number(id));
    expect(new Set([...idsOf(first.text), ...idsOf(second.text)]).size).toBe(60);
    expect(textOf(second.text)).toContain('Runs 60, newest first');
    expect(textOf((await get('/runs?job=other&from=2026-01-03')).text)).toContain(
      'Nothing matches this filter. Show all',
    );
    expect((await get('/runs?from=nonsense&to=1&after=x')).status).toBe(400);
    expect(url).toMatch(/^http/);
  });

  it('whose process is gone are shown as lost, and can be filtered', async () => {
    const { shop } = await openConsoleShop();
    await sql`insert into ops.runs (job, kind, started_at, host, pid) values ('orders', 'attribute-orders', clock_timestamp() - interval '1 day', 'h', 1)`.execute(
      shop.db,
    );
    const { get } = await startTestConsole(shop);
    expect(textOf((await get('/runs?status=lost')).text)).toMatch(
      /3 orders lost .* its process does not respond/,
    );
    expect(textOf((await get('/runs/3')).text)).toMatch(/The run ended before it counted/);
  });
});

describe('the timeline', () => {
  it('shows the outcome of each slot, and links to the run, the day and the reasons', async () => {
    const { shop } = await openConsoleShop();
    await addSlots(shop);
    const { get } = await startTestConsole(shop);
    const { text } = await get('/runs');
    for (const state of ['done', 'failed', 'missed', 'skipped', 'late', 'running'])
      expect(text).toMatch(new RegExp(`aria-label="orders, [^"]+: 1 ${state}"`));
    expect(text).toMatch(/<a href="\/runs\/1" tabindex="-1" aria-label="orders, [^"]+: 1 done"/);
    const missed =
      /<a href="(\/runs\?job=orders&amp;from=([\d-]+)&amp;to=\2)" tabindex="-1" aria-label="[^"]+: 1 missed"/.exec(
        text,
      );
    const day = await get((missed?.[1] ?? '').replaceAll('&amp;', '&'));
    expect(textOf(day.text)).toContain('1 missed');
    expect(day.text).toMatch(
      /<a href="\/schedules\?job=orders&amp;from=[\d-]+&amp;to=[\d-]+" tabindex="-1" aria-label="[^"]+: 1 missed"/,
    );
    expect(textOf((await get('/runs?from=2025-01-01&to=2025-01-07')).text)).toContain(
      'Nothing was due on these days.',
    );
    // The range is longer than can be drawn, so only its last days are shown.
    expect(textOf((await get('/runs?from=2020-01-01')).text)).toContain('Due times 92 days from');
  });
});

describe('the page of a run', () => {
  it('shows the sums of its report, its files and rejected rows, and the run before it', async () => {
    const shop = await openWorkshop();
    shop.drop(
      'april.csv',
      toCsv([
        { id: 'A1', revenue: '12.50' },
        { id: 'A2', code: 'NOBODY' },
      ]),
    );
    await shop.run();
    shop.drop(HOSTILE_FILE, toCsv([{ id: 'B1' }, { id: 'B2', code: '' }, { id: 'B3', revenue: 'much' }]));
    const { finished } = await shop.run();
    expect(finished?.counts).toMatchObject({ files: 1, rows: 3, rejected_rows: 1, orders: 4 });
    const { get } = await startTestConsole(shop);
    const { status, text } = await get('/runs/2');
    expect(status).toBe(200);
    expect(text).not.toContain('<img');
    const page = textOf(text);
    expect(page).toMatch(
      /Run 2 of orders It finished: 1 posted, 10\.00 EUR\. Left for a person: 1 rejected row\. See what waits Status issues Exit code 3/,
    );
    expect(page).toContain(`Service ${shop.sandbox.url}`);
    expect(page).toContain('3 rows of 1 file used: 2 rejected: 1 used 2 rejected 1 ');
    expect(page).toMatch(/4 orders after this run, each counted once/);
    expect(page).toMatch(/ posted 1 already known 1 no owner 1 no code 1 /);
    expect(page).toContain('Accepted in this run: 10.00 EUR');
    expect(text).toContain('href="/rejected?run=2"');
    expect(page).toMatch(/rows 2 3 \+1 /);
    // Only what differs is compared: 1 was credited in both.
    expect(page).toMatch(/already known 0 1 \+1 .* credited, EUR 12\.50 EUR 10\.00 EUR/);
    expect(page).not.toContain('credited 1 1');
    const first = (await get('/runs/1')).text;
    expect(textOf(first)).toContain('This is the first run of orders.');
    // An outcome has the same colour in both, although the first run knew none of its orders before.
    const colourOf = (run: string) => /fill="([^"]+)"[^>]*><title>no owner: 1</.exec(run)?.[1];
    expect([colourOf(first), colourOf(text)]).toEqual([colourOf(text), expect.any(String)]);
  });

  it('includes files of an earlier run that ended before its report, and names that run', async () => {
    const { shop } = await openConsoleShop();
    await sql`update ops.runs set counts = null, amounts = null, status = 'interrupted' where run_id = 1`.execute(
      shop.db,
    );
    const { get } = await startTestConsole(shop);
    const page = textOf((await get('/runs/2')).text);
    expect(page).toMatch(/april\.csv shop read 4 0 run 1 , which ended before its report/);
    expect(page).toContain('It stored no counts.');
    expect(textOf((await get('/runs/1')).text)).toContain('The run ended before it counted');
  });

  it('shows the duration of its steps and requests, and its messages', async () => {
    const { shop } = await openConsoleShop({ hasBadFiles: true });
    const { get } = await startTestConsole(shop);
    // A held file waits for a person, too, although no count of a run has it.
    expect(textOf((await get('/runs/3')).text)).toMatch(/Left for a person: 1 held file, .*1 rejected row\./);
    expect(textOf((await get('/runs')).text)).toContain('Left for a person: 1 held file, ');
    const first = textOf((await get('/runs/1')).text);
    expect(first).toMatch(
      /Reading april\.csv \S+ \d\d:\d\d:\d\d UTC [\d.]+ s \d+ B bytes Attributing orders /,
    );
    expect(first).toMatch(/Posting orders \S+ \S+ UTC [\d.]+ s 1 orders/);
    expect(first).toMatch(/new_influencer_referral 1 1 0 0 0 [\d.,]+ ms [\d.,]+ ms [\d.,]+ ms/);
    expect(first).not.toContain('Messages');
    // The answer for the order was lost.
    expect(textOf((await get('/runs/2')).text)).toMatch(/new_influencer_referral 1 0 0 0 1 /);
    const third = await get('/runs/3');
    expect(third.text).not.toContain('<i>');
    // Reading two files is one step.
    expect(textOf(third.text)).toMatch(/Reading \S+ and 1 more /);
    expect(textOf(third.text)).toMatch(/Messages \S+ \S+ UTC Held <i>'held'\.csv: /);
    const { rows } = await sql<{ requests: number }>`
      select sum(requests)::int as requests from ops.run_requests where operation = 'new_influencer_referral'`.execute(
      shop.db,
    );
    expect(rows[0]?.requests).toBe((await shop.posted()).length);
  });

  it('shows the current step of a running process, and the last step of a process that died', async () => {
    const { shop } = await openConsoleShop();
    const before = await readChangeVersion(shop.db);
    await sql`insert into ops.runs (job, kind, host, pid) values ('orders', 'attribute-orders', 'h', 1)`.execute(
      shop.db,
    );
    await sql`insert into ops.run_steps values (3, 'post', 0, 'Posting orders', 1, clock_timestamp(), 2.5, null, 'orders', 40, 100)`.execute(
      shop.db,
    );
    const { get } = await startTestConsole(shop);
    expect(textOf((await get('/runs/3')).text)).toMatch(
      /2\.5 s; the process died during this step 40 of 100 orders/,
    );
    await sql`insert into ops.leases (name, owner, host, pid, expires_at) values ('job:orders', gen_random_uuid(), 'h', 1, clock_timestamp() + interval '1 hour')`.execute(
      shop.db,
    );
    expect(textOf((await get('/runs/3')).text)).toMatch(/2\.5 s so far 40 of 100 orders/);
    const then = await readChangeVersion(shop.db);
    expect(then).not.toBe(before);
    await sql`update ops.run_steps set done = 41`.execute(shop.db);
    expect(await readChangeVersion(shop.db)).not.toBe(then);
  });

  it('is a 404 page if the run does not exist', async () => {
    const { get } = await startTestConsole((await openConsoleShop()).shop);
    for (const id of ['999', 'x', '1%27', `${'9'.repeat(19)}`])
      expect((await get(`/runs/${id}`)).status).toBe(404);
  });
});
