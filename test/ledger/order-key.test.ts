import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { foldHandle } from '../../src/core/text/fold.ts';
import { foldOrderId, foldPlatform, orderKey, similarId } from '../../src/core/text/order-key.ts';
import type { Database } from '../../src/db/connect.ts';
import { migrate } from '../../src/db/migrate.ts';
import { storeLostClaims } from '../../src/ledger/continuity/lost-claims.ts';
import { applyEvidences } from '../../src/ledger/evidence/apply-evidence.ts';
import { openShop, order, type Shop, useDatabase } from '../intake/story.ts';
import {
  ACCOUNT,
  adjustments,
  bring,
  type Context,
  decisions,
  entries,
  openContext,
} from '../jobs/attribute-orders/decide/story.ts';
import { migrateBy } from '../support/migrate-by.ts';
import { makeTestFolder, setup } from '../support/setup.ts';

const MIRA = 'MIRA,,mira,D1,,,';
const mira = (id: string) => order(id, { codes: ['MIRA'] });

function openJob(db: Database, platform: string, shop?: Shop): Promise<Context> {
  const path = join(makeTestFolder(), 'codes.csv');
  const writeCodes = (text: string) => writeFileSync(path, text);
  return openContext(db, {
    path,
    writeCodes,
    platforms: [platform],
    ...(shop === undefined ? {} : { shops: [shop] }),
  });
}

async function read(context: Context, ids: readonly string[]) {
  await context.read({ orders: ids.map(mira) });
  await context.attribute({ codes: MIRA });
  return context.prepare();
}

const SIMILAR = ['#1001', '1,002', '01003', 'A-1', 'a-1', '# 7', '1.5', '00', '1\u2019000', '#'];

