import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { publish } from '../../src/mirror/publish.ts';
import { openDealAnswer, readDealAnswer } from '../../src/mirror/read-deal-answer.ts';
import { type AskedDeal, openDatabaseClock, stageDeals } from '../../src/mirror/stage.ts';
import { waitFor } from '../support/wait-for.ts';
import { dealHistory, knowDeals, openStory, rowsOf, type Story } from './story.ts';
import { dealRecord } from './stub-service.ts';

describe('the versions of a record', () => {
  it('stay the same for an unchanged deal, which is only marked as seen', async () => {
    const { db, service, run } = await openStory();
    service.deals.set('A', dealRecord('A'));
    await knowDeals(db, ['A']);
    await run();
    const [before] = await rowsOf(db, 'select seen_at, changed_at from mirror.deals');
    const { finished } = await run();
    const [after] = await rowsOf(db, 'select seen_at, changed_at from mirror.deals');
    expect(finished.counts.deals).toMatchObject({ new: 0, changed: 0, unchanged: 1 });
    expect(await dealHistory(db)).toHaveLength(1);
    expect(after?.changed_at).toEqual(before?.changed_at);
    expect(Number(after?.seen_at)).toBeGreaterThan(Number(before?.seen_at));
  });

  it('ignore the order of members; another value ends the previous version where the new one begins', async () => {
    const { db, service, run } = await openStory();
    service.deals.set('A', { id: 'A', influencer_handle: 'a.test', brand_id: 4819, is_active: true });
    await knowDeals(db, ['A']);
    await run();
    service.deals.set('A', { is_active: true, brand_id: 4819, influencer_handle: 'a.test', id: 'A' });
    expect((await run()).finished.counts.deals).toMatchObject({ unchanged: 1, changed: 0 });
    service.deals.set('A', dealRecord('A', { is_active: false }));
    expect((await run()).finished.counts.deals).toMatchObject({ unchanged: 0, changed: 1 });
    expect(await dealHistory(db)).toEqual([
      { id: 'A', is_active: true, is_current: false, is_latest: false },
      { id: 'A', is_active: false, is_current: true, is_latest: true },
    ]);
    const [{ meets } = {}] = await rowsOf(
      db,
      'select a.valid_to = b.valid_from as meets from mirror.deal_versions a, mirror.deal_versions b where not a.is_latest and b.is_latest',
    );
    expect(meets).toBe(true);
  });

  it('of a collaboration are independent of those of its deal', async () => {
    const { db, service, run } = await openStory();
    const one = { collab_id: 'C1', code: 'MIA10', referrals: 1 };
    const two = { collab_id: 'C2', code: 'MIA20', referrals: 0 };
    service.deals.set('A', dealRecord('A', { collabs: [one, two] }));
    await knowDeals(db, ['A']);
    expect((await run()).finished.counts).toMatchObject({ deals: { new: 1 }, collaborations: { new: 2 } });
    service.deals.set('A', dealRecord('A', { collabs: [two, { ...one, referrals: 2 }] }));
    expect((await run()).finished.counts.collaborations).toEqual({
      new: 0,
      changed: 1,
      unchanged: 1,
      gone: 0,
    });
    service.deals.set('A', dealRecord('A', { collabs: [two] }));
    expect((await run()).finished.counts.collaborations).toEqual({
      new: 0,
      changed: 0,
      unchanged: 1,
      gone: 1,
    });
    expect(await dealHistory(db)).toHaveLength(1);
    expect(
      await rowsOf(db, 'select collab_id, code, referrals, is_deleted from mirror.collaborations order by 1'),
    ).toEqual([
      { collab_id: 'C1', code: 'MIA10', referrals: '2', is_deleted: true },
      { collab_id: 'C2', code: 'MIA20', referrals: '0', is_deleted: false },
    ]);
  });

  it('of collaborations are not ended by an answer without a list or with an empty one', async () => {
    const { db, service, run } = await openStory();
    service.deals.set('A', dealRecord('A', { collabs: [{ collab_id: 'C1' }] }));
    await knowDeals(db, ['A']);
    await run();
    expect((await run({ collaborations: false })).finished.counts.collaborations.gone).toBe(0);
    service.deals.set('A', dealRecord('A', { collabs: [] }));
    expect((await run()).finished.counts.collaborations.gone).toBe(0);
    expect(await rowsOf(db, 'select is_deleted from mirror.collaborations')).toEqual([{ is_deleted: false }]);
  });
});

