import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { leasesAreOver } from '../../runs/workshop.ts';
import { killsOfJob } from '../../support/property-runs.ts';
import { readEvents } from '../../support/run-cli.ts';
import { waitFor } from '../../support/wait-for.ts';
import { idOf, openOutreach, type Person } from './story.ts';

/** Returns `count` influencers, sorted by followers, most first. */
const many = (count: number): Person[] =>
  Array.from({ length: count }, (_, index) => ({ followers: 100_000 - index }));

describe('submit-outreach', () => {
  it('submits influencers among the customers in batches of one platform, most followers first, and sends nothing in a second run', async () => {
    const shop = await openOutreach(
      'platform: [instagram, tiktok], credits: 40, approve: true, batch_size: 2',
    );
    await shop.meet([
      { followers: 500 },
      { followers: 9_000 },
      { followers: 7_000, platform: 'tiktok', userId: idOf(0, 'tiktok') },
      { followers: 8_000 },
    ]);
    const first = await shop.submit();
    expect(first).toMatchObject({
      code: 0,
      counts: {
        candidates: 4,
        submitted: 4,
        added: 4,
        requests: 3,
        credits: { spent: '0.16', left: '39.84' },
      },
    });
    const bodies = (await shop.submissions()).map(({ body }) => body);
    expect(bodies).toContainEqual({
      outreach_id: 'O_SPRING1',
      influencer_ids: [idOf(1), idOf(3)].sort(),
      platform: 'instagram',
    });
    expect(bodies).toContainEqual({
      outreach_id: 'O_SPRING1',
      influencer_ids: [idOf(0)],
      platform: 'instagram',
    });
    expect((await shop.named()).toSorted()).toEqual(
      [idOf(0), idOf(1), idOf(0, 'tiktok'), idOf(3)].toSorted(),
    );
    expect(await shop.submit()).toMatchObject({ code: 0, counts: { submitted: 0, already: 4, requests: 0 } });
    expect(await shop.submissions()).toHaveLength(3);
  });

  it('applies the rules of the job, and counts excluded influencers by reason', async () => {
    const shop = await openOutreach(
      'platform: instagram, min_followers: 1000, max_followers: 50000, verified: yes, min_orders: 2, min_spent: 100, with_code: true, credits: 1, approve: true',
    );
    const fits: Person = { followers: 2_000, isVerified: true, orders: 2, spent: 100, withCode: true };
    await shop.meet([
      fits,
      { ...fits, followers: 999 },
      { ...fits, followers: null },
      { ...fits, followers: 50_001 },
      { ...fits, isVerified: null },
      { ...fits, orders: 1 },
      { ...fits, spent: null },
      { ...fits, withCode: false },
      { ...fits, platform: 'tiktok' },
      { ...fits, userId: null },
      { ...fits, username: 'Mia.Test' },
      { ...fits, isUnsubscribed: true },
      { ...fits, isForgotten: true },
      { ...fits, brand: '5207' },
    ]);
    await sql`
      insert into mirror.deal_versions (deal_id, influencer_handle, platform, raw, row_hash, valid_from, is_latest, first_seen_at, run_id)
      select 'D1', '@mia.test', 'instagram', '{}', 'h', now(), true, now(), min(run_id) from ops.runs`.execute(
      shop.db,
    );
    const { counts } = await shop.submit();
    expect(counts).toMatchObject({ candidates: 13, submitted: 1 });
    expect(counts.excluded).toEqual({
      too_few_followers: 2,
      too_many_followers: 1,
      verification_unknown: 1,
      too_few_orders: 1,
      spent_too_little: 1,
      no_code_used: 1,
      other_platform: 1,
      no_user_id: 1,
      has_deal: 1,
      unsubscribed: 1,
      forgotten: 1,
    });
    expect(await shop.named()).toEqual([idOf(0)]);
    expect((await shop.cli('explain', 'influencers', '@MIA.test')).stdout).toContain('excluded: has deal');
    expect((await shop.cli('explain', 'influencers', idOf(0))).stdout).toMatch(
      /in the batch of entry[\s\S]*accepted/,
    );
  });

  it('counts an influencer with two customer records once, and excludes them if either has unsubscribed for any brand', async () => {
    const shop = await openOutreach();
    await shop.meet([
      { userId: idOf(0), username: 'ann', orders: 1 },
      { userId: idOf(0), username: 'ann', isForgotten: true },
      { userId: idOf(1), username: 'ben' },
      { userId: idOf(1), username: 'ben', isUnsubscribed: true },
      { userId: idOf(2), username: 'cem' },
      { userId: idOf(2), username: 'cem', isUnsubscribed: true, brand: '5207' },
    ]);
    expect((await shop.submit()).counts).toMatchObject({
      candidates: 3,
      submitted: 1,
      excluded: { unsubscribed: 2 },
    });
    expect(await shop.named()).toEqual([idOf(0)]);
  });

  it('excludes who has unsubscribed, even if another look-up names the account by its handle only', async () => {
    const shop = await openOutreach();
    await shop.meet([
      { userId: idOf(0), username: 'ann' },
      { userId: null, username: 'Ann', isUnsubscribed: true, brand: '5207' },
      { userId: idOf(2), username: 'cem' },
      { userId: null, username: 'cem', platform: 'tiktok', isUnsubscribed: true, brand: '5207' },
    ]);
    expect((await shop.submit()).counts).toMatchObject({ submitted: 1, excluded: { unsubscribed: 1 } });
    expect(await shop.named()).toEqual([idOf(2)]);
  });

  it('excludes who owns a valid code, though the mirror knows no deal of theirs', async () => {
    const shop = await openOutreach();
    await shop.meet([{ username: 'Mia.Test' }, { username: 'noa.test' }, { username: 'lia.test' }]);
    await sql`
      insert into intake.codes (job, code_folded, code, line_no, influencer_handle, handle_folded, target, valid_to)
      values ('orders', 'MIA10', 'MIA10', 2, '@mia.test', 'mia.test', 'handle:mia.test', null),
        ('orders', 'NOA10', 'NOA10', 3, 'noa.test', 'noa.test', 'handle:noa.test', now() - interval '1 day')`.execute(
      shop.db,
    );
    expect((await shop.submit()).counts).toMatchObject({ submitted: 2, excluded: { has_deal: 1 } });
  });

  it('takes an account of which nobody knows whether it is verified for neither kind', async () => {
    const shop = await openOutreach('platform: instagram, verified: no, credits: 40, approve: true');
    await shop.meet([{ isVerified: null }, { isVerified: false }, { isVerified: true }]);
    expect((await shop.submit()).counts.excluded).toEqual({ verification_unknown: 1, verified: 1 });
    expect(await shop.named()).toEqual([idOf(1)]);
  });

  it('compares no amounts of several currencies with one limit', async () => {
    const shop = await openOutreach('platform: instagram, min_spent: 100, credits: 40, approve: true');
    await shop.meet([{ spent: 120 }, { spent: 15_000, currency: 'JPY' }, { spent: null }]);
    const { counts } = await shop.submit();
    expect(counts).toMatchObject({ submitted: 0 });
    expect(counts.excluded).toEqual({ spent_in_several_currencies: 2, spent_too_little: 1 });
  });

  it('submits no one to another outreach within not_contacted_days', async () => {
    const shop = await openOutreach();
    await shop.meet(many(2));
    await shop.submit();
    shop.configure('platform: instagram, credits: 40, approve: true', 'O_GIFTING');
    expect((await shop.submit()).counts).toMatchObject({ submitted: 0, excluded: { contacted_recently: 2 } });
    await sql`update ledger.entries set state_changed_at = now() - interval '181 days'`.execute(shop.db);
    expect((await shop.submit()).counts).toMatchObject({ submitted: 2, added: 0, excluded: {} });
    shop.configure('platform: instagram, credits: 40, approve: true, not_contacted_days: null');
    expect((await shop.submit()).counts).toMatchObject({ submitted: 0, already: 2 });
  });
});

