import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { leasesAreOver } from '../../pipeline/workshop.ts';
import { killsOfJob } from '../../support/property-runs.ts';
import { waitFor } from '../../support/wait-for.ts';
import { idOf, openOutreach, type Person } from './story.ts';

/** Returns `count` influencers, sorted by followers, most first. */
const many = (count: number): Person[] =>
  Array.from({ length: count }, (_, index) => ({ followers: 100_000 - index }));

describe('influencers among the customers are submitted to an outreach', () => {
  it('in batches of one platform, those with the most followers first, and a second run sends nothing', async () => {
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

  it('by the rule: each who is left out is counted with the reason', async () => {
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
      not_verified: 1,
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

  it('an influencer who is two customers is one, and out if either of them unsubscribed, whichever the brand', async () => {
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

  it('nobody goes to another outreach within not_contacted_days', async () => {
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

describe('what a run may submit', () => {
  it('is bounded by its credits and by --limit, and the next run takes the rest', async () => {
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

  it('needs an approval: without one nothing is sent, the cost is said, and the exit code is 3', async () => {
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

  it('what an approved run could not send needs an approval again', async () => {
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

  it('a plan says who and what it costs, and keeps nothing', async () => {
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

  it('--yes is refused for a job that needs no approval, and a schedule without approve: true is a mistake', async () => {
    const shop = await openOutreach('platform: instagram, credits: 40, schedule: "5 * * * *"');
    const scheduled = await shop.cli('run', 'outreach');
    expect(scheduled).toMatchObject({ exitCode: 2 });
    expect(scheduled.stderr).toContain('nobody can approve');
    shop.write('mirror.yaml', 'sources: {}\njobs: {mirror: {kind: mirror-account}}\n');
    const mirror = await shop.cli('run', 'mirror', '--yes', '--config', 'mirror.yaml');
    expect(mirror).toMatchObject({ exitCode: 2 });
    expect(mirror.stderr).toContain('needs no approval');
  });

  it('consent: ignored is a mistake, because then nobody knows who has unsubscribed', async () => {
    const shop = await openOutreach();
    shop.write(
      'ignored.yaml',
      `customers: {hash_key: 0123456789abcdef0123456789abcdef}
sources: {shop: {uri: ./exports/, layout: generic-customers}}
jobs:
  customers: {kind: identify-customers, source: shop, brand_id: 4819, consent: ignored}
  outreach: {kind: submit-outreach, brand_id: 4819, outreach_id: O_SPRING1, platform: tiktok, credits: 1}
`,
    );
    const { exitCode, stderr } = await shop.cli('plan', 'outreach', '--config', 'ignored.yaml');
    expect(exitCode).toBe(2);
    expect(stderr.replace(/\s+/g, ' ')).toContain('it is unknown who has unsubscribed');
  });
});

describe('who has unsubscribed or was forgotten', () => {
  it('after the batch was proposed is dropped from it while it was not sent', async () => {
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
});

describe('what the service does not accept', () => {
  it('is cut into ten until the id that it does not know is alone, and nobody is submitted twice', async () => {
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

  it('is in doubt where the answer is lost: never sent again by itself, and a person settles it', async () => {
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

  it('ends the run where the account has no credits left, with one doubt and not one for each request', async () => {
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
  it('has submitted nobody twice, and the next runs submit the rest', { timeout: 120_000 }, async () => {
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
