import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { type CreatorShop, openCreatorShop } from './story.ts';

const TIME = new Date('2026-11-01T00:00:00Z');

/** Writes a list of creators with the time that the store shows. */
function put(shop: CreatorShop, name: string, rows: readonly string[], modifiedAt = TIME): void {
  shop.drop(name, `handle,platform,stage,code,note\n${rows.map((row) => `${row}\n`).join('')}`);
  utimesSync(join(shop.folder, 'exports', name), modifiedAt, modifiedAt);
}

async function held({ db }: CreatorShop): Promise<readonly string[]> {
  const { rows } = await sql<{ said: string }>`
    select regexp_replace(uri, '.*/', '') || ' ' || hold_code as said from intake.source_files where state = 'held'`.execute(
    db,
  );
  return rows.map(({ said }) => said);
}

it('holds creators of whom two lists state different things, if nothing says which is newer', async () => {
  const shop = await openCreatorShop();
  put(shop, 'east.csv', ['noor.test,tiktok,1,NOOR10,', 'mia.test,instagram,3,,']);
  put(shop, 'west.csv', ['noor.test,tiktok,1,NOOR15,', 'mia.test,instagram,3,,']);
  const first = await shop.runDeals();
  expect(first).toMatchObject({ code: 3, counts: { held: 1, known: 1, created: 0, stages_sent: 1 } });
  expect(await held(shop)).toEqual(['west.csv conflicting_states']);
  expect(await shop.creators()).toEqual([
    'noor.test tiktok held (conflicting_states)',
    'mia.test instagram known DEALMIA',
  ]);
  expect(await shop.processed('create_deal')).toBe(0);

  const west = ['files', 'release', 'west.csv', '--newest', '--reason', 'sent later'];
  expect((await shop.cli(...west)).exitCode).toBe(0);
  expect(await shop.runDeals()).toMatchObject({ code: 0, counts: { held: 0, created: 1 } });
  const deal = await shop.trueDeal({ influencer_handle: 'noor.test' });
  expect(deal.collabs).toMatchObject([{ code: 'NOOR15' }]);
});

it('sends no stage or note of a creator who is held, and does not send again what the deal has taken', async () => {
  const shop = await openCreatorShop();
  put(shop, 'east.csv', ['mia.test,instagram,3,,Hello']);
  expect((await shop.runDeals()).counts).toMatchObject({ stages_sent: 1, notes_sent: 1 });
  put(shop, 'west.csv', ['mia.test,instagram,4,,Bye']);
  expect((await shop.runDeals()).counts).toMatchObject({ held: 1, stages_sent: 0, notes_sent: 0 });
  expect((await shop.cli('files', 'release', 'west.csv', '--reason', 'not needed')).exitCode).toBe(0);
  const counts = { held: 0, known: 1, stages_sent: 0, notes_sent: 0, updates_waiting: 0 };
  expect((await shop.runDeals()).counts).toMatchObject(counts);
});

it('holds a list whose rows state different things about one creator', async () => {
  const shop = await openCreatorShop();
  put(shop, 'list.csv', ['noor.test,tiktok,1,NOOR10,', 'ben.test,youtube,,,', '@Noor.test,TikTok,1,NOOR15,']);
  await shop.runDeals();
  expect(await held(shop)).toEqual(['list.csv conflicting_rows']);
  expect((await shop.cli('files')).stdout.replaceAll(/\s+/g, ' ')).toContain(
    'Lines 2 and 4 are about the same creator and platform, and state different things.',
  );
  expect(await shop.creators()).toEqual([]);
  put(shop, 'list.csv', ['noor.test,tiktok,1,NOOR10,', '@Noor.test,TikTok,1,NOOR10,']);
  expect(await shop.runDeals()).toMatchObject({ counts: { created: 1 } });
});

it('says of a late list how many of its rows changed nothing', async () => {
  const shop = await openCreatorShop();
  put(shop, 'list-10.csv', ['mia.test,instagram,3,,']);
  await shop.runDeals();
  put(shop, 'list-9.csv', ['mia.test,instagram,2,,', 'ben.test,youtube,,,']);
  await shop.runDeals();
  expect((await shop.cli('files')).stdout.replaceAll(/\s+/g, ' ')).toContain(
    '1 of its rows changed nothing: a newer file states them (it is older by the number in its name)',
  );
  expect(await shop.trueDeal({ deal_id: 'DEALMIA' })).toMatchObject({ funnel_step: 3 });
  // A newer list with the same bytes is no duplicate of it: what it states is in force now.
  put(shop, 'list-11.csv', ['mia.test,instagram,2,,', 'ben.test,youtube,,,']);
  await shop.runDeals();
  expect(await shop.trueDeal({ deal_id: 'DEALMIA' })).toMatchObject({ funnel_step: 2 });
});