describe('one order has one key', () => {
  const database = useDatabase('a Postgres server');

  test('by the same rules in the database and outside of it', async () => {
    const points = Array.from({ length: 0x10000 }, (_, point) => point).filter(
      // Of the letters between, a few.
      (point) => point !== 0 && (point < 0x3200 || point > 0xfd00 || (point < 0xd800 && point % 16 === 0)),
    );
    const others = [0x1bca0, 0x1d173, 0x1d17a, 0x1d17b, 0x1f44d, 0xe0000, 0xe0001, 0xe0fff, 0xe1000];
    const texts = [...points, ...others].map((point) => `x${String.fromCodePoint(point)}1`);
    const part = fc.constantFrom(
      ...'#a=\'" \t.１Ａ\u200b\u00ad\u3000\ufe0f',
      'e\u0301',
      'É',
      'ﬁ',
      '="',
      '\u202e',
    );
    texts.push(
      ...fc.sample(
        fc.array(part, { maxLength: 10 }).map((parts) => parts.join('')),
        { numRuns: 2_000, seed: 7 },
      ),
    );
    const { rows } = await sql<{ text: string; id: string; platform: string; key: string }>`
      select t as text, ledger.fold_order_id(t) as id, ledger.fold_platform(t) as platform, ledger.order_key(t, t) as key
      from unnest(${texts}::text[]) t`.execute(database());
    const differ = rows.filter(
      ({ text, id, platform, key }) =>
        id !== foldOrderId(text) ||
        platform !== foldPlatform(text) ||
        JSON.stringify(JSON.parse(key)) !== orderKey(text, text),
    );
    expect(differ).toEqual([]);
    expect(rows).toHaveLength(texts.length);
  });

  test('and one influencer has one handle, whatever wrote it', async () => {
    const texts = [
      '@Mira.Glow',
      ' mira.glow\u00a0',
      '@@MIRA.GLOW',
      '＠ｍｉｒａ.glow',
      'mi\u200bra.glow',
      'Mira. Glow',
    ];
    const { rows } = await sql<{ handle: string }>`
      select distinct ledger.fold_handle(t) as handle from unnest(${texts}::text[]) t`.execute(database());
    expect(rows).toEqual([{ handle: 'mira.glow' }]);
    expect(new Set(texts.map(foldHandle))).toEqual(new Set(['mira.glow']));
  });

  test('in whatever case its sources write the platform', async () => {
    const one = await openJob(database(), 'HShop');
    const other = await openJob(database(), 'hshop');
    const [id, second] = [one.source, `${one.source}-2`];
    expect(await read(one, [id])).toMatchObject({ created: 1 });
    expect(await read(other, [id, second])).toMatchObject({ created: 1, elsewhere: 1 });
    expect((await decisions(other))[0]).toMatch(`${id}: excluded known_from_another_job`);
    expect(await entries(other)).toMatchObject([{ order_id: second }]);
  });

  test('also when the case changes in the configuration', async () => {
    const shop = await openShop(database());
    expect(await read(await openJob(database(), 'HShop', shop), [shop.source])).toMatchObject({ created: 1 });
    const renamed = await openJob(database(), 'hshop', shop);
    const changed = order(shop.source, { codes: ['MIRA'], total: '7.00' });
    await renamed.read({ orders: [changed] });
    await renamed.attribute({ codes: MIRA });
    expect(await renamed.prepare()).toMatchObject({ created: 0, replaced: 1 });
    expect(await entries(renamed)).toMatchObject([{ amount: '7.0000' }]);
  });

  test('whose spelling is no adjustment of what was sent', async () => {
    const shop = await openShop(database());
    const id = shop.source;
    const sent = await openJob(database(), 'HShop', shop);
    await read(sent, [id, `${id}-2`, `${id}-3`]);
    await bring(sent, 'accepted');
    const renamed = await openJob(database(), 'hshop', shop);
    await renamed.read({
      orders: [
        order(id, { codes: ['MIRA'], orderName: 'another' }),
        order(`${id}-2`, { codes: ['MIRA'], total: '9.00' }),
        order(`${id}-3`, { orderName: 'without a code' }),
      ],
    });
    await renamed.attribute({ codes: MIRA });
    expect(await renamed.prepare()).toMatchObject({ created: 0, replaced: 0 });
    expect(await adjustments(renamed)).toEqual([`${id}-2: changed 10 → 9`, `${id}-3: held 10 → 10`]);
  });

  test.each(['="ID"', 'I\u200bD', "'ID", ' ID '])(
    'however an event of another system spells it: %j',
    async (spelling) => {
      const context = await openJob(database(), 'HShop');
      const id = context.source;
      const evidence = {
        isCredit: true,
        isLegible: true,
        orderId: spelling.replace('ID', id).replace('I\u200bD', `${id.slice(0, 3)}\u200b${id.slice(3)}`),
        orderPlatform: 'hShop ',
        dealId: null,
        collabId: null,
        amount: null,
        currency: null,
      };
      const tell = (bodySha256: string) =>
        context.db.transaction().execute((trx) => applyEvidences(trx, [{ ...evidence, bodySha256 }]));
      await tell(`${id} before ${spelling}`);
      expect(await read(context, [id])).toMatchObject({ created: 1, evident: 1 });
      expect(await entries(context)).toMatchObject([
        { state: 'held', state_reason: 'evidence_of_another_poster' },
      ]);
      await tell(`${id} after ${spelling}`);
      const after = await context.db
        .selectFrom('ledger.evidence as v')
        .innerJoin('ledger.entries as e', 'e.entry_id', 'v.entry_id')
        .select('e.order_id')
        .where('v.body_sha256', '=', `${id} after ${spelling}`)
        .execute();
      expect(after, 'it is linked to the entry of the order').toEqual([{ order_id: id }]);
    },
  );

  test('and a process of an earlier version cannot make another one', async () => {
    const context = await openJob(database(), 'HShop');
    await read(context, [context.source]);
    const again = sql`
      insert into ledger.entries (effect, account_id, key, state, body, body_hash, job, order_platform, order_id, run_id)
      select effect, account_id, ledger.written_key(order_platform, order_id), state, body, body_hash, job, order_platform, order_id, run_id
      from ledger.entries where job = ${context.job}`.execute(context.db);
    await expect(again).rejects.toThrow('stop the processes of the earlier version');
  });

  test('under which a claim of an earlier version is found that the database had lost', async () => {
    const context = await openJob(database(), 'HShop');
    const [lost, other] = [context.source, `${context.source}-2`];
    const { rows } = await sql<{ hash: string }>`
      select ledger.key_hash(${ACCOUNT}, 'referral', ledger.written_key('HShop', ${lost})) as hash`.execute(
      context.db,
    );
    const claim = {
      ledgerId: randomUUID(),
      claimNo: '1',
      claimId: randomUUID(),
      accountId: ACCOUNT,
      effect: 'referral',
      keyHash: rows[0]?.hash ?? '',
      bodyHash: 'b',
      amount: '10.00',
      currency: 'EUR',
    } as const;
    await storeLostClaims(context.db, [{ claim, disposition: 'in_doubt', outcome: null, claimedAt: null }]);
    await read(context, [lost, other]);
    expect(await entries(context)).toMatchObject([
      { order_id: lost, state: 'in_doubt' },
      { order_id: other, state: 'ready' },
    ]);
  });
});

