import { describe, expect, it } from 'vitest';
import { openWorkshop, toCsv } from '../runs/workshop.ts';
import { waitFor } from '../support/wait-for.ts';
import { startTestConsole, textOf } from './console-server.ts';

/**
 * The current minute of UTC. Read as a minute in Kolkata, which is half an hour off UTC, no slot falls into a
 * test.
 */
const MINUTE = new Date().getUTCMinutes();

const FLOW = `
serve: {port: 0}
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
  other: {uri: ./exports/other/, layout: generic, order_platform: shopify, time_zone: UTC}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total, schedule: "${MINUTE} * * * *", time_zone: Asia/Kolkata}
  again: {kind: mirror-account, after: orders}
  by-hand: {kind: attribute-orders, source: other, brand_id: 4819, codes: ./codes.csv, revenue: total}
`;
const ASK = { job: 'orders', reason: 'the shop has sent its file' };

describe('schedules', () => {
  it('show the next slots in UTC, in the time zone of the job and in the selected one', async () => {
    const shop = await openWorkshop({ flow: FLOW });
    const { get } = await startTestConsole(shop);
    const page = textOf((await get('/schedules?zone=Asia/Tokyo')).text);
    const inIndia = String(MINUTE).padStart(2, '0');
    const minute = String((MINUTE + 30) % 60).padStart(2, '0');
    expect(page).toMatch(
      new RegExp(
        `orders ${MINUTE} \\* \\* \\* \\* Asia/Kolkata \\S+ \\d\\d:${minute} UTC \\d+ \\w{3} \\d\\d:${inIndia} Asia/Kolkata`,
      ),
    );
    expect(page).toContain('again after orders');
    expect(page).toContain('by-hand no schedule');
    expect(page).toContain('No process runs jobs on schedule now.');
    const next = /next slot[\s\S]*?orders +\S+ \S+ \S+ \S+ \S+ Asia\/Kolkata +(\S+ \S+)/.exec(
      (await shop.cli('status')).stdout,
    );
    expect(page).toContain(`${next?.[1] ?? 'none'} UTC`);
  });

  it('start a requested run in the process that serves, and record it in the audit', async () => {
    const shop = await openWorkshop({ flow: FLOW });
    shop.drop('april.csv', toCsv([{ id: 'A1' }]));
    const { post } = await startTestConsole(shop);
    const early = await post('/schedules/run-now', ASK);
    expect([early.status, textOf(early.text)]).toEqual([
      409,
      expect.stringContaining('No process runs jobs on schedule now. Start `serve`'),
    ]);
    const server = shop.start('serve', '--json');
    await waitFor(() => server.stdout().includes('"listening"'), { timeoutMs: 30_000 });
    const { url } = JSON.parse(server.stdout().split('\n')[0] ?? '') as { url: string };
    await waitFor(
      async () => !textOf(await (await fetch(`${url}/schedules`)).text()).includes('No process runs'),
    );
    const asked = await fetch(`${url}/schedules/run-now`, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'same-origin' },
      body: new URLSearchParams({ ...ASK, return_to: '/schedules' }),
    });
    expect(textOf(await asked.text())).toContain(
      'A run of orders was requested. `serve` starts it within seconds.',
    );
    await waitFor(async () => (await shop.posted()).length === 1, { timeoutMs: 30_000 });
    await waitFor(async () =>
      /\d UTC orders done requested by \S+ 1 /.test(
        textOf(await (await fetch(`${url}/schedules?state=done`)).text()),
      ),
    );
    expect(textOf(await (await fetch(`${url}/runs/1`)).text())).toMatch(
      /Due time \S+ \d\d:\d\d UTC requested by/,
    );
    expect(textOf(await (await fetch(`${url}/audit`)).text())).toMatch(
      /console A run of orders was requested\. .* the shop has sent its file job orders/,
    );
    server.kill('SIGTERM');
    expect((await server.ended).exitCode).toBe(0);
  });

  it('pause and resume a job with a reason, which status shows', async () => {
    const shop = await openWorkshop({ flow: FLOW });
    const { get, post } = await startTestConsole(shop);
    const paused = await post('/schedules/pause', {
      job: 'orders',
      reason: 'the shop moves',
      return_to: '/schedules',
    });
    expect(textOf(paused.text)).toMatch(
      /orders is paused: its slots are skipped .* paused since \S+ \S+ UTC by tester: the shop moves/,
    );
    expect((await post('/schedules/pause', ASK)).status).toBe(409);
    expect((await post('/schedules/run-now', ASK)).text).toContain('orders is paused. Resume it first.');
    expect((await shop.cli('status')).stdout).toMatch(
      /orders: paused since \S+ \S+ by tester: the shop moves\./,
    );
    expect((await post('/schedules/resume', ASK)).status).toBe(200);
    expect((await post('/schedules/resume', ASK)).status).toBe(409);
    expect((await shop.cli('status')).stdout).not.toContain('paused');
    expect(textOf((await get('/audit?subject=orders')).text)).toMatch(/orders is resumed.* orders is paused/);
  });

  it('refuse changes without a reason, for a job without a schedule, by viewers, and from other sites', async () => {
    const shop = await openWorkshop({ flow: FLOW });
    const { post } = await startTestConsole(shop);
    expect((await post('/schedules/pause', { job: 'orders' })).status).toBe(400);
    expect((await post('/schedules/run-now', { ...ASK, job: 'by-hand' })).text).toContain(
      'by-hand has no schedule, so `serve` does not run it.',
    );
    expect((await post('/schedules/pause', { ...ASK, job: 'nothing' })).text).toContain(
      'There is no job nothing.',
    );
    expect((await post('/schedules/pause', ASK, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
    const readOnly = await startTestConsole(shop, { readOnly: true });
    expect((await readOnly.post('/schedules/pause', ASK)).status).toBe(403);
    expect((await readOnly.get('/schedules')).text).not.toContain('<form class="change"');
    const proxy = { header: 'X-Forwarded-User', operators: [], marketing: ['ben'], trusted: ['127.0.0.0/8'] };
    const asViewer = await startTestConsole(shop, { proxy });
    const headers = { 'x-forwarded-user': 'ben', 'sec-fetch-site': 'same-origin' };
    expect((await asViewer.post('/schedules/pause', ASK, headers)).status).toBe(403);
  });

  it('list slots with their reasons, filtered by the parameters of the address', async () => {
    const shop = await openWorkshop({ flow: FLOW });
    await shop.db
      .insertInto('ops.slots')
      .values(
        Array.from({ length: 60 }, (_, minute) => ({
          job: minute % 2 === 0 ? 'orders' : '<b>gone</b>',
          slot: new Date(Date.UTC(2026, 3, 10, 9, minute)),
          state: 'missed',
          reason: `no process ran at its time ${minute}`,
          settled_at: new Date(),
        })),
      )
      .execute();
    const { get } = await startTestConsole(shop);
    const first = await get('/schedules?state=missed&from=2026-04-10&to=2026-04-10');
    expect(first.text).not.toContain('<b>gone');
    expect(textOf(first.text)).toMatch(
      /2026-04-10 09:59 UTC <b>gone<\/b> missed no process ran at its time 59 /,
    );
    const next = /rel="next" href="([^"]+)"/.exec(first.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const reasons = (text: string) =>
      [...textOf(text).matchAll(/at its time (\d+)/g)].map(([, minute]) => minute);
    expect(new Set([...reasons(first.text), ...reasons((await get(next)).text)]).size).toBe(60);
    expect(reasons((await get('/schedules?job=orders')).text)).toHaveLength(30);
    expect(textOf((await get('/schedules?state=done')).text)).toContain(
      'Nothing matches this filter. Show all',
    );
    expect((await get('/schedules?after=["x","y"]')).status).toBe(200);
  });
});
