import { mkdirSync, readFileSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { sumRefused } from '../../../src/reports/doubts/list-doubts.ts';
import { CODES, leasesAreOver } from '../../runs/workshop.ts';
import { killsOfJob } from '../../support/property-runs.ts';
import { waitFor } from '../../support/wait-for.ts';
import { clicksCsv, openClickShop } from './story.ts';

describe('post-clicks', () => {
  it('adds clicks to the total of a deal once, whether link, code or column names it, and sends nothing in a second run', async () => {
    const shop = await openClickShop();
    shop.drop(
      'clicks.csv',
      `day,link,code,influencer_handle,deal_id,country,clicks
2026-04-10,https://www.acme.test/welcome?utm_source=ig&ref=MIA10,,,,NL,7
2026-04-10,https://acme.test/welcome?fbclid=abc&ref=mia10,,,,NL,5
2026-04-10,bit.ly/BEN15,,,,,3
2026-04-10,,MIA10,,,,2
2026-04-11,,,mia.test,,,4
2026-04-11,,,,DEALBEN,,6
2026-04-11,https://acme.test/nobody,,,,,9
2026-04-11,https://acme.test/,,,,,50
`,
    );
    const first = await shop.runClicks();
    expect(first.counts).toMatchObject({ clicks: 36, attributed: 27, unattributed: 9, posted: 27 });
    expect(first.counts.passed_over).toEqual({ names_nobody: 1 });
    expect(await shop.totals()).toEqual({ DEALMIA: 18, DEALBEN: 9 });
    expect((await shop.trueClicks()).map(({ body }) => body)).toContainEqual({
      deal_id: 'DEALMIA',
      brand_id: 4819,
      increase_clicks: 12,
      country_code: 'NL',
    });
    const second = await shop.runClicks();
    expect(second).toMatchObject({ code: 0, counts: { posted: 0, already: 27, requests: 0 } });
    expect(await shop.totals()).toEqual({ DEALMIA: 18, DEALBEN: 9 });
  });

  it('posts the difference if a newer file states more; fewer clicks are recorded as an adjustment and not sent', async () => {
    const shop = await openClickShop();
    shop.drop('1.csv', clicksCsv([['2026-04-10', 'bit.ly/MIA10', 10]]));
    await shop.runClicks();
    shop.drop('2.csv', clicksCsv([['2026-04-10', 'https://bit.ly/MIA10', 14]]));
    expect((await shop.runClicks()).counts).toMatchObject({ posted: 4, already: 10 });
    shop.drop('3.csv', clicksCsv([['2026-04-10', 'bit.ly/MIA10', 12]]));
    const fewer = await shop.runClicks();
    expect(fewer).toMatchObject({ code: 0, counts: { posted: 0, too_many: 2, attributed: 12 } });
    shop.drop('4.csv', clicksCsv([['2026-04-10', 'bit.ly/MIA10', 20]]));
    expect((await shop.runClicks()).counts).toMatchObject({ posted: 6, too_many: 0 });
    // An older file that arrives late changes nothing.
    shop.drop('0.csv', clicksCsv([['2026-04-10', 'bit.ly/MIA10', 30]]));
    const before = new Date('2026-04-10T23:00:00Z');
    utimesSync(join(shop.folder, 'exports/0.csv'), before, before);
    expect((await shop.runClicks()).counts).toMatchObject({ posted: 0, too_many: 0, attributed: 20 });
    expect(await shop.entries()).toEqual([
      'deal:DEALMIA 2026-04-10 0+10 accepted',
      'deal:DEALMIA 2026-04-10 10+4 accepted',
      'deal:DEALMIA 2026-04-10 14+6 accepted',
    ]);
    const { rows } = await sql<{ kind: string; detail: string | null }>`
      select kind, detail from ledger.adjustments order by adjustment_id`.execute(shop.db);
    expect(rows).toEqual([
      { kind: 'changed', detail: null },
      { kind: 'changed', detail: 'As it was sent, again.' },
    ]);
    expect(await shop.totals()).toEqual({ DEALMIA: 20 });
  });

  it('stops if the source was renamed, because the same clicks would be added again', async () => {
    const shop = await openClickShop();
    shop.drop('1.csv', clicksCsv([['2026-04-10', 'bit.ly/MIA10', 10]]));
    await shop.runClicks();
    const configure = (from: RegExp, to: string): void =>
      shop.write('pipeline.yaml', readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8').replace(from, to));
    configure(/links:/, 'short-links:');
    configure(/source: links/, 'source: short-links');
    const renamed = await shop.runClicks();
    expect(renamed.code).toBe(2);
    expect(renamed.stderr).toContain('change its name back to links');
    expect(await shop.totals()).toEqual({ DEALMIA: 10 });
    // It is another counter, which begins later.
    configure(/codes\.csv/, 'codes.csv, start_date: 2026-04-11');
    shop.drop('2.csv', clicksCsv([['2026-04-11', 'bit.ly/MIA10', 3]]));
    expect((await shop.runClicks()).counts).toMatchObject({ posted: 3 });
    configure(/short-links:/, 'links:');
    configure(/source: short-links/, 'source: links');
    expect((await shop.runClicks()).code).toBe(2);
    expect(await shop.totals()).toEqual({ DEALMIA: 13 });
  });

  it('closes refused clicks and those without an owner once their source is removed, and none that were posted', async () => {
    const shop = await openClickShop();
    shop.write('codes.csv', `${CODES}GONE1,4819,,DEALGONE,,,\n`);
    shop.drop(
      '1.csv',
      clicksCsv([
        ['2026-04-10', 'bit.ly/GONE1', 8],
        ['2026-04-10', 'bit.ly/NOBODY', 5],
        ['2026-04-10', 'bit.ly/MIA10', 10],
      ]),
    );
    const counts = { refused: 8, unattributed: 5, attributed: 18, excluded: 0 };
    expect(await shop.runClicks()).toMatchObject({ code: 3, counts });
    const configure = (from: string, to: string): void =>
      shop.write(
        'pipeline.yaml',
        readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8').replaceAll(from, to),
      );
    // Another counter takes its place, and has files of its own.
    mkdirSync(join(shop.folder, 'other'));
    configure('links: {uri: ./exports/', 'shop: {uri: ./other/');
    configure('source: links', 'source: shop');
    const removed = { refused: 0, unattributed: 0, attributed: 10, excluded: 13, already: 10, too_many: 0 };
    for (const _ of [1, 2])
      expect(await shop.runClicks('--allow-empty')).toMatchObject({ code: 0, counts: removed });
    expect((await shop.cli('status')).stdout).not.toContain('refused');
    expect(await shop.totals()).toEqual({ DEALMIA: 10 });
    // The source returns.
    configure('shop: {uri: ./other/', 'links: {uri: ./exports/');
    configure('source: shop', 'source: links');
    expect(await shop.runClicks()).toMatchObject({ code: 3, counts: { ...counts, posted: 0, already: 10 } });
    expect(await shop.totals()).toEqual({ DEALMIA: 10 });
  });

  it('closes a refused increase once its source is removed, and opens it again if the source returns', async () => {
    const shop = await openClickShop();
    shop.drop('1.csv', clicksCsv([['2026-04-10', 'bit.ly/MIA10', 10]]));
    await shop.runClicks();
    await shop.sandbox.setFaults([
      { kind: 'error_before', operation: 'new_influencer_click', status: 422, text: 'no more clicks' },
    ]);
    shop.drop('2.csv', clicksCsv([['2026-04-10', 'bit.ly/MIA10', 14]]));
    const refused = { code: 3, counts: { refused: 4, attributed: 14, already: 10, too_many: 0 } };
    expect(await shop.runClicks()).toMatchObject(refused);
    await shop.sandbox.setFaults(null);
    const configure = (from: string, to: string): void =>
      shop.write(
        'pipeline.yaml',
        readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8').replaceAll(from, to),
      );
    mkdirSync(join(shop.folder, 'other'));
    configure('links: {uri: ./exports/', 'shop: {uri: ./other/');
    configure('source: links', 'source: shop');
    for (const _ of [1, 2])
      expect(await shop.runClicks('--allow-empty')).toMatchObject({
        code: 0,
        counts: { refused: 0, attributed: 14, excluded: 0, already: 10, too_many: 0 },
      });
    expect(await sumRefused(shop.db)).toEqual([]);
    configure('shop: {uri: ./other/', 'links: {uri: ./exports/');
    configure('source: shop', 'source: links');
    expect(await shop.runClicks()).toMatchObject(refused);
    expect(await sumRefused(shop.db)).toMatchObject([{ job: 'clicks', entries: 1 }]);
    expect(await shop.totals()).toEqual({ DEALMIA: 10 });
  });

  it('replaces waiting clicks by those of a newer file, so that one request posts them all', async () => {
    const shop = await openClickShop();
    shop.drop('1.csv', clicksCsv([['2026-04-10', 'bit.ly/MIA10', 10]]));
    await shop.sandbox.setFaults([{ kind: '429', operation: 'new_influencer_click' }]);
    expect((await shop.runClicks()).counts).toMatchObject({ posted: 0, ready: 10 });
    await shop.sandbox.setFaults(null);
    shop.drop('2.csv', clicksCsv([['2026-04-10', 'bit.ly/MIA10', 14]]));
    await sql`update ledger.entries set not_before = null`.execute(shop.db);
    expect((await shop.runClicks()).counts).toMatchObject({ posted: 14, requests: 1 });
    expect(await shop.totals()).toEqual({ DEALMIA: 14 });
  });

  it('never repeats a request with a lost answer, which is in doubt, and posts only the additional clicks of a newer file', async () => {
    const shop = await openClickShop();
    shop.drop('1.csv', clicksCsv([['2026-04-10', 'bit.ly/MIA10', 10]]));
    await shop.sandbox.setFaults([{ kind: 'reset_after', operation: 'new_influencer_click', count: 1 }]);
    expect(await shop.runClicks()).toMatchObject({ code: 6, counts: { in_doubt: 10, posted: 0 } });
    shop.drop('2.csv', clicksCsv([['2026-04-10', 'bit.ly/MIA10', 15]]));
    expect(await shop.runClicks()).toMatchObject({ code: 6, counts: { in_doubt: 10, posted: 5 } });
    expect(await shop.totals()).toEqual({ DEALMIA: 15 });
    const review = await shop.cli('review');
    expect(review.stdout).toContain('10 clicks of deal:DEALMIA on 2026-04-10');
    const [{ entry_id: entry } = { entry_id: '' }] = await shop.db
      .selectFrom('ledger.entries')
      .select('entry_id')
      .where('state', '=', 'in_doubt')
      .execute();
    await shop.cli('review', entry, '--accepted', '--reason', 'the deal shows 15');
    expect(await shop.runClicks()).toMatchObject({ code: 0, counts: { in_doubt: 0, already: 15 } });
    const life = await shop.cli('explain', 'clicks', 'MIA10');
    expect(life.stdout).toContain('2026-04-10');
    expect(life.stdout).toContain('accepted');
  });

  it('sends rejected clicks again when codes.csv names another owner', async () => {
    const shop = await openClickShop();
    shop.write('codes.csv', `${CODES}GONE1,4819,,DEALGONE,,,\n`);
    shop.drop('1.csv', clicksCsv([['2026-04-10', 'bit.ly/GONE1', 8]]));
    expect(await shop.runClicks()).toMatchObject({ code: 3, counts: { refused: 8 } });
    shop.write('codes.csv', `${CODES}GONE1,4819,,DEALBEN,,,\n`);
    expect(await shop.runClicks()).toMatchObject({ code: 0, counts: { posted: 8, refused: 0 } });
    expect(await shop.totals()).toEqual({ DEALBEN: 8 });
  });

  it('posts no click again for another owner: those of a day stay with whom the first were posted for', async () => {
    const shop = await openClickShop();
    const [day, next] = ['2026-04-10', '2026-04-11'];
    const own = (deal: string) => shop.write('codes.csv', `${CODES}SPRING,4819,,${deal},,,\n`);
    own('DEALMIA');
    shop.drop('1.csv', clicksCsv([[day, 'bit.ly/SPRING', 10]]));
    expect(await shop.runClicks()).toMatchObject({ code: 0, counts: { posted: 10 } });
    own('DEALBEN');
    expect(await shop.runClicks()).toMatchObject({
      code: 0,
      counts: { posted: 0, already: 10, too_many: 0 },
    });
    shop.drop(
      '2.csv',
      clicksCsv([
        [day, 'bit.ly/SPRING', 15],
        [next, 'bit.ly/SPRING', 3],
      ]),
    );
    expect(await shop.runClicks()).toMatchObject({ code: 0, counts: { posted: 8, too_many: 0 } });
    expect(await shop.totals()).toEqual({ DEALMIA: 15, DEALBEN: 3 });
  });

  it('holds clicks on a code with two owners, and applies a code only on the days of its owner', async () => {
    const shop = await openClickShop();
    shop.write(
      'codes.csv',
      `${CODES}SPRING,4819,,DEALMIA,,,2026-04-10\nSPRING,4819,,DEALBEN,,2026-04-12,\nBOTH,4819,,DEALMIA,,,\nBOTH,4819,,DEALBEN,,,\n`,
    );
    shop.drop(
      '1.csv',
      clicksCsv([
        ['2026-04-10', 'bit.ly/SPRING', 1],
        ['2026-04-11', 'bit.ly/SPRING', 2],
        ['2026-04-12', 'bit.ly/SPRING', 4],
        ['2026-04-12', 'bit.ly/BOTH', 8],
      ]),
    );
    expect(await shop.runClicks()).toMatchObject({
      code: 3,
      counts: { posted: 5, unattributed: 2, held: 8 },
    });
    expect(await shop.totals()).toEqual({ DEALMIA: 1, DEALBEN: 4 });
  });

  it('holds clicks whose code and link name different influencers, and says which and what to do', async () => {
    const shop = await openClickShop();
    const path = 'https://acme.test';
    shop.drop(
      '1.csv',
      `day,code,link,clicks
2026-04-10,MIA10,${path}/?ref=BEN15,7
2026-04-11,MIA10,${path}/?ref=mia10,5
2026-04-11,MIA10,${path}/sale?ref=MIA10,2
2026-04-11,BEN15,${path}/mia.test,6
2026-04-12,OTHER,${path}/?ref=BEN15,3
2026-04-12,,${path}/ben.test?ref=MIA10,9
2026-04-12,,${path}/mia.test?ref=MIA10,4
`,
    );
    expect(await shop.runClicks()).toMatchObject({
      code: 3,
      counts: { posted: 14, unattributed: 0, held: 22 },
    });
    expect(await shop.totals()).toEqual({ DEALMIA: 11, DEALBEN: 3 });
    const { stdout } = await shop.cli('run', 'clicks');
    const said = stdout.replace(/\s+/g, ' ');
    expect(said).toContain('link and code');
    expect(said).toContain('the link or the handle in it name different influencers: correct codes.csv');
    shop.write('codes.csv', CODES.replace('ben.test', 'mia.test').replace('DEALBEN', 'DEALMIA'));
    expect(await shop.runClicks()).toMatchObject({ code: 0, counts: { held: 0 } });
  });

  it('holds clicks of a row that names one influencer beside the code, link or deal of another', async () => {
    const shop = await openClickShop();
    shop.drop(
      '1.csv',
      `day,influencer_handle,deal_id,code,link,clicks
2026-04-10,@Mia.test,,MIA10,,1
2026-04-11,,DEALMIA,,https://acme.test/?ref=MIA10,2
2026-04-12,new.test,,,https://acme.test/?ref=nobody,4
2026-04-13,,DEALMIA,BEN15,,8
2026-04-14,mia.test,,,https://acme.test/?ref=BEN15,16
2026-04-15,ben.test,DEALMIA,,,32
2026-04-16,,DEALNEW,MIA10,,64
2026-04-17,mia.test,DEALNEW,MIA10,,128
`,
    );
    expect(await shop.runClicks()).toMatchObject({ code: 3, counts: { held: 120 } });
    const { rows } = await sql`
      select concat_ws(' ', reason, sum(clicks)) as said from intake.clicks where outcome = 'held'
      group by reason order by reason`.execute(shop.db);
    expect(rows).toEqual([{ said: 'deal_of_another 32' }, { said: 'named_and_code 88' }]);
    expect((await shop.cli('run', 'clicks')).stdout.replace(/\s+/g, ' ')).toContain(
      'the row names one influencer, and the code, the link or the handle in it another',
    );
  });

  it('only plans what it would post, and ignores days before start_date', async () => {
    const shop = await openClickShop({ job: 'start_date: 2026-04-11' });
    shop.drop(
      '1.csv',
      clicksCsv([
        ['2026-04-10', 'bit.ly/MIA10', 10],
        ['2026-04-11', 'bit.ly/MIA10', 4],
      ]),
    );
    const plan = await shop.cli('plan', 'clicks');
    expect(plan.stdout).toMatch(/would be posted\s+4/);
    expect(plan.stdout).toMatch(/excluded\s+10/);
    expect(await shop.entries()).toEqual([]);
    const { rows } = await sql`select from intake.clicks`.execute(shop.db);
    expect(rows).toEqual([]);
    expect((await shop.runClicks()).counts).toMatchObject({ posted: 4, excluded: 10 });
  });
});

describe('real-world exports of clicks', () => {
  it('from Google Analytics have comments before their header and a grand total after their rows', async () => {
    const shop = await openClickShop({ layout: 'ga4-landing-pages' });
    shop.drop(
      'ga4.csv',
      `# ----------------------------------------
# Acme shop
# Landing pages by day
# 20260410-20260411
# ----------------------------------------

Date,Landing page + query string,Sessions,Active users
20260410,/?ref=MIA10&fbclid=IwAR0,"1,200",900
20260410,/collections/new?code=BEN15,7,7
20260411,(not set),40,1
20260411,/,800,700
20260411,/mia.test,5,5
Grand total,,"2,052","1,613"
`,
    );
    expect(await shop.runClicks()).toMatchObject({ code: 0, counts: { posted: 1_212, rejected_rows: 0 } });
    expect(await shop.totals()).toEqual({ DEALMIA: 1_205, DEALBEN: 7 });
  });

  it('with only the total clicks of links are held, because they have no days', async () => {
    const shop = await openClickShop({ layout: 'bitly-clicks' });
    shop.drop(
      'links.csv',
      'Short link,Long URL,Created,Total clicks\nbit.ly/MIA10,https://acme.test,2026-01-01,812\n',
    );
    const run = await shop.runClicks();
    expect(run).toMatchObject({ code: 3, counts: { posted: 0 } });
    expect((await shop.cli('status')).stdout).toMatch(/lacks\s+"date"/);
    shop.drop('by-day.csv', 'Date,Short link,Engagements\n4/10/2026,bit.ly/MIA10,12\n');
    expect((await shop.runClicks()).counts).toMatchObject({ posted: 12 });
  });

  it('with a row without a number of clicks: it is rejected with line and column, and the others are posted', async () => {
    const shop = await openClickShop();
    shop.drop(
      '1.csv',
      'day,link,clicks\n2026-04-10,bit.ly/MIA10,many\n,bit.ly/MIA10,3\n2026-04-11,bit.ly/MIA10,2\n',
    );
    expect(await shop.runClicks()).toMatchObject({ code: 3, counts: { posted: 2, rejected_rows: 2 } });
    const rejected = (await shop.cli('rejected')).stdout;
    expect(rejected).toMatch(/line 2/);
    expect(rejected).toContain('This is not a number of clicks.');
  });
});

describe('a run that is killed', () => {
  it('adds no click twice, and the next runs add the others', { timeout: 120_000 }, async () => {
    const shop = await openClickShop({ api: 'lease_seconds: 2\ntimeout_seconds: 1' });
    const days = Array.from({ length: 60 }, (_, index) =>
      new Date(Date.UTC(2026, 2, 1 + index)).toISOString().slice(0, 10),
    );
    const rows = days.flatMap((day, index) => [
      [day, 'bit.ly/MIA10', index + 1] as const,
      [day, 'bit.ly/BEN15', 2 * index + 1] as const,
    ]);
    const stated = rows.reduce((sum, [, , clicks]) => sum + clicks, 0);
    shop.drop('1.csv', clicksCsv(rows));
    await shop.sandbox.setFaults([{ kind: 'latency', operation: 'new_influencer_click', ms: 20 }]);
    for (let kill = 1; kill <= killsOfJob(); kill += 1) {
      await leasesAreOver(shop);
      let hasEnded = false;
      const running = shop.start('run', 'clicks', '--json');
      void running.ended.then(() => {
        hasEnded = true;
      });
      const before = (await shop.trueClicks()).length;
      await waitFor(async () => (await shop.trueClicks()).length > before + 10 || hasEnded);
      running.kill('SIGKILL');
      await running.ended;
    }
    await leasesAreOver(shop);
    await waitFor(async () => {
      const { code } = await shop.runClicks();
      return code === 0 || code === 6;
    });
    const processed = (await shop.trueClicks()).reduce((sum, { increase_clicks: clicks }) => sum + clicks, 0);
    const { rows: sums } = await sql<{ state: string; clicks: string }>`
      select state, sum((details ->> 'clicks')::int) as clicks from ledger.entries group by state`.execute(
      shop.db,
    );
    const of = (state: string) => Number(sums.find((row) => row.state === state)?.clicks ?? 0);
    expect(of('accepted') + of('in_doubt')).toBe(stated);
    expect(processed).toBeGreaterThanOrEqual(of('accepted'));
    expect(processed).toBeLessThanOrEqual(stated);
    expect(await shop.trueClicks()).toHaveLength(
      new Set((await shop.trueClicks()).map(({ body }) => JSON.stringify(body))).size,
    );
  });
});

/** The message and the help of the only held file. */
async function heldBecause(shop: Awaited<ReturnType<typeof openClickShop>>): Promise<string | undefined> {
  const { rows } = await sql<{ why: string }>`
    select hold_message || ' ' || hold_help as why from intake.source_files where state = 'held'`.execute(
    shop.db,
  );
  return rows[0]?.why;
}

describe('clicks that a file states in a doubtful way', () => {
  it.each([
    [
      'in one file',
      [
        'day,link,country,clicks\n2026-04-10,bit.ly/MIA10,NL,10\n2026-04-10,bit.ly/MIA10,DE,5\n2026-04-10,bit.ly/MIA10,,15\n',
      ],
      0,
    ],
    [
      'as words beside the total',
      ['day,link,country,clicks\n2026-04-10,bit.ly/MIA10,Netherlands,15\n2026-04-10,bit.ly/MIA10,,15\n'],
      0,
    ],
    [
      'by country, then without',
      [
        'day,link,country,clicks\n2026-04-10,bit.ly/MIA10,NL,10\n2026-04-10,bit.ly/MIA10,DE,5\n',
        'day,link,clicks\n2026-04-10,bit.ly/MIA10,15\n',
      ],
      15,
    ],
    [
      'without, then by country',
      [
        'day,link,clicks\n2026-04-10,bit.ly/MIA10,15\n',
        'day,link,country,clicks\n2026-04-10,bit.ly/MIA10,NL,10\n2026-04-10,bit.ly/MIA10,(not set),5\n',
      ],
      15,
    ],
  ])('holds clicks that are stated by country and as a whole, %s', async (_, files, posted) => {
    const shop = await openClickShop();
    let last: Awaited<ReturnType<typeof shop.runClicks>> | null = null;
    for (const [at, content] of files.entries()) {
      shop.drop(`${at + 1}.csv`, content);
      last = await shop.runClicks();
    }
    expect(last?.code).toBe(3);
    expect(Object.values(await shop.totals()).reduce((sum, clicks) => sum + clicks, 0)).toBe(posted);
    const { rows } = await sql<{ code: string; message: string }>`
      select hold_code as code, hold_message as message from intake.source_files where state = 'held'`.execute(
      shop.db,
    );
    expect(rows).toMatchObject([
      { code: 'clicks_by_country_and_whole', message: expect.stringContaining('2026-04-10 (line 2') },
    ]);
  });

  it('holds a file in which a column of a day is filled on some rows and blank on others, which may be their sum', async () => {
    const shop = await openClickShop();
    const header = 'day,code,link,Device,Browser,clicks\n';
    const day = '2026-04-10,MIA10,';
    const held: Readonly<Record<string, string>> = {
      'sum of devices': `${day},mobile,,3\n${day},desktop,,4\n${day},,,7\n`,
      'of unknown devices, or a sum': `${day},mobile,,3\n${day},desktop,,4\n${day},,,1\n`,
      'sums by device and by browser': `${day},mobile,,3\n${day},,chrome,3\n`,
      'sum of links': `${day}acme.test/a,,,3\n${day}acme.test/b,,,4\n${day},,,7\n`,
    };
    for (const [name, rows] of Object.entries(held)) shop.drop(`${name}.csv`, `${header}${rows}`);
    expect(await shop.runClicks()).toMatchObject({ code: 3, counts: { posted: 0 } });
    const { rows: files } = await sql<{ code: string; message: string }>`
      select hold_code as code, hold_message as message from intake.source_files where state = 'held'`.execute(
      shop.db,
    );
    expect(files.map(({ code }) => code)).toEqual(Array(4).fill('clicks_may_be_subtotals'));
    expect(
      files.filter(({ message }) => /"(Device|Browser)".*2026-04-10 \(line \d\)/.test(message)),
    ).toHaveLength(3);
    expect(files.filter(({ message }) => message.includes('"link"'))).toHaveLength(1);
    // Another day or code has its own columns, and a row of one click adds up nothing.
    shop.drop(
      'read.csv',
      `${header}${day},mobile,,3\n${day},desktop,,4\n2026-04-11,MIA10,,,,5\n2026-04-10,BEN15,,,,6\n`,
    );
    shop.drop('each.csv', `${header}2026-04-12,MIA10,,mobile,,1\n2026-04-12,MIA10,,,,1\n`);
    expect((await shop.runClicks()).counts).toMatchObject({ posted: 20 });
  });

  it('takes clicks of unknown countries beside those of known ones, and later days without countries', async () => {
    const shop = await openClickShop();
    shop.drop(
      '1.csv',
      'day,link,country,clicks\n2026-04-10,bit.ly/MIA10,NL,10\n2026-04-10,bit.ly/MIA10,(not set),5\n',
    );
    expect(await shop.runClicks()).toMatchObject({ code: 0, counts: { posted: 15 } });
    shop.drop(
      '2.csv',
      'day,link,country,clicks\n2026-04-10,bit.ly/MIA10,NL,11\n2026-04-10,bit.ly/MIA10,Unknown,6\n',
    );
    expect(await shop.runClicks()).toMatchObject({ code: 0, counts: { posted: 2 } });
    shop.drop('3.csv', 'day,link,clicks\n2026-04-11,bit.ly/MIA10,7\n');
    expect(await shop.runClicks()).toMatchObject({ code: 0, counts: { posted: 7 } });
    expect(await shop.totals()).toEqual({ DEALMIA: 24 });
  });

  it('holds a file in which rows occur twice, but not an export with a row for each click', async () => {
    const shop = await openClickShop();
    shop.drop(
      '1.csv',
      clicksCsv([
        ['2026-04-10', 'bit.ly/MIA10', 1],
        ['2026-04-10', 'bit.ly/MIA10', 1],
      ]),
    );
    expect(await shop.runClicks()).toMatchObject({ code: 0, counts: { posted: 2 } });
    shop.drop(
      '2.csv',
      clicksCsv([
        ['2026-04-11', 'bit.ly/MIA10', 5],
        ['2026-04-11', 'bit.ly/BEN15', 5],
        ['2026-04-11', 'bit.ly/MIA10', 5],
      ]),
    );
    const held = await shop.runClicks();
    expect(held).toMatchObject({ code: 3, counts: { posted: 0 } });
    expect(await heldBecause(shop)).toContain('Line 4 repeats line 2');
  });

  it('reads numeric days in the order that the source states, and holds a file that proves the other', async () => {
    const shop = await openClickShop({ layout: 'bitly-clicks' });
    shop.drop('1.csv', 'date,bitlink,clicks\n13/4/2026,bit.ly/MIA10,4\n5/4/2026,bit.ly/MIA10,3\n');
    const held = await shop.runClicks();
    expect(held).toMatchObject({ code: 3, counts: { posted: 0 } });
    expect(await heldBecause(shop)).toContain('set date_order under sources.links to DMY');
    shop.write(
      'pipeline.yaml',
      readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8').replace(
        'layout: bitly-clicks',
        'layout: bitly-clicks, date_order: DMY',
      ),
    );
    expect(await shop.runClicks()).toMatchObject({ code: 0, counts: { posted: 7 } });
    expect(await shop.entries()).toEqual([
      'deal:DEALMIA 2026-04-05 0+3 accepted',
      'deal:DEALMIA 2026-04-13 0+4 accepted',
    ]);
  });
});
