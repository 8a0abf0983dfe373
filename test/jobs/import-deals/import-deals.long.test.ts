import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { CODES, leasesAreOver } from '../../runs/workshop.ts';
import { killsOfJob } from '../../support/property-runs.ts';
import { waitFor } from '../../support/wait-for.ts';
import { openCreatorShop } from './story.ts';

describe('import-deals', () => {
  it('creates one deal for each new creator of a list, and sends nothing in a second run', async () => {
    const shop = await openCreatorShop();
    shop.drop(
      'list.csv',
      `Handle,Platform,Code,Discount %,Commission,Stage,Status,Notes
@Mia.Test,Instagram,,,,3,inactive,
https://www.youtube.com/@ben.test,,,,,,,Called in May
noor.test,TikTok,NOOR10,10%,"12,5",2,active,First film in June
`,
    );
    const first = await shop.runDeals();
    expect(first).toMatchObject({
      code: 0,
      counts: { creators: 3, created: 1, known: 2, notes_sent: 2, stages_sent: 1, statuses_sent: 2 },
    });
    expect(await shop.trueDeal({ influencer_handle: 'noor.test' })).toMatchObject({
      platform: 'tiktok',
      funnel_step: 2,
      is_active: true,
      collabs: [
        {
          code: 'NOOR10',
          code_perc: 10,
          commission_perc: 12.5,
          dealflow_id: 'D_TEST',
          create_affiliate_details: false,
        },
      ],
    });
    expect(await shop.trueDeal({ deal_id: 'DEALMIA' })).toMatchObject({ funnel_step: 3, is_active: false });
    const second = await shop.runDeals();
    expect(second).toMatchObject({
      code: 0,
      counts: { created: 0, already: 1, known: 2, notes_sent: 0, stages_sent: 0, statuses_sent: 0 },
    });
    await shop.mirror();
    expect((await shop.runDeals()).counts).toMatchObject({ created: 0, already: 1, known: 2 });
    expect(await shop.processed('create_deal')).toBe(1);
    expect(await shop.processed('create_note')).toBe(2);
    expect(await shop.processed('update_dealstage')).toBe(1);
    expect(await shop.processed('update_deal_info')).toBe(2);
  });

  it('refuses to run if the account was never mirrored', async () => {
    const shop = await openCreatorShop({ isMirrored: false });
    shop.drop('list.csv', 'handle,platform\nmia.test,instagram\n');
    const run = await shop.cli('run', 'deals');
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toContain('mirror-account');
    expect((await shop.cli('plan', 'deals')).exitCode).toBe(2);
    expect(await shop.processed('create_deal')).toBe(0);
  });

  it('plans what it would create and send, and stores nothing', async () => {
    const shop = await openCreatorShop();
    shop.drop(
      'list.csv',
      'handle,platform,stage,note\nmia.test,instagram,2,\nnoor.test,tiktok,1,Hello\nbo.test,tiktok,,\n',
    );
    const plan = await shop.cli('plan', 'deals');
    expect(plan.stdout).toMatch(/would be created\s+2/);
    expect(plan.stdout).toMatch(/known\s+1/);
    expect(plan.stdout).toContain('Would be sent: 1 note, 1 stage or status.');
    expect(await shop.creators()).toEqual([]);
    const { rows } = await sql`select from ledger.entries`.execute(shop.db);
    expect(rows).toEqual([]);
    expect((await shop.runDeals('--limit', '1')).counts).toMatchObject({ created: 1, to_create: 1 });
    expect((await shop.runDeals()).counts).toMatchObject({ created: 1, already: 1, notes_sent: 1 });
  });

  it('finds a deal that the mirror has not discovered by asking the service, and holds the row until the mirror has read it', async () => {
    const shop = await openCreatorShop();
    await createByHand(shop, { influencer_handle: 'late.test', platform: 'instagram' });
    shop.drop('list.csv', 'handle,platform\nlate.test,instagram\nlate.test,tiktok\n');
    expect(await shop.runDeals()).toMatchObject({ code: 3, counts: { held: 2, created: 0 } });
    expect((await shop.cli('explain', 'creators', 'late.test')).stdout).toContain('deal not mirrored');
    await shop.mirror();
    // The existing deal is on instagram, so tiktok still lacks one.
    expect(await shop.runDeals()).toMatchObject({ code: 0, counts: { known: 1, created: 1 } });
    expect(await shop.dealsOf('late.test')).toHaveLength(2);
  });

  it('creates no deal for a handle if the service could not be asked about it', async () => {
    const shop = await openCreatorShop();
    shop.drop('list.csv', 'handle,platform\nnoor.test,instagram\n');
    await shop.sandbox.setFaults([{ kind: 'error_before', operation: 'get_deal_details' }]);
    expect((await shop.runDeals()).counts).toMatchObject({ created: 0, to_create: 1 });
    expect(await shop.processed('create_deal')).toBe(0);
    await shop.sandbox.setFaults(null);
    expect((await shop.runDeals()).counts).toMatchObject({ created: 1, to_create: 0 });
  });

  it('lets an operator choose among several deals by naming one in the row', async () => {
    const shop = await openCreatorShop();
    await createByHand(shop, { influencer_handle: 'mia.test', platform: 'instagram' });
    await sql`insert into mirror.known_handles (handle_folded, handle, first_way, ways) values ('mia.test', 'mia.test', 'codes', '{codes}')`.execute(
      shop.db,
    );
    await shop.mirror();
    shop.drop('1.csv', 'handle,platform\nmia.test,instagram\n');
    expect(await shop.runDeals()).toMatchObject({ code: 3, counts: { held: 1 } });
    expect(await shop.creators()).toEqual(['mia.test instagram held (several_deals)']);
    shop.drop('2.csv', 'handle,platform,deal_id,stage\nmia.test,instagram,DEALMIA,4\n');
    expect(await shop.runDeals()).toMatchObject({ code: 0, counts: { known: 1, stages_sent: 1 } });
    expect(await shop.trueDeal({ deal_id: 'DEALMIA' })).toMatchObject({ funnel_step: 4 });
  });

  it('creates no second deal for another default dealflow, and none without any dealflow', async () => {
    const shop = await openCreatorShop({ job: '' });
    shop.drop('1.csv', 'handle,platform,dealflow_id\nnoor.test,tiktok,\nbo.test,tiktok,D_TEST\n');
    expect(await shop.runDeals()).toMatchObject({ code: 3, counts: { held: 1, created: 1 } });
    shop.drop('2.csv', 'handle,platform\nbo.test,tiktok\n');
    // The row with the dealflow keeps its deal, and the row without one matches the same deal.
    expect((await shop.runDeals()).counts).toMatchObject({ held: 1, already: 1, known: 1, created: 0 });
    expect(await shop.processed('create_deal')).toBe(1);
  });
});