describe('the deletion of a record', () => {
  it('is recorded for a brand that a complete listing lacks, and reverted when it is listed again', async () => {
    const { db, service, run } = await openStory();
    const [acme, home] = [
      { id: 1, name: 'Acme' },
      { id: 2, name: 'Home' },
    ];
    service.brands = [acme, home];
    await run();
    service.brands = [acme];
    expect((await run()).finished.counts.brands).toEqual({ new: 0, changed: 0, unchanged: 1, gone: 1 });
    const standing =
      'select brand_id, is_deleted, deleted_at is null as has_no_end from mirror.brands order by 1';
    expect(await rowsOf(db, standing)).toEqual([
      { brand_id: '1', is_deleted: false, has_no_end: true },
      { brand_id: '2', is_deleted: true, has_no_end: false },
    ]);
    expect((await run()).finished.counts.brands.gone, 'gone is counted once').toBe(0);
    service.brands = [acme, home];
    expect((await run()).finished.counts.brands).toEqual({ new: 0, changed: 1, unchanged: 1, gone: 0 });
    expect(
      await rowsOf(db, "select valid_to is null as is_open from mirror.brand_versions where brand_id = '2'"),
    ).toEqual(expect.arrayContaining([{ is_open: true }, { is_open: false }]));
  });

  it.each([
    ['a refusal', { status: 422, body: { message: 'oops' } }],
    ['a page of a proxy', { body: '<html>Bad gateway</html>' }],
    ['an empty list', { body: [] }],
    ['an object without a list', { body: { message: 'try later' } }],
    ['a list that says that there is more', { body: { items: [{ id: 1, name: 'Acme' }], total: 2 } }],
    ['a list with a next page', { body: { items: [{ id: 1, name: 'Acme' }], next: '/page/2' } }],
    ['a list with an item that has no id', { body: [{ id: 1, name: 'Acme' }, { name: 'Home' }] }],
  ])('is not recorded for brands after %s instead of the complete list', async (_what, answer) => {
    const { db, service, run } = await openStory();
    service.brands = [
      { id: 1, name: 'Acme' },
      { id: 2, name: 'Home' },
    ];
    await run();
    service.override = ({ path }) => (path === '/v1/account/search_brands' ? answer : null);
    const { finished } = await run();
    expect(finished).toMatchObject({ status: 'issues', counts: { brands: { gone: 0 } } });
    expect(await rowsOf(db, 'select 1 from mirror.brands where is_deleted')).toEqual([]);
  });

  it('is recorded when two runs were told that a deal does not exist, as of the first time', async () => {
    const { db, service, run } = await openStory();
    for (const id of ['A', 'B'])
      service.deals.set(id, dealRecord(id, { collabs: [{ collab_id: `C${id}` }] }));
    await knowDeals(db, ['A', 'B']);
    await run();
    service.deals.delete('A');
    const first = await run();
    expect(first.finished).toMatchObject({ status: 'issues', counts: { deals: { gone: 0, failed: 1 } } });
    expect(await rowsOf(db, 'select 1 from mirror.deals where is_deleted')).toEqual([]);
    const second = await run();
    expect(second.finished).toMatchObject({
      status: 'ok',
      counts: { deals_gone: 1, deals: { gone: 1, failed: 0 } },
    });
    expect(
      await rowsOf(
        db,
        'select d.deal_id, d.deleted_at = k.not_found_at as since_first from mirror.deals d join mirror.known_deals k using (deal_id) where d.is_deleted',
      ),
    ).toEqual([{ deal_id: 'A', since_first: true }]);
    expect(await rowsOf(db, 'select collab_id from mirror.collaborations where is_deleted')).toEqual([
      { collab_id: 'CA' },
    ]);
    service.questions.length = 0;
    await run();
    expect(service.askedDeals(), 'what is gone is left in peace').toEqual(['B']);
  });

  it('leaves a gap in the history of a deal that returns', async () => {
    const { db, service, run } = await openStory();
    for (const id of ['A', 'B']) service.deals.set(id, dealRecord(id));
    await knowDeals(db, ['A', 'B']);
    await run();
    service.deals.delete('A');
    await run();
    await run();
    service.deals.set('A', dealRecord('A'));
    await sql`update mirror.known_deals set not_before = now() where deal_id = 'A'`.execute(db);
    expect((await run()).finished.counts.deals).toMatchObject({ new: 0, changed: 1, unchanged: 1 });
    const [gap] = await rowsOf(
      db,
      "select count(*) as versions, max(valid_from) > min(valid_to) as has_gap from mirror.deal_versions where deal_id = 'A'",
    );
    expect(gap).toEqual({ versions: '2', has_gap: true });
    expect(
      await rowsOf(
        db,
        'select deleted_at, not_found_at from mirror.known_deals where deleted_at is not null',
      ),
    ).toEqual([]);
  });

  it('is not recorded if the service finds no deal at all, because a wrong address returns 404, too', async () => {
    const { db, service, run } = await openStory();
    for (const id of ['A', 'B']) service.deals.set(id, dealRecord(id));
    await knowDeals(db, ['A', 'B']);
    await run();
    service.deals.clear();
    for (let turn = 0; turn < 3; turn += 1) await run();
    expect(await rowsOf(db, 'select 1 from mirror.deals where is_deleted')).toEqual([]);
  });

  it('is not recorded for a deal that is not found while no other can be read: it is requested once more and then deferred', async () => {
    const { db, service, run } = await openStory();
    await knowDeals(db, ['made-up']);
    for (let turn = 0; turn < 2; turn += 1) {
      service.questions.length = 0;
      await run();
      expect(service.askedDeals()).toEqual(['made-up']);
    }
    service.questions.length = 0;
    // It could not be read, and it is due later.
    expect((await run()).finished).toMatchObject({
      status: 'issues',
      exit_code: 3,
      counts: { deals: { asked: 0 } },
    });
    expect(service.askedDeals()).toEqual([]);
  });

  it.each([
    ['404 without a reason', { status: 404, body: '' }],
    ['404 as an object without a reason', { status: 404, body: {} }],
    ['404 as a page', { status: 404, body: '<html>Not found</html>' }],
    ['400 that says that there is none', { status: 400, body: { error: 'Deal not found' } }],
    ['422', { status: 422, body: { message: 'Deal not found' } }],
  ])('is not recorded after %s', async (_what, answer) => {
    const { db, service, run } = await openStory();
    for (const id of ['A', 'B']) service.deals.set(id, dealRecord(id));
    await knowDeals(db, ['A', 'B']);
    await run();
    service.override = ({ query }) => (query.deal_id === 'A' ? answer : null);
    for (let turn = 0; turn < 2; turn += 1) {
      await sql`update mirror.known_deals set not_before = null`.execute(db);
      await run();
    }
    expect(
      await rowsOf(db, 'select deal_id, failures from mirror.known_deals where last_error is not null'),
    ).toEqual([{ deal_id: 'A', failures: 2 }]);
    expect(await rowsOf(db, 'select 1 from mirror.deals where is_deleted')).toEqual([]);
  });
});