describe('the size of a run', () => {
  it('is limited by its credits and --limit, and the next run submits the others', async () => {
    const shop = await openOutreach('platform: instagram, credits: 0.29, approve: true, batch_size: 3');
    await shop.meet(many(10));
    expect((await shop.submit('--limit', '4')).counts).toMatchObject({
      submitted: 4,
      requests: 2,
      waiting: { limit: 3, credits: 3, approval: 0 },
    });
    expect((await shop.submit()).counts).toMatchObject({
      submitted: 6,
      already: 4,
      credits: { spent: '0.24', left: '0.05' },
    });
    expect(new Set(await shop.named()).size).toBe(10);
    expect(await shop.named()).toHaveLength(10);
  });

  it('needs approval: otherwise it sends nothing, reports the cost and exits with 3', async () => {
    const shop = await openOutreach('platform: instagram, credits: 40');
    await shop.meet(many(3));
    const asked = await shop.cli('run', 'outreach');
    expect(asked.exitCode).toBe(3);
    expect(asked.stdout).toMatch(/wait for approval\s+3\s+for 0\.12 credits at most/);
    expect(asked.stdout).toContain('npx influencer-sync run outreach --yes');
    expect(asked.stdout).toContain('c1.test');
    expect(await shop.entries()).toEqual([]);
    expect((await shop.submit('--yes', '--limit', '1')).counts).toMatchObject({
      submitted: 1,
      waiting: { limit: 2 },
    });
    expect(await shop.submit()).toMatchObject({
      code: 3,
      counts: { submitted: 0, already: 1, waiting: { approval: 2 } },
    });
    expect(await shop.submit('--yes')).toMatchObject({ code: 0, counts: { submitted: 2 } });
  });

  it('submits nothing, not even approved, while a table beside the customers may say who refused', async () => {
    const shop = await openOutreach('platform: instagram, credits: 40, approve: true', {
      env: { CUSTOMER_HASH_KEY: '5b1f0c7d9e2a4c6688aa0b1c2d3e4f50' },
    });
    const path = join(shop.folder, 'pipeline.yaml');
    const flow = readFileSync(path, 'utf8')
      .replace('sources: {}', 'sources: {shop: {uri: "./exports/customers*.csv", layout: generic-customers}}')
      .replace('jobs:', 'jobs:\n  customers: {kind: identify-customers, source: shop, brand_id: 4819}');
    shop.write('pipeline.yaml', `customers: {hash_key: "\${CUSTOMER_HASH_KEY:-}"}\n${flow}`);
    await shop.meet(many(3));
    shop.drop('stopp.csv', 'Adresse\nann@example.com\n');
    const held = await shop.submit();
    expect(held).toMatchObject({ code: 3, counts: { submitted: 0, waiting: { approval: 3 } } });
    const said = 'so nothing is submitted until you decide';
    const run = await shop.cli('run', 'outreach');
    expect(run.stderr.replaceAll(/\s+/g, ' ')).toContain(said);
    // No approval helps, so none is asked for.
    expect(run.stdout).toMatch(
      /3 influencers are held[\s\S]*\n +held +3 [\s\S]*Nothing was submitted, and no approval/,
    );
    expect(run.stdout).not.toMatch(/--yes|wait for/);
    const runs = readEvents(await shop.cli('runs', '--job', 'outreach', '--json'));
    expect(runs[0]).toMatchObject({ problem: expect.stringContaining(said) });
    expect(await shop.submissions()).toEqual([]);
    rmSync(join(shop.folder, 'exports', 'stopp.csv'));
    // A file that the source reads may be such a list by its name.
    shop.drop('customers-unsubscribed.csv', 'email,consent\nann@example.com,yes\n');
    expect((await shop.cli('run', 'customers')).exitCode).toBe(3);
    expect(await shop.submit()).toMatchObject({
      code: 3,
      counts: { submitted: 0, waiting: { approval: 3 } },
    });
    await shop.cli('files', 'release', 'customers-unsubscribed.csv', '--reason', 'read by hand');
    expect(await shop.submit()).toMatchObject({ code: 0, counts: { submitted: 3 } });
  });

  it('needs approval again for submissions that an approved run could not send', async () => {
    const shop = await openOutreach('platform: instagram, credits: 40');
    await shop.meet(many(3));
    await shop.sandbox.setFaults([{ kind: '429', operation: 'submit_influencers' }]);
    expect((await shop.submit('--yes')).counts).toMatchObject({ submitted: 0, ready: 3 });
    await shop.sandbox.setFaults(null);
    await sql`update ledger.entries set not_before = null`.execute(shop.db);
    expect(await shop.submit()).toMatchObject({
      code: 3,
      counts: { submitted: 0, ready: 0, waiting: { approval: 3 } },
    });
    expect((await shop.submit('--yes')).counts).toMatchObject({ submitted: 3, requests: 1 });
    expect(await shop.entries()).toEqual(['3 accepted']);
  });

  it('is planned with candidates and cost, and without storing anything', async () => {
    const shop = await openOutreach('platform: instagram, credits: 0.08');
    await shop.meet(many(3));
    const plan = await shop.cli('plan', 'outreach');
    expect(plan.exitCode).toBe(0);
    expect(plan.stdout).toMatch(/would be submitted\s+2\s+in 1 request, for 0\.08 credits at most/);
    expect(plan.stdout).toMatch(/c1\.test\s+instagram/);
    expect(plan.stdout).toMatch(/beyond credits\s+1/);
    expect(await shop.entries()).toEqual([]);
    const { rows } = await sql`select from intake.outreach_candidates`.execute(shop.db);
    expect(rows).toEqual([]);
  });

  it('cannot be approved by --yes for a job that needs no approval, and a schedule requires approve: true', async () => {
    const shop = await openOutreach('platform: instagram, credits: 40, schedule: "5 * * * *"');
    const scheduled = await shop.cli('run', 'outreach');
    expect(scheduled).toMatchObject({ exitCode: 2 });
    expect(scheduled.stderr).toContain('no person can approve');
    shop.write('mirror.yaml', 'sources: {}\njobs: {mirror: {kind: mirror-account}}\n');
    const mirror = await shop.cli('run', 'mirror', '--yes', '--config', 'mirror.yaml');
    expect(mirror).toMatchObject({ exitCode: 2 });
    expect(mirror.stderr).toContain('needs no approval');
  });
});

