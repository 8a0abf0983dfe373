import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { excludeRemovedSources } from '../../../../jobs/attribute-orders/decide/decide-orders.ts';
import type { StagedOrder } from '../../../../src/core/order.ts';
import { inTransaction } from '../../../../src/db/in-transaction.ts';
import { openShop, order } from '../../../intake/story.ts';
import { rowsRead } from '../../../support/rows-read.ts';
import { makeTestFolder, setup } from '../../../support/setup.ts';
import { adjustments, bring, openContext } from './story.ts';

const ORDERS = 500;

it('a run after a first load does not read the decisions of that load, whose statistics are from before it posted', async () => {
  const { db } = await setup();
  const path = join(makeTestFolder(), 'codes.csv');
  const context = await openContext(db, { path, writeCodes: (text) => writeFileSync(path, text) });
  await context.read({
    orders: Array.from({ length: ORDERS }, (_, index) => order(String(index), { codes: ['MIRA'] })),
  });
  await context.attribute({ codes: 'MIRA,,mira,D1,,,' });
  await sql`analyze intake.attributions`.execute(db);
  expect(await context.prepare()).toMatchObject({ created: ORDERS });
  await bring(context, 'accepted');

  const { of } = await rowsRead(db, (trx) =>
    inTransaction(trx, (same) =>
      excludeRemovedSources(same, { job: context.job, sources: [context.source] }),
    ),
  );
  expect(of('intake.attributions')).toBeLessThan(10);
});

it('of a source that a job no longer reads, only what was sent or waits to be sent stays, also of what is refused later', async () => {
  const { db } = await setup();
  const path = join(makeTestFolder(), 'codes.csv');
  const writeCodes = (text: string) => writeFileSync(path, text);
  const [before, now, third] = [await openShop(db), await openShop(db), await openShop(db)];
  const job = before.source;
  const open = (shops: (typeof now)[], of = job) =>
    openContext(db, {
      path,
      writeCodes,
      shops,
      job: of,
      platforms: shops.map((shop) => (shop === third ? 'amazon' : 'shopify')),
    });
  const [all, other] = [await open([before, now, third]), await open([before], `another ${job}`)];
  const codes = 'MIRA,,mira,D1,,,';
  const mira = (id: string) => order(id, { codes: ['MIRA'] });
  const sent = ['accepted', 'in doubt', 'refused later', 'refused', 'withdrawn', 'held', 'waits'];
  await before.read({ orders: [...sent.map(mira), order('organic'), order('theirs', { codes: ['NOOR'] })] });
  await third.read({ orders: [order('of the third', { codes: ['MIRA'], total: '77.00' })] });
  await now.read({ orders: [order('in doubt'), order('new')] });
  await all.attribute({ codes });
  await all.prepare();
  await other.attribute({ codes: 'NOOR,,noor,D2,,,' });
  await other.prepare();
  const states: Readonly<Record<string, readonly [string, string]>> = {
    accepted: ['accepted', 'accepted'],
    'in doubt': ['in_doubt', 'timeout'],
    'refused later': ['sending', ''],
    refused: ['rejected', 'no such deal'],
    withdrawn: ['held', 'no_longer_attributed'],
    held: ['held', 'evidence_of_another_poster'],
  };
  const bringTo = async (id: string, [state, reason]: readonly [string, string]) => {
    const isTried = state !== 'held';
    await sql`
      update ledger.entries set state = ${state}, state_reason = nullif(${reason}, ''), attempt = ${isTried ? 1 : 0},
        owner = case when ${state} = 'sending' then gen_random_uuid() end, doubtful_attempt = case when ${state} = 'in_doubt' then 1 end,
        deal_id = case when ${state} = 'accepted' then 'D1' end
      where job = ${job} and order_id = ${id}`.execute(db);
  };
  for (const [id, state] of Object.entries(states)) await bringTo(id, state);
  await before.read({ orders: [mira('decided')] });
  await all.attribute({ codes });

  const decided = async (of: string, { source }: typeof now) => {
    const { rows } = await sql<{ said: string }>`
      select concat_ws(' ', order_id || ':', outcome, reason, matched_by, target, case when is_pending then 'pending' end) as said
      from intake.attributions where job = ${of} and source = ${source} order by order_id`.execute(db);
    return rows.map(({ said }) => said);
  };
  const files = async () => {
    const { rows } = await sql<{ of: string; at: Date }>`
      select case d.job when ${job} then '' else 'another job ' end || case f.source when ${before.source} then 'before' when ${now.source} then 'now' else 'third' end
        || case d.rules_hash when 'source_removed' then ', removed' else '' end as of, d.attributed_at as at
      from intake.attributed_files d join intake.source_files f using (source_file_id) where starts_with(d.job, ${job}) or d.job = ${other.job}
      order by 1`.execute(db);
    return rows;
  };
  const ofAnother = await decided(other.job, before);
  const read = await files();
  const left = await open([now, third]);
  await now.read({
    orders: [
      ...['in doubt', 'accepted', 'theirs', 'of the third', 'organic'].map((id) =>
        order(id, { codes: ['X'] }),
      ),
    ],
  });
  await left.attribute({ codes });

  const REMOVED = 'excluded source_removed';
  expect(await decided(job, before)).toEqual([
    'accepted: attributed code deal:D1',
    `decided: ${REMOVED}`,
    'held: attributed code deal:D1',
    'in doubt: attributed code deal:D1',
    `organic: ${REMOVED}`,
    `refused: ${REMOVED}`,
    'refused later: attributed code deal:D1',
    `theirs: ${REMOVED}`,
    'waits: attributed code deal:D1',
    `withdrawn: ${REMOVED}`,
  ]);
  // What was sent for the source: the ledger must learn what its successor states, whoever it credits.
  expect(await decided(job, now)).toEqual([
    'accepted: unattributed unknown_code pending',
    'in doubt: unattributed unknown_code pending',
    'new: organic',
    'of the third: unattributed unknown_code',
    'organic: unattributed unknown_code',
    'theirs: unattributed unknown_code',
  ]);
  expect(await decided(job, third)).toEqual(['of the third: attributed code deal:D1']);
  expect(await decided(other.job, before)).toEqual(ofAnother);
  const removed = await files();
  expect(removed.map(({ of }) => of)).toEqual([
    ...['another job before', 'before, removed', 'before, removed', 'now', 'now', 'third'],
  ]);

  // The reports compare the files of these orders again.
  const times = removed.filter(({ of }) => of === 'before, removed').map(({ at }) => at.getTime());
  expect(Math.min(...times)).toBeGreaterThan(Math.max(...read.map(({ at }) => at.getTime())));

  await bringTo('refused later', ['rejected', 'no such deal']);
  await left.attribute({ codes });
  expect(await decided(job, before)).toContain(`refused later: ${REMOVED}`);
  expect(await files(), 'nothing is set aside twice').toEqual(removed);
  const none = await inTransaction(db, async (trx) => [
    await excludeRemovedSources(trx, { job, sources: [] }),
    await excludeRemovedSources(trx, { job, sources: [] }),
  ]);
  const sorted = [before, now, third].map(({ source }) => source).toSorted();
  expect(none).toEqual([sorted, sorted]);
});