describe('the publication of answers', () => {
  it('discards an answer that was requested before the published one, whatever it contains', async () => {
    const story = await openStory();
    const { db, service, run } = story;
    const clock = await openDatabaseClock(db);
    const older = clock();
    service.deals.set('A', dealRecord('A', { is_active: true }));
    await knowDeals(db, ['A']);
    await run();
    const late = askedBefore(older, { is_active: false });
    expect(await republish(story, late)).toMatchObject({ deals: { new: 0, changed: 0, asked: 0 } });
    expect(await dealHistory(db)).toEqual([{ id: 'A', is_active: true, is_current: true, is_latest: true }]);
  });

  it('discards an answer that was requested before the service said that the deal does not exist', async () => {
    const story = await openStory();
    const { db, service, run } = story;
    const read = dealRecord('A', { is_active: true });
    for (const id of ['A', 'B']) service.deals.set(id, id === 'A' ? read : dealRecord(id));
    await knowDeals(db, ['A', 'B']);
    await run();
    const paused = await clockOf(db);
    service.deals.delete('A');
    await run();
    expect(await republish(story, askedBefore(paused, { is_active: false }))).toMatchObject({
      deals: { new: 0, changed: 0, asked: 0 },
    });
    const { rows } = await sql`
      select not_found_at is not null as is_missing from mirror.known_deals where deal_id = 'A'`.execute(db);
    expect(rows).toEqual([{ is_missing: true }]);
    expect((await run()).finished.counts.deals.gone, 'the second run that is told so').toBe(1);
  });

  it('ignores an answer that only confirms replaced content', async () => {
    const story = await openStory();
    const { db, service, run } = story;
    service.deals.set('A', dealRecord('A', { is_active: true }));
    await knowDeals(db, ['A']);
    await run();
    const [{ answer_hash } = {}] = await rowsOf(db, 'select answer_hash from mirror.known_deals');
    service.deals.set('A', dealRecord('A', { is_active: false }));
    await run();
    const clock = await openDatabaseClock(db);
    const sighting: AskedDeal = {
      dealId: 'A',
      fetchedAt: new Date(clock().getTime() + 1_000),
      outcome: { kind: 'unchanged', answerHash: String(answer_hash) },
    };
    const [before] = await rowsOf(db, 'select read_at from mirror.known_deals');
    await republish(story, sighting);
    expect(await rowsOf(db, 'select read_at from mirror.known_deals')).toEqual([before]);
  });

  it('uses the newer of two staged answers, in any order of staging', async () => {
    const story = await openStory();
    const { db } = story;
    await knowDeals(db, ['A']);
    const clock = await openDatabaseClock(db);
    const at = clock();
    const newer = askedBefore(new Date(at.getTime() + 10), { is_active: true });
    const older = askedBefore(at, { is_active: false });
    await sql`insert into mirror.known_deals (deal_id, first_way, ways) values ('A', 'codes', '{codes}')`.execute(
      db,
    );
    const runId = await newRun(story);
    await stageDeals(db, runId, [newer]);
    await republish(story, older);
    expect(await dealHistory(db)).toEqual([{ id: 'A', is_active: true, is_current: true, is_latest: true }]);
  });

  it('uses the collaborations of the newer answer if a deal was answered twice before publication', async () => {
    const story = await openStory();
    const { db } = story;
    await sql`insert into mirror.known_deals (deal_id, first_way, ways) values ('A', 'codes', '{codes}')`.execute(
      db,
    );
    const at = (await openDatabaseClock(db))();
    const runId = await newRun(story);
    const collabs = (...ids: readonly string[]) => ({
      collabs: ids.map((id) => ({ collab_id: id, code: id })),
    });
    await stageDeals(db, runId, [askedBefore(at, collabs('C1', 'C2', 'C2'))]);
    await republish(story, askedBefore(new Date(at.getTime() + 10), collabs('C2', 'C3')));
    expect(await rowsOf(db, 'select collab_id from mirror.collaboration_versions order by 1')).toEqual([
      { collab_id: 'C2' },
      { collab_id: 'C3' },
    ]);
    expect(await rowsOf(db, 'select 1 from mirror.staged_collaborations')).toEqual([]);
  });

  it('stages the same deals from several processes without a deadlock', async () => {
    const story = await openStory();
    const at = await clockOf(story.db);
    const runId = await newRun(story);
    const many = Array.from({ length: 500 }, (_, index) => askedBefore(at, { id: `D${index}` }));
    const orders = [many, many.toReversed()];
    for (let round = 0; round < 4; round += 1)
      await Promise.all(orders.map((asked) => stageDeals(story.db, runId, asked)));
    expect(await rowsOf(story.db, 'select from mirror.staged')).toHaveLength(500);
    const counted = 'select deadlocks from pg_stat_database where datname = current_database()';
    expect(await rowsOf(story.db, counted)).toEqual([{ deadlocks: '0' }]);
  });

  it('assigns a collaboration that two deals return to the deal that was requested last', async () => {
    const story = await openStory();
    const { db } = story;
    await sql`
      insert into mirror.known_deals (deal_id, first_way, ways) values ('A', 'codes', '{codes}'), ('B', 'codes', '{codes}')`.execute(
      db,
    );
    const at = (await openDatabaseClock(db))();
    const collabs = [{ collab_id: 'C' }];
    await stageDeals(db, await newRun(story), [
      askedBefore(new Date(at.getTime() + 10), { id: 'B', collabs: [...collabs, { collab_id: 'CB' }] }),
    ]);
    const published = await republish(story, askedBefore(at, { collabs: [...collabs, { collab_id: 'CA' }] }));
    expect(published?.collaborations).toEqual({ new: 3, changed: 0, unchanged: 0, gone: 0 });
    expect(
      await rowsOf(db, 'select collab_id, deal_id from mirror.collaboration_versions order by 1'),
    ).toEqual([
      { collab_id: 'C', deal_id: 'B' },
      { collab_id: 'CA', deal_id: 'A' },
      { collab_id: 'CB', deal_id: 'B' },
    ]);
  });

  it('is refused to a process whose lease has expired', async () => {
    const story = await openStory();
    const { db } = story;
    await sql`insert into mirror.known_deals (deal_id, first_way, ways) values ('A', 'codes', '{codes}')`.execute(
      db,
    );
    const runId = await newRun(story);
    const clock = await openDatabaseClock(db);
    await stageDeals(db, runId, [askedBefore(clock(), {})]);
    const owner = crypto.randomUUID();
    await sql`
      insert into ops.leases (name, owner, expires_at, host, pid)
      values ('job:mirror', ${owner}::uuid, clock_timestamp() - interval '1 second', 'h', 1)`.execute(db);
    expect(await publish(db, { runId, owner, now: clock(), refreshAfterHours: 20 })).toBeNull();
    expect(await dealHistory(db)).toEqual([]);
    expect(await rowsOf(db, 'select record_id from mirror.staged')).toEqual([{ record_id: 'A' }]);
    expect(await rowsOf(db, 'select 1 from mirror.publications')).toEqual([]);
  });

  it('of many deals scans the history a few times, also if Postgres expects it to be short', async () => {
    const story = await openStory();
    const { db } = story;
    await sql`vacuum analyze mirror.deal_versions, mirror.collaboration_versions`.execute(db);
    const at = await clockOf(db);
    const many = Array.from({ length: 1_200 }, (_, index) =>
      askedBefore(at, { id: `D${index}`, collabs: [{ collab_id: `C${index}` }] }),
    );
    await stageDeals(db, await newRun(story), many);
    const runId = await newRun(story);
    const owner = await holdLease(story);
    await db.transaction().execute(async (trx) => {
      const published = await publish(trx, { runId, owner, now: at, refreshAfterHours: 20 });
      expect(published).toMatchObject({ deals: { new: 1_200 }, collaborations: { new: 1_200 } });
      const [{ scans } = {}] = await rowsOf(
        trx,
        "select sum(seq_scan) as scans from pg_stat_xact_user_tables where relname in ('deal_versions', 'collaboration_versions')",
      );
      expect(Number(scans)).toBeLessThan(100);
    });
  });

  it('uses the time before the request as fetched_at, by the clock of the database', async () => {
    const { db, service, run } = await openStory();
    service.deals.set('A', dealRecord('A'));
    await knowDeals(db, ['A']);
    let arrivedAt = new Date(0);
    service.override = async ({ path }) => {
      if (path !== '/v1/crm/get_deal_details') return null;
      arrivedAt = await clockOf(db);
      // The answer is delayed.
      await waitFor(async () => (await clockOf(db)).getTime() > arrivedAt.getTime() + 500);
      return null;
    };
    const beganAt = await clockOf(db);
    await run();
    const [row] = await rowsOf(db, 'select seen_at, changed_at from mirror.deals');
    expect(row?.changed_at).toEqual(row?.seen_at);
    expect(Number(row?.seen_at)).toBeLessThanOrEqual(arrivedAt.getTime());
    expect(Number(row?.seen_at)).toBeGreaterThanOrEqual(beganAt.getTime());
  });

  it('keeps the exact millisecond, so that equal times stay equal', async () => {
    const story = await openStory();
    const from = Date.UTC(2026, 0, 1);
    const times = Array.from({ length: 2_000 }, (_, place) => new Date(from + place * 86_399_001));
    const asked = times.map((fetchedAt, place): AskedDeal => {
      const outcome = { kind: 'failed', problem: fetchedAt.toISOString() } as const;
      return { dealId: `D${place}`, fetchedAt, outcome };
    });
    await stageDeals(story.db, await newRun(story), asked);
    const other = await rowsOf(
      story.db,
      'select 1 from mirror.staged where fetched_at is distinct from problem::timestamptz',
    );
    expect(other).toEqual([]);
  });
});