describe('a customer who unsubscribes or is forgotten', () => {
  it('after the batch was proposed is removed from it unless it was already sent', async () => {
    const shop = await openOutreach();
    await shop.meet(many(4));
    await shop.sandbox.setFaults([{ kind: '429', operation: 'submit_influencers' }]);
    expect((await shop.submit()).counts).toMatchObject({ ready: 4 });
    await sql`update intake.customers set is_unsubscribed = true where customer_hash = md5('c1')::uuid`.execute(
      shop.db,
    );
    await sql`delete from intake.customers where customer_hash = md5('c2')::uuid`.execute(shop.db);
    await sql`delete from intake.lookups where customer_hash = md5('c2')::uuid`.execute(shop.db);
    await shop.sandbox.setFaults(null);
    const { counts } = await shop.submit();
    expect(counts).toMatchObject({ candidates: 3, submitted: 2, excluded: { unsubscribed: 1 } });
    expect((await shop.named()).toSorted()).toEqual([idOf(2), idOf(3)].toSorted());
    expect(await shop.entries()).toEqual(['4 held', '2 accepted']);
    const { rows } = await sql`select from intake.outreach_candidates where user_id = ${idOf(1)}`.execute(
      shop.db,
    );
    expect(rows).toEqual([]);
  });

  it.each([
    ['has unsubscribed', 'unsubscribed', 'update intake.customers set is_unsubscribed = true'],
    ['was forgotten', 'forgotten', 'delete from intake.customers'],
    ['is known no longer', 'forgotten', 'delete from intake.lookups'],
  ])('is in no batch that a person has approved to be sent again: one who %s', async (_what, why, change) => {
    const shop = await openOutreach();
    await shop.meet(many(3));
    await shop.sandbox.setFaults([{ kind: 'reset_before', operation: 'submit_influencers', count: 1 }]);
    expect((await shop.submit()).counts).toMatchObject({ in_doubt: 3 });
    await sql`${sql.raw(change)} where customer_hash = md5('c2')::uuid`.execute(shop.db);
    const entry = () =>
      shop.db
        .selectFrom('ledger.entries')
        .select(['entry_id', 'state', 'state_reason'])
        .executeTakeFirstOrThrow();
    const { entry_id } = await entry();
    const resend = await shop.cli('review', entry_id, '--resend', '--reason', 'not there', '--yes');
    expect(resend.exitCode).toBe(0);
    expect(await shop.submit()).toMatchObject({ code: 6, counts: { submitted: 0, requests: 0 } });
    expect(await entry()).toMatchObject({
      state: 'in_doubt',
      state_reason: `not sent again, because some of its influencers may not be submitted any more (${why})`,
    });
    expect(await shop.db.selectFrom('ledger.adjustments').selectAll().execute()).toEqual([]);
    expect(await shop.named()).toEqual([]);
  });
});