/** What an order may state otherwise, each alone. */
const STATED: Readonly<Record<string, Partial<StagedOrder>>> = {
  status: { status: 'shipped' },
  currency: { currency: 'USD' },
  total: { total: '7.00' },
  subtotal: { subtotal: '7.00' },
  refunded: { refunded: '4.00' },
  cancelledAt: { cancelledAt: '2026-04-12T00:00:00Z' },
  exclusion: { exclusion: 'test' },
  doubt: { doubt: 'incomplete' },
  lines: { lines: [['A', '10.00']] },
};
/** What is no state of the order. */
const UNCHANGED: Readonly<Record<string, Partial<StagedOrder>>> = {
  nothing: {},
  name: { orderName: 'renamed' },
  note: { note: 'a gift' },
};

it('what was sent for a source that was renamed follows the state of the order under the new name, if that is another', async () => {
  const { db } = await setup();
  const path = join(makeTestFolder(), 'codes.csv');
  const writeCodes = (text: string) => writeFileSync(path, text);
  const [before, now, other] = [await openShop(db), await openShop(db), await openShop(db)];
  const open = (...shops: (typeof now)[]) =>
    openContext(db, { path, writeCodes, shops, job: before.source, platforms: ['shopify'] });
  const first = await open(before);
  const codes = 'MIRA,,mira,D1,,,';
  const mira = (id: string, given = {}) => order(id, { codes: ['MIRA'], ...given });
  await before.read({ orders: Object.keys(UNCHANGED).map((id) => mira(id)) });
  await before.read({ orders: [...Object.keys(STATED), 'both'].map((id) => mira(id)) });
  await first.attribute({ codes });
  await first.prepare();
  await bring(first, 'accepted');
  const decidedAt = async () => {
    const { rows } = await sql<{ at: Date }>`
      select d.attributed_at as at from intake.attributed_files d join intake.source_files f using (source_file_id)
      where d.job = ${first.job} and f.source = ${before.source} order by source_file_id`.execute(db);
    return rows.map(({ at }) => at.getTime());
  };

  const second = await open(now, other);
  await now.read({
    orders: [
      ...Object.entries({ ...STATED, ...UNCHANGED }).map(([id, given]) => mira(id, given)),
      mira('both', { total: '9.00' }),
    ],
  });
  await other.read({ orders: [mira('both', { total: '8.00' })] });
  await second.attribute({ codes });
  const [unchanged, changed = 0] = await decidedAt();
  await second.prepare();
  const { rows } = await sql<{ said: string }>`
    select concat_ws(' ', a.order_id, o.order_id, case o.source when ${now.source} then 'now' when ${other.source} then 'other' else 'before' end,
      case when a.entry_id is not null then 'sent' end) as said
    from intake.attributions a join intake.orders o using (order_version_id)
    where a.job = ${first.job} and a.source = ${before.source}`.execute(db);
  expect(rows.map(({ said }) => said).toSorted()).toEqual(
    [
      ...Object.keys(STATED).map((id) => `${id} ${id} now sent`),
      ...Object.keys(UNCHANGED).map((id) => `${id} ${id} before sent`),
      'both both other sent',
    ].toSorted(),
  );
  const [same, after = 0] = await decidedAt();
  expect(after, 'the reports compare the file of these orders again').toBeGreaterThan(changed);
  expect(same, 'and no other one').toBe(unchanged);
  const noted = await adjustments(first);
  expect(noted.filter((one) => one.startsWith('both'))).toEqual([
    'both: changed 10 → 9',
    'both: changed 10 → 8',
  ]);
  expect(noted.filter((one) => !one.startsWith('both')).toSorted()).toEqual([
    'cancelledAt: cancelled 10 → -',
    'currency: held 10 → -',
    'doubt: held 10 → -',
    'exclusion: excluded 10 → -',
    'total: changed 10 → 7',
  ]);
});