describe('later lists', () => {
  it('send a new stage, status and note; terms that only create_deal can set are shown and recorded as an adjustment', async () => {
    const shop = await openCreatorShop();
    shop.drop(
      '1.csv',
      'handle,platform,code,commission,stage,status,note\nnoor.test,tiktok,NOOR10,10,1,yes,A\nmia.test,instagram,,,,,\n',
    );
    await shop.runDeals();
    shop.drop(
      '2.csv',
      'handle,platform,code,commission,stage,status,note\nnoor.test,tiktok,NOOR15,10,2,no,B\nmia.test,instagram,OTHER,,,,\n',
    );
    expect(await shop.runDeals()).toMatchObject({
      code: 0,
      counts: { created: 0, already: 1, stages_sent: 1, statuses_sent: 1, notes_sent: 1, terms_differ: 2 },
    });
    expect(await shop.trueDeal({ influencer_handle: 'noor.test' })).toMatchObject({
      funnel_step: 2,
      is_active: false,
      collabs: [{ code: 'NOOR10' }],
    });
    const { rows } = await sql<{ kind: string }>`select kind from ledger.adjustments`.execute(shop.db);
    expect(rows).toEqual([{ kind: 'changed' }]);
    const { rows: stated } = await sql<{ differing_terms: string }>`
      select differing_terms from bi.creators_imported order by creator_id`.execute(shop.db);
    expect(stated).toEqual([{ differing_terms: 'code' }, { differing_terms: 'code' }]);
    shop.drop(
      '3.csv',
      'handle,platform,code,commission,stage,status,note\nnoor.test,tiktok,NOOR10,,,,A\nmia.test,instagram,,,,,\n',
    );
    // The first note again, which the deal already has. A blank cell changes nothing.
    expect((await shop.runDeals()).counts).toMatchObject({ terms_differ: 0, notes_sent: 0, stages_sent: 0 });
    expect(await shop.processed('create_note')).toBe(2);
  });

  it('replace a request that still waits', async () => {
    const shop = await openCreatorShop();
    shop.drop('1.csv', 'handle,platform,code\n@NOOR.test,TikTok,SECOND\n');
    await shop.sandbox.setFaults([{ kind: '429', operation: 'create_deal' }]);
    expect((await shop.runDeals()).counts).toMatchObject({ creators: 1, created: 0, to_create: 1 });
    await shop.sandbox.setFaults(null);
    shop.drop('2.csv', 'handle,platform,code\nnoor.test,tiktok,THIRD\n');
    await sql`update ledger.entries set not_before = null`.execute(shop.db);
    expect((await shop.runDeals()).counts).toMatchObject({ created: 1 });
    expect(await shop.trueDeal({ influencer_handle: 'noor.test' })).toMatchObject({
      collabs: [{ code: 'THIRD' }],
    });
  });

  it('send rejected requests again: deals after the row was corrected, stages in each run', async () => {
    const shop = await openCreatorShop();
    shop.drop(
      '1.csv',
      'handle,platform,dealflow_id,deal_id,stage\nnoor.test,tiktok,D_GONE,,\nmia.test,instagram,,DEALGONE,1\n',
    );
    const counts = { refused: 1, known: 1, updates_refused: 1, updates_waiting: 1 };
    expect(await shop.runDeals()).toMatchObject({ code: 3, counts });
    expect(await shop.runDeals()).toMatchObject({ code: 3, counts });
    expect((await shop.cli('run', 'deals')).stdout).toContain('stage or status of 1 creator: Deal not found');
    shop.drop('2.csv', 'handle,platform,deal_id,stage\nnoor.test,tiktok,,\nmia.test,instagram,DEALMIA,1\n');
    expect((await shop.runDeals()).counts).toMatchObject({ created: 1, stages_sent: 1, updates_refused: 0 });
  });
});