describe('a batch that the service does not accept', () => {
  it('is split into ten until the unknown ID is alone, and no one is submitted twice', async () => {
    const shop = await openOutreach();
    const people = many(30);
    people[17] = { ...people[17], userId: 'NOBODY' };
    await shop.meet(people);
    expect(await shop.submit()).toMatchObject({ code: 3, counts: { submitted: 0, refused: 30 } });
    expect(await shop.submit()).toMatchObject({ code: 3, counts: { submitted: 27, refused: 3 } });
    expect(await shop.submit()).toMatchObject({ code: 3, counts: { submitted: 2, already: 27, refused: 1 } });
    expect(await shop.submit()).toMatchObject({
      code: 3,
      counts: { submitted: 0, already: 29, refused: 1, requests: 0 },
    });
    expect(await shop.named()).toHaveLength(29);
    expect(new Set(await shop.named()).size).toBe(29);
  });

  it('is in doubt if the answer is lost: it is never repeated automatically, and an operator settles it', async () => {
    const shop = await openOutreach('platform: instagram, credits: 40, approve: true, batch_size: 2');
    await shop.meet(many(4));
    await shop.sandbox.setFaults([{ kind: 'reset_after', operation: 'submit_influencers', count: 1 }]);
    expect(await shop.submit()).toMatchObject({
      code: 6,
      counts: { submitted: 2, in_doubt: 2, credits: { spent: '0.08', in_doubt: '0.08', left: '39.84' } },
    });
    expect(await shop.submit()).toMatchObject({ code: 6, counts: { submitted: 0, already: 2, in_doubt: 2 } });
    expect((await shop.cli('review')).stdout).toContain('2 influencers for outreach O_SPRING1');
    const [{ entry_id: entry } = { entry_id: '' }] = await shop.db
      .selectFrom('ledger.entries')
      .select('entry_id')
      .where('state', '=', 'in_doubt')
      .execute();
    expect(
      (await shop.cli('review', entry, '--accepted', '--reason', 'the outreach has them')).exitCode,
    ).toBe(0);
    expect(await shop.submit()).toMatchObject({ code: 0, counts: { already: 4, in_doubt: 0 } });
    expect(await shop.named()).toHaveLength(4);
  });

  it('ends the run if the account has no credits left, with one doubt instead of one for each request', async () => {
    const shop = await openOutreach('platform: instagram, credits: 40, approve: true, batch_size: 1', {
      api: 'concurrency: 1',
    });
    await shop.meet(many(20));
    await fetch(`${shop.sandbox.url}/_sandbox/credits`, {
      method: 'POST',
      body: '{"search": 0.08}',
      headers: { 'content-type': 'application/json' },
    });
    const run = await shop.submit();
    expect(run).toMatchObject({ code: 1, counts: { submitted: 2 } });
    expect(run.counts.in_doubt).toBeLessThanOrEqual(2);
    expect(run.counts.in_doubt + run.counts.ready).toBe(18);
    expect(await shop.named()).toHaveLength(2);
    const [{ entry_id: entry } = { entry_id: '' }] = await shop.db
      .selectFrom('ledger.entries')
      .select('entry_id')
      .where('state', '=', 'in_doubt')
      .execute();
    // An entry that an operator approves for resending is sent, within the limit.
    await fetch(`${shop.sandbox.url}/_sandbox/credits`, {
      method: 'POST',
      body: '{"search": 10}',
      headers: { 'content-type': 'application/json' },
    });
    await shop.cli('review', entry, '--resend', '--yes', '--reason', 'nobody was added');
    expect((await shop.submit('--limit', '1')).counts).toMatchObject({ submitted: 1 });
    expect(await shop.named()).toHaveLength(3);
  });
});

