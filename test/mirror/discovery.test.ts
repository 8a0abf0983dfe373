import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { findUnknownOwners } from '../../src/mirror/find-unknown-owners.ts';
import { meetNamedHandles } from '../../src/mirror/known-handles.ts';
import { knowDeals, openStory, rowsOf } from './story.ts';
import { dealRecord } from './stub-service.ts';

describe('the discovery of deals', () => {
  it('finds deals of the ledger, events, codes.csv and exports, each once and with all its origins', async () => {
    const { db, service, run } = await openStory();
    await db
      .insertInto('ops.runs')
      .values({ job: 'orders', kind: 'attribute-orders', host: 'h', pid: 1 })
      .execute();
    await insertEntry(db, { effect: 'referral', key: 'a', dealId: 'FROMREFERRAL' });
    await insertEntry(db, { effect: 'click', key: 'b', dealId: 'FROMCLICK' });
    await insertEntry(db, { effect: 'create_deal', key: 'c', dealId: 'CREATED' });
    await sql`
      insert into ledger.answers (entry_id, attempt, kind, deal_id, via, applied)
      select min(entry_id), 1, 'accepted', 'FROMLATEANSWER', 'spool', false from ledger.entries`.execute(db);
    await sql`
      insert into ops.webhook_events (kind, body, body_sha256, deal_id)
      values ('new_influencer_order', '{}', 'x', 'FROMEVENT'), ('new_max_bid', '{}', 'y', 'FROMREFERRAL')`.execute(
      db,
    );
    await knowDeals(db, ['FROMCODES', 'https://app.example.com/deal/FROMCLICK?tab=1', 'FROMREFERRAL']);
    await insertOrder(db, 'FROMORDER');
    await run();
    expect(
      await rowsOf(db, 'select deal_id, first_way, ways from mirror.known_deals order by deal_id'),
    ).toEqual([
      { deal_id: 'CREATED', first_way: 'create_deal', ways: ['create_deal'] },
      { deal_id: 'FROMCLICK', first_way: 'click', ways: ['click', 'codes'] },
      { deal_id: 'FROMCODES', first_way: 'codes', ways: ['codes'] },
      { deal_id: 'FROMEVENT', first_way: 'event', ways: ['event'] },
      { deal_id: 'FROMLATEANSWER', first_way: 'referral', ways: ['referral'] },
      { deal_id: 'FROMORDER', first_way: 'order', ways: ['order'] },
      { deal_id: 'FROMREFERRAL', first_way: 'referral', ways: ['referral', 'event', 'codes'] },
    ]);
    expect(service.askedDeals().toSorted()).toHaveLength(7);
  });

  it('adds a later origin to a deal and keeps the first one', async () => {
    const { db, run } = await openStory();
    await insertOrder(db, 'DEALA');
    await run();
    await knowDeals(db, ['DEALA']);
    await run();
    await run();
    expect(await rowsOf(db, 'select first_way, ways from mirror.known_deals')).toEqual([
      { first_way: 'order', ways: ['order', 'codes'] },
    ]);
  });

  it('looks up a handle without a deal by autocomplete, which returns all its deals', async () => {
    const { db, service, run } = await openStory();
    service.deals.set('DEALONE', dealRecord('DEALONE', { influencer_handle: 'mia.test' }));
    service.deals.set('DEALTWO', dealRecord('DEALTWO', { influencer_handle: 'Mia.test' }));
    service.override = ({ path }) =>
      path === '/v1/crm/autocomplete'
        ? {
            body: [
              { deal_id: 'DEALONE', influencer_handle: 'mia.test' },
              { deal_id: 'DEALTWO', influencer_handle: '@Mia.test' },
            ],
          }
        : null;
    await knowHandle(db, '@Mia.test');
    await run({ autocompleteBudget: 1 });
    expect(await rowsOf(db, 'select deal_id, first_way from mirror.known_deals order by 1')).toEqual([
      { deal_id: 'DEALONE', first_way: 'autocomplete' },
      { deal_id: 'DEALTWO', first_way: 'autocomplete' },
    ]);
    expect(await rowsOf(db, 'select handle_folded, deals_found from mirror.known_handles')).toEqual([
      { handle_folded: 'mia.test', deals_found: 2 },
    ]);
    expect(await rowsOf(db, 'select deal_id from mirror.deals order by 1')).toHaveLength(2);
  });

  it('looks up a handle by get_deal_details without autocomplete, and reads its deal only once', async () => {
    const { db, service, run } = await openStory();
    service.deals.set('DEALONE', dealRecord('DEALONE', { influencer_handle: 'mia.test' }));
    await knowHandle(db, 'mia.test');
    await knowHandle(db, 'nobody.test');
    const { finished } = await run({ refreshAfterHours: 20 });
    expect(finished.counts).toMatchObject({ requests: 4, deals: { new: 1 } });
    expect(await rowsOf(db, 'select deal_id, first_way from mirror.deals')).toEqual([
      { deal_id: 'DEALONE', first_way: 'handle' },
    ]);
    expect(
      await rowsOf(db, 'select handle_folded, deals_found, last_error from mirror.known_handles order by 1'),
    ).toEqual([
      { handle_folded: 'mia.test', deals_found: 1, last_error: null },
      { handle_folded: 'nobody.test', deals_found: 0, last_error: null },
    ]);
    service.questions.length = 0;
    await run({ refreshAfterHours: 20 });
    expect(
      service.questions.map(({ path }) => path),
      'handles rest until they are due',
    ).not.toContain('/v1/crm/get_deal_details');
  });

  it('extends autocomplete prefixes whose answers are truncated until every deal is found', async () => {
    const { db, service, run } = await openStory();
    service.cut = 10;
    for (let number = 0; number < 120; number += 1) {
      const handle = `${['ann', 'anna', 'ben', 'bella', 'cy'][number % 5]}${number}`;
      service.deals.set(`D${number}`, dealRecord(`D${number}`, { influencer_handle: handle }));
    }
    const { finished } = await run({ autocompleteBudget: 3_000 });
    expect(finished.counts).toMatchObject({ deals_known: 120, deals_discovered: 120, deals: { new: 120 } });
    const [{ longest } = {}] = await rowsOf(db, 'select max(length(prefix)) as longest from mirror.prefixes');
    expect(Number(longest)).toBeGreaterThan(1);
  });

  it('respects its budget, and continues in the next run where the budget ended', async () => {
    const { db, service, run } = await openStory();
    for (let number = 0; number < 36; number += 1) {
      const handle = `${number.toString(36)}-of`;
      service.deals.set(`D${number}`, dealRecord(`D${number}`, { influencer_handle: handle }));
    }
    const asked = () => service.questions.filter(({ path }) => path === '/v1/crm/autocomplete');
    await run({ autocompleteBudget: 10, refreshAfterHours: 20 });
    expect(asked()).toHaveLength(10);
    await run({ autocompleteBudget: 10, refreshAfterHours: 20 });
    expect(new Set(asked().map(({ query }) => query.q)).size).toBe(20);
    expect(await rowsOf(db, 'select 1 from mirror.prefixes where asked_at is not null')).toHaveLength(20);
  });

  it('looks up bare handles in an answer of autocomplete', async () => {
    const { db, service, run } = await openStory();
    service.deals.set('DEALONE', dealRecord('DEALONE', { influencer_handle: 'mia.test' }));
    service.override = ({ path }) =>
      path === '/v1/crm/autocomplete' ? { body: { items: ['mia.test'] } } : null;
    await run({ autocompleteBudget: 40 });
    await run({ autocompleteBudget: 40 });
    expect(await rowsOf(db, 'select deal_id, first_way from mirror.deals')).toEqual([
      { deal_id: 'DEALONE', first_way: 'handle' },
    ]);
  });

  it('adds a deal that is returned in place of another one', async () => {
    const { db, service, run } = await openStory();
    await knowDeals(db, ['OLD']);
    service.deals.set('NEW', dealRecord('NEW'));
    service.override = ({ query }) =>
      query.deal_id === 'OLD' ? { body: { deal_info: dealRecord('NEW') } } : null;
    await run();
    await run();
    expect(await rowsOf(db, 'select deal_id, first_way from mirror.deals')).toEqual([
      { deal_id: 'NEW', first_way: 'deal' },
    ]);
  });

  it('stops with a message if an answer of autocomplete cannot be read, without affecting the rest of the run', async () => {
    const { db, service, run } = await openStory();
    await knowDeals(db, ['DEALA']);
    service.deals.set('DEALA', dealRecord('DEALA'));
    service.override = ({ path }) => (path === '/v1/crm/autocomplete' ? { body: '<html>' } : null);
    const { finished, report } = await run({ autocompleteBudget: 500 });
    expect(finished).toMatchObject({ status: 'issues', counts: { deals: { new: 1 }, unreadable: 1 } });
    expect(report.details.problems).toEqual(['Autocomplete could not be read: the answer is not JSON.']);
    expect(service.questions.filter(({ path }) => path === '/v1/crm/autocomplete').length).toBeLessThan(40);
  });
});