it('still send the status of a deal if the service rejects its stage', async () => {
  const shop = await openCreatorShop();
  shop.drop('1.csv', 'handle,platform,deal_id,stage,status\nmia.test,instagram,DEALMIA,1,inactive\n');
  await shop.sandbox.setFaults([
    { kind: 'error_before', operation: 'update_dealstage', status: 422, text: 'Stage not found' },
  ]);
  const counts = { stages_sent: 0, statuses_sent: 1, updates_refused: 1, updates_waiting: 1 };
  expect(await shop.runDeals()).toMatchObject({ code: 3, counts });
  expect(await shop.trueDeal({ deal_id: 'DEALMIA' })).toMatchObject({ is_active: false });
  await shop.sandbox.setFaults(null);
  expect((await shop.runDeals()).counts).toMatchObject({
    stages_sent: 1,
    statuses_sent: 0,
    updates_refused: 0,
  });
});

describe('a request with a lost answer', () => {
  it('is in doubt and never sent again; the operator who accepts it names the deal, and its note and status follow', async () => {
    const shop = await openCreatorShop();
    shop.drop('1.csv', 'handle,platform,note,status\nnoor.test,tiktok,Hello,inactive\n');
    await shop.sandbox.setFaults([{ kind: 'reset_after', operation: 'create_deal', count: 1 }]);
    expect(await shop.runDeals()).toMatchObject({
      code: 6,
      counts: { in_doubt: 1, created: 0, notes_waiting: 1 },
    });
    await shop.mirror();
    expect(await shop.runDeals()).toMatchObject({ code: 6, counts: { in_doubt: 1, created: 0 } });
    expect(await shop.processed('create_deal')).toBe(1);
    expect((await shop.cli('review')).stdout).toContain('deal of noor.test on tiktok');
    const { entry_id: entry } = await shop.db
      .selectFrom('ledger.entries')
      .select('entry_id')
      .where('state', '=', 'in_doubt')
      .executeTakeFirstOrThrow();
    const [deal = ''] = (await shop.dealsOf('noor.test')).map((one) => one.split(' ')[0]);
    await shop.cli('review', entry, '--accepted', '--deal', deal, '--reason', 'the deal is there');
    expect(await shop.runDeals()).toMatchObject({
      code: 0,
      counts: { already: 1, in_doubt: 0, notes_sent: 1, statuses_sent: 1 },
    });
    expect(await shop.trueDeal({ deal_id: deal })).toMatchObject({ is_active: false });
    const life = await shop.cli('explain', 'creators', '@noor.test');
    expect(life.stdout).toContain(`deal ${deal} was created for this row`);
    expect(life.stdout).toContain('accepted');
  });
});

describe('personal data', () => {
  it('in a list is never read: no name, address or number reaches the database, a log or the service', async () => {
    const shop = await openCreatorShop();
    shop.drop(
      'list.csv',
      `\ufeffHandle;Platform;First Name;E-mail;Phone;Address;Notes
noor.test;tiktok;Secretname;secretname@example.com;+31600000001;Secretstreet 1;Ask secretname@example.com first
secretname@example.com;tiktok;Secretname;;;;
`,
    );
    const run = await shop.cli('run', 'deals');
    expect(run.stdout).toMatch(/created\s+1/);
    const { rows: notes } = await sql<{ note: string }>`
      select body::json ->> 'note_description' as note from ledger.entries where effect = 'note'`.execute(
      shop.db,
    );
    expect(notes).toEqual([{ note: 'Ask s***@*** first' }]);
    const rejected = await shop.cli('rejected');
    expect(run.stdout + run.stderr + rejected.stdout).not.toMatch(/secret|31600000001/i);
    const { rows: tables } = await sql<{ name: string }>`
      select table_schema || '.' || table_name as name from information_schema.tables
      where table_schema in ('intake', 'ledger', 'ops', 'mirror') and table_type = 'BASE TABLE'`.execute(
      shop.db,
    );
    for (const { name } of tables) {
      const { rows } = await sql`
        select from ${sql.table(name)} t where t::text ~* 'secret|31600000001'`.execute(shop.db);
      expect(rows, name).toEqual([]);
    }
    expect(JSON.stringify(await shop.trueDeal({ influencer_handle: 'noor.test' }))).not.toMatch(/secret/i);
  });
});