describe('a run that is killed', () => {
  it('submits no one twice, and the next runs submit the others', { timeout: 120_000 }, async () => {
    const shop = await openOutreach('platform: instagram, credits: 40, approve: true, batch_size: 2', {
      api: 'lease_seconds: 2\ntimeout_seconds: 1',
    });
    await shop.meet(many(160));
    await shop.sandbox.setFaults([{ kind: 'latency', operation: 'submit_influencers', ms: 20 }]);
    for (let kill = 1; kill <= killsOfJob(); kill += 1) {
      await leasesAreOver(shop);
      let hasEnded = false;
      const running = shop.start('run', 'outreach', '--json');
      void running.ended.then(() => {
        hasEnded = true;
      });
      const before = (await shop.submissions()).length;
      await waitFor(async () => (await shop.submissions()).length > before + 10 || hasEnded);
      running.kill('SIGKILL');
      await running.ended;
    }
    await leasesAreOver(shop);
    await waitFor(async () => {
      const { code } = await shop.submit();
      return code === 0 || code === 6;
    });
    const named = await shop.named();
    expect(named).toHaveLength(new Set(named).size);
    const { rows: states } = await sql<{ state: string; people: string }>`
      select state, sum(jsonb_array_length(details -> 'ids')) as people from ledger.entries group by state`.execute(
      shop.db,
    );
    const of = (state: string) => Number(states.find((row) => row.state === state)?.people ?? 0);
    expect(of('accepted') + of('in_doubt')).toBe(160);
    expect(named.length).toBeGreaterThanOrEqual(of('accepted'));
    expect(named.length).toBeLessThanOrEqual(160);
  });
});