describe('the request budget', () => {
  it('is spent on unread deals first, then on those read longest ago', async () => {
    const { db, service, run } = await openStory();
    const ids = ['A', 'B', 'C', 'D'];
    for (const id of ids) service.deals.set(id, dealRecord(id));
    await knowDeals(db, ids);
    const first = await run({ budget: 4 });
    expect(service.askedDeals()).toEqual(['A', 'B']);
    expect(first.finished).toMatchObject({ status: 'ok', counts: { requests: 4, deals_unread: 2 } });
    await run({ budget: 4 });
    expect(service.askedDeals()).toEqual(['A', 'B', 'C', 'D']);
    await run({ budget: 5 });
    expect(service.askedDeals().slice(4).toSorted()).toEqual(['A', 'B', 'C']);
  });

  it('is spent on a deal again after refresh_after_hours, or as soon as an event names it', async () => {
    const { db, service, run } = await openStory();
    for (const id of ['A', 'B']) service.deals.set(id, dealRecord(id));
    await knowDeals(db, ['A', 'B']);
    await run({ refreshAfterHours: 20 });
    await run({ refreshAfterHours: 20 });
    expect(service.askedDeals()).toHaveLength(2);
    await sql`
      insert into ops.webhook_events (kind, body, body_sha256, deal_id) values ('update_commission', '{}', 'x', 'B')`.execute(
      db,
    );
    await run({ refreshAfterHours: 20 });
    expect(service.askedDeals().slice(2)).toEqual(['B']);
    await sql`update mirror.known_deals set read_at = read_at - interval '21 hours' where deal_id = 'A'`.execute(
      db,
    );
    await run({ refreshAfterHours: 20 });
    expect(service.askedDeals().slice(3)).toEqual(['A']);
  });

  it('is shown by plan, which sends and stores nothing', async () => {
    const { db, service, plan } = await openStory();
    await knowDeals(db, ['A', 'B']);
    await insertOrder(db, 'C');
    await knowHandle(db, 'mia.test');
    const { report, exitCode } = await plan({ autocompleteBudget: 100, budget: 50 });
    expect(exitCode).toBe(0);
    expect(report.details.plan).toEqual({
      budget: 50,
      autocompleteBudget: 50,
      dueByWay: { codes: 2, order: 1 },
      handles: 1,
      prefixes: 37,
    });
    expect(service.questions).toEqual([]);
    expect(await rowsOf(db, 'select 1 from mirror.known_deals')).toEqual([]);
  });
});