test('an upgrade posts no order again that an earlier version posted, or was told of, under another spelling', async () => {
  const { db } = await setup('empty');
  await migrateBy(db, (name) => name < '0077');
  const shop = await openShop(db);
  const { source, runId } = shop;
  for (const [platform, id, state] of [
    ['HShop', '5001', 'accepted'],
    ['HShop', '="5002"', 'accepted'],
    ['HShop', '５００４', 'ready'],
    // Posted twice by the earlier version; nothing can undo that.
    ['hshop', '5006', 'accepted'],
    ['HShop', '5006', 'accepted'],
    ['HSHOP', '5007', 'accepted'],
    ['HShop', '5007', 'accepted'],
    // Under another spelling of the platform only.
    ['HSHOP', '5008', 'accepted'],
  ])
    await sql`
      insert into ledger.entries (effect, account_id, key, state, attempt, body, body_hash, job, source, order_platform, order_id, amount, currency, deal_id, run_id)
      select 'referral', ${ACCOUNT}, '[' || to_json(platform) || ',' || to_json(id) || ']', state, (state = 'accepted')::int, body,
        encode(sha256(convert_to(body, 'UTF8')), 'hex'), ${source}, ${source}, platform, id, 10, 'EUR', 'D1', ${runId}::bigint
      from (values (${platform}::text, ${id}::text, ${state}::text)) v(platform, id, state),
        lateral (select '{"deal_id":"D1","brand_id":4819,"order_id":' || to_json(id) || ',"order_revenue":10,"order_platform":'
          || to_json(platform) || ',"order_discount_codes_used":"MIRA","currency":"EUR"}' as body) b`.execute(
      db,
    );
  await sql`
    with file as (
      insert into intake.source_files (source, uri, version, size_bytes, layout, layout_hash, state, run_id, read_for, sealed_at)
      values (${source}, 'file:///old.csv', '1', 1, 'l', 'h', 'sealed', ${runId}::bigint, 'orders', now()) returning source_file_id),
    orders as (
      insert into intake.orders (source, order_id, source_file_id, is_current, content_hash, group_key, currency, total, codes, codes_folded, line_no, record_no, row_count)
      select ${source}, v.id, source_file_id, true, 'h', 'g', 'EUR', 10, case when v.id like '=%' then '{MIRA}'::text[] else '{}' end,
        case when v.id like '=%' then '{mira}'::text[] else '{}' end, 2, 1, 1
      from file, unnest(${['="5002"', ...SIMILAR]}::text[]) v(id) returning order_id, order_version_id)
    insert into intake.attributions (job, source, order_id, order_version_id, outcome, matched_by, target, amount, currency, deal_id, entry_id, is_pending, rules_hash)
    select ${source}, ${source}, o.order_id, o.order_version_id, 'attributed', 'code', 'deal:D1', 10, 'EUR', 'D1',
      (select entry_id from ledger.entries e where e.order_id = o.order_id), false, 'h' from orders o where o.order_id = '="5002"'`.execute(
    db,
  );
  await sql`
    with seed as (
      insert into ledger.seeds (file_name, file_sha256, orders, reason, seeded_by) values ('s.csv', 'x', 1, 'before', 'mia') returning seed_id)
    insert into ledger.evidence (kind, seed_id, order_platform, order_id, body_sha256)
    select 'seeded', seed_id, 'HShop', ${'50\u200b03'}, 'x' from seed`.execute(db);

  await migrateBy(db, (name) => name >= '0077');
  await migrate(db);

  const before = await entries({ db, job: source });
  const context = await openJob(db, 'HShop', shop);
  expect(await read(context, ['5001', '5002', '5003', '5004', '5005', '5006', '5007', '5008'])).toEqual({
    created: 1,
    replaced: 0,
    withdrawn: 0,
    elsewhere: 0,
    adjustments: 0,
    evident: 0,
  });
  // What was posted, and what waits, stays as it was.
  expect((await entries(context)).slice(0, before.length)).toEqual(before);
  expect((await entries(context)).slice(before.length)).toMatchObject([{ order_id: '5005', state: 'ready' }]);
  expect(await adjustments(context)).toEqual([]);
  expect((await decisions(context)).filter((said) => said.startsWith('500'))).toEqual([
    '5001: attributed code MIRA → deal:D1',
    '5002: attributed code MIRA → deal:D1',
    '5003: excluded credited_elsewhere',
    '5004: attributed code MIRA → deal:D1',
    '5005: attributed code MIRA → deal:D1',
    '5006: attributed code MIRA → deal:D1',
    '5007: attributed code MIRA → deal:D1',
    '5008: attributed code MIRA → deal:D1',
  ]);
  // The database and the staging of new orders agree on which ids are similar.
  const similar = await sql<{ order_id: string; similar_to: string | null }>`
    select order_id, similar_to from intake.orders where is_current`.execute(db);
  for (const { order_id: id, similar_to: loose } of similar.rows)
    expect([id, loose]).toEqual([id, similarId(id)]);
  expect(similar.rows).toHaveLength(8 + SIMILAR.length);
  const { rows } = await sql`
    select a.order_id, e.key from intake.attributions a join ledger.entries e using (entry_id) order by 1`.execute(
    db,
  );
  expect(rows).toEqual([
    { order_id: '5001', key: '["HShop","5001"]' },
    { order_id: '5002', key: '["HShop","=\\"5002\\""]' },
    { order_id: '5004', key: '["HShop","５００４"]' },
    { order_id: '5005', key: '["hshop","5005"]' },
    { order_id: '5006', key: '["HShop","5006"]' },
    // Of several entries, that of the platform as the source writes it.
    { order_id: '5007', key: '["HShop","5007"]' },
    { order_id: '5008', key: '["HSHOP","5008"]' },
  ]);
});