it('holds a creator of whom two rows of the job state different things, if their files are as old as each other', async () => {
  const shop = await openCreatorShop();
  const header = 'handle,platform,brand_id,code';
  const drop = (name: string, rows: readonly string[], modifiedAt = TIME): void => {
    shop.drop(name, `${[header, ...rows].join('\n')}\n`);
    utimesSync(join(shop.folder, 'exports', name), modifiedAt, modifiedAt);
  };
  // A row without a brand is about that of the job.
  drop('east.csv', ['noor.test,tiktok,,NOOR10', 'ben.test,youtube,,BEN15']);
  drop('west.csv', ['noor.test,tiktok,4819,NOOR15', 'ben.test,youtube,4819,BEN15']);
  expect((await shop.runDeals('--limit', '5')).counts).toMatchObject({ creators: 2, held: 1 });
  expect((await shop.creators()).filter((one) => one.includes('noor')).toSorted()).toEqual([
    'noor.test tiktok held (conflicting_rows)',
    'noor.test tiktok superseded (newer_row)',
  ]);
  const south = ['noor.test,tiktok,4819,NOOR20', 'kim.test,tiktok,4819,KIM20'];
  drop('south.csv', south, new Date('2026-11-02T00:00:00Z'));
  expect((await shop.runDeals()).counts).toMatchObject({ held: 0 });
  const deal = await shop.trueDeal({ influencer_handle: 'noor.test' });
  expect(deal.collabs).toMatchObject([{ code: 'NOOR20' }]);
  // An older list that arrives late changes nothing.
  drop('north.csv', ['kim.test,tiktok,,KIM10'], new Date('2026-10-01T00:00:00Z'));
  expect((await shop.runDeals()).counts).toMatchObject({ held: 0, terms_differ: 0 });
});

it('holds a row that names the deal of another creator, and sends it no note', async () => {
  const shop = await openCreatorShop();
  shop.drop('list.csv', 'handle,platform,deal_id,note\nnoor.test,tiktok,DEALMIA,Hello\n');
  expect((await shop.runDeals()).counts).toMatchObject({ held: 1, notes_sent: 0 });
  expect(await shop.creators()).toEqual(['noor.test tiktok held (deal_of_another)']);
});

it('creates no deal for a creator if the service answers with the deal of another one, and asks again', async () => {
  const shop = await openCreatorShop();
  put(shop, 'list.csv', ['noor.test,tiktok,1,,']);
  const deal_info = { deal_id: 'DEALMIA', influencer_handle: 'mia.test', platform: 'instagram' };
  await shop.sandbox.setFaults([{ kind: 'canned', operation: 'get_deal_details', body: { deal_info } }]);
  expect(await shop.runDeals()).toMatchObject({ code: 1, counts: { created: 0, to_create: 1 } });
  await shop.sandbox.setFaults(null);
  expect(await shop.runDeals()).toMatchObject({ code: 0, counts: { created: 1 } });
});

it('creates no deal for a creator for whom the service has one, also if the deal states no handle', async () => {
  const shop = await openCreatorShop();
  put(shop, 'list.csv', ['noor.test,tiktok,1,,']);
  const body = { deal_info: { deal_id: 'DEALNOOR', platform: 'tiktok', is_active: true } };
  const answer = { kind: 'canned', operation: 'get_deal_details', body } as const;
  await shop.sandbox.setFaults([
    { ...answer, match: { query: { influencer_handle: 'noor.test' } } },
    { ...answer, match: { query: { deal_id: 'DEALNOOR' } } },
  ]);
  await shop.runDeals();
  // The deal lacks a field, which the mirror says.
  expect((await shop.cli('run', 'account')).exitCode).toBe(3);
  expect(await shop.runDeals()).toMatchObject({ code: 3, counts: { held: 1, created: 0 } });
  shop.drop('list.csv', 'handle,platform,deal_id\nnoor.test,tiktok,DEALNOOR\n');
  await shop.runDeals();
  expect(await shop.creators()).toEqual(['noor.test tiktok known DEALNOOR']);
});

it('holds creators who would have one code together, whatever its case, and one who would have that of a deal', async () => {
  const shop = await openCreatorShop();
  const { rows } = await sql<{ code: string }>`
    select c.code from mirror.collaboration_versions c join mirror.deal_versions d using (deal_id)
    where d.influencer_handle = 'mia.test' and c.is_latest and c.code is not null limit 1`.execute(shop.db);
  const [{ code } = { code: '' }] = rows;
  put(shop, 'list.csv', [
    'zoe.one,instagram,1,ZOE10,',
    'zoe.two,tiktok,1,zoe10,',
    `noor.test,tiktok,1,${code.toLowerCase()},`,
    'zoe.one,youtube,1,ZOE10,',
    'ben.two,tiktok,1,BENTWO,',
  ]);
  expect(await shop.runDeals()).toMatchObject({ code: 3, counts: { created: 1, held: 4 } });
  expect(await shop.creators()).toEqual([
    'zoe.one instagram held (code_of_another)',
    'zoe.two tiktok held (code_of_another)',
    'noor.test tiktok held (code_of_another)',
    'zoe.one youtube held (code_of_another)',
    expect.stringMatching(/^ben\.two tiktok create/),
  ]);
  put(shop, 'list.csv', ['zoe.one,instagram,1,ZOE10,', 'zoe.two,tiktok,1,ZOE20,'], new Date('2026-11-02'));
  expect((await shop.runDeals()).counts).toMatchObject({ created: 2 });
});