async function insertEntry(
  db: Database,
  entry: { readonly effect: string; readonly key: string; readonly dealId: string },
): Promise<void> {
  await sql`
    insert into ledger.entries (effect, account_id, key, state, attempt, body, body_hash, job, deal_id, run_id)
    select ${entry.effect}, 'ACC1', ${entry.key}, 'accepted', 1, '{}', 'h', 'orders', ${entry.dealId}, max(run_id) from ops.runs`.execute(
    db,
  );
}

it('handles are one by the fold of this program, whatever lower case is in the database', async () => {
  const { db, run } = await openStory();
  await run(); // Owners are unknown only once something was mirrored.
  // The first has the accent as a character of its own.
  for (const handle of ['@E\u0301VA.Test', 'éva.test', 'Mia']) await knowHandle(db, handle);
  expect(await meetNamedHandles(db)).toBe(2);
  expect(await meetNamedHandles(db)).toBe(0);
  const owner = { brandId: null, dealId: null, collabId: null };
  const owners = ['ÉVA.TEST', 'mia', 'Noor'].map((handle, at) => ({ ...owner, handle, line: at + 2 }));
  expect((await findUnknownOwners(db, owners))?.map(({ line, value }) => [line, value])).toEqual([
    [4, 'Noor'],
  ]);
});

async function insertOrder(db: Database, dealId: string): Promise<void> {
  await sql`
    insert into intake.orders (source, order_id, source_file_id, is_current, content_hash, group_key, currency, deal_id, line_no, record_no, row_count)
    values ('shop', ${dealId}, 1, true, 'h', ${dealId}, 'EUR', ${dealId}, 2, 1, 1)`.execute(db);
}

async function knowHandle(db: Database, handle: string): Promise<void> {
  await sql`
    insert into intake.codes (job, code_folded, code, line_no, influencer_handle, target)
    select 'orders', ${handle}, ${handle}, coalesce(max(line_no), 0) + 1, ${handle}, ${handle} from intake.codes`.execute(
    db,
  );
}