describe('a new deal', () => {
  it('is known to the mirror after its next run, so that codes.csv can name the creator by handle', async () => {
    const shop = await openCreatorShop();
    shop.write(
      'pipeline.yaml',
      `${String((await import('node:fs')).readFileSync(`${shop.folder}/pipeline.yaml`))}
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
`.replace(
        'sources:\n',
        'sources:\n  shop: {uri: ./orders/, layout: generic, order_platform: shopify, time_zone: UTC}\n',
      ),
    );
    shop.write('codes.csv', `${CODES}NOOR10,4819,noor.test,,,,\n`);
    shop.drop('1.csv', 'handle,platform,code\nnoor.test,tiktok,NOOR10\n');
    expect((await shop.cli('doctor')).stdout).toContain('no such influencer');
    await shop.runDeals();
    await shop.mirror();
    expect((await shop.cli('doctor')).stdout).not.toContain('no such influencer');
    const { rows } = await sql<{ first_way: string }>`
      select first_way from mirror.known_deals where deal_id not in ('DEALMIA', 'DEALBEN', 'DEALZOE')`.execute(
      shop.db,
    );
    expect(rows).toEqual([{ first_way: 'create_deal' }]);
  });
});

describe('a run that is killed', () => {
  it('creates no deal and adds no note twice, and the next runs complete the work', {
    timeout: 120_000,
  }, async () => {
    const shop = await openCreatorShop({ api: 'lease_seconds: 2\ntimeout_seconds: 1' });
    const creators = Array.from({ length: 24 }, (_, index) => `creator${index}.test`);
    shop.drop(
      '1.csv',
      `handle,platform,note,status\n${creators.map((handle) => `${handle},tiktok,Note of ${handle},inactive`).join('\n')}\n`,
    );
    await shop.sandbox.setFaults(
      ['create_deal', 'create_note', 'update_deal_info'].map((operation) => ({
        kind: 'latency',
        operation,
        ms: 20,
      })),
    );
    const done = async () => (await shop.processed('create_deal')) + (await shop.processed('create_note'));
    // The first kill happens while deals are created, the second while notes are added.
    for (let kill = 1; kill <= killsOfJob(); kill += 1) {
      await leasesAreOver(shop);
      let hasEnded = false;
      const running = shop.start('run', 'deals', '--json');
      void running.ended.then(() => {
        hasEnded = true;
      });
      const before = await done();
      await waitFor(async () => (await done()) > before + 15 || hasEnded);
      running.kill('SIGKILL');
      await running.ended;
    }
    await leasesAreOver(shop);
    await waitFor(async () => [0, 6].includes((await shop.runDeals()).code ?? -1));
    const { rows } = await sql<{ effect: string; state: string; entries: string }>`
      select effect, state, count(*) as entries from ledger.entries group by effect, state`.execute(shop.db);
    const of = (effect: string, state: string) =>
      Number(rows.find((row) => row.effect === effect && row.state === state)?.entries ?? 0);
    const accepted = of('create_deal', 'accepted');
    expect(accepted + of('create_deal', 'in_doubt')).toBe(creators.length);
    expect(of('note', 'accepted') + of('note', 'in_doubt')).toBe(accepted);
    expect(await shop.processed('create_deal')).toBeLessThanOrEqual(creators.length);
    expect(await shop.processed('create_note')).toBeLessThanOrEqual(accepted);
    for (const handle of creators) expect((await shop.dealsOf(handle)).length).toBeLessThanOrEqual(1);
    const { rows: open } = await sql`
      select from intake.creators where deal_id is not null and is_active_taken is distinct from false`.execute(
      shop.db,
    );
    expect(open).toEqual([]);
  });
});

/** Creates a deal in the service as a user would, by hand. */
async function createByHand(
  shop: { readonly sandbox: { readonly url: string }; readonly env: Record<string, string> },
  deal: Readonly<Record<string, string>>,
): Promise<void> {
  const answer = await fetch(`${shop.sandbox.url}/v1/crm/create_deal`, {
    method: 'POST',
    headers: { 'x-api-key': shop.env.INFLUENCER_API_KEY ?? '', 'content-type': 'application/json' },
    body: JSON.stringify({ ...deal, brand_id: 4819, dealflow_id: 'D_TEST' }),
  });
  expect(answer.status).toBe(200);
}