async function clockOf(db: Story['db']): Promise<Date> {
  const { rows } = await sql<{ at: Date }>`select clock_timestamp() as at`.execute(db);
  return rows[0]?.at ?? new Date(0);
}

function askedBefore(fetchedAt: Date, more: Readonly<Record<string, unknown>>): AskedDeal {
  const dealId = String(more.id ?? 'A');
  const opened = openDealAnswer(JSON.stringify({ deal_info: dealRecord(dealId, more) }));
  const answer = 'body' in opened ? readDealAnswer(opened, dealId) : opened;
  if (!('deal' in answer)) throw new Error(answer.reason);
  return { dealId, fetchedAt, outcome: { kind: 'read', answer } };
}

async function newRun({ db }: Story): Promise<string> {
  const run = { job: 'mirror', kind: 'mirror-account', host: 'h', pid: 1 };
  return (await db.insertInto('ops.runs').values(run).returning('run_id').executeTakeFirstOrThrow()).run_id;
}

/** Stages an answer and publishes it, as a process that holds the lease would. */
async function republish(story: Story, asked: AskedDeal) {
  const { db } = story;
  const owner = await holdLease(story);
  const runId = await newRun(story);
  await stageDeals(db, runId, [asked]);
  return publish(db, { runId, owner, now: new Date(), refreshAfterHours: 20 });
}

/** @returns the owner of a lease that is in force. */
async function holdLease({ db }: Story): Promise<string> {
  const owner = crypto.randomUUID();
  await sql`
    insert into ops.leases (name, owner, expires_at, host, pid)
    values ('job:test', ${owner}::uuid, clock_timestamp() + interval '1 minute', 'h', 1)`.execute(db);
  return owner;
}
