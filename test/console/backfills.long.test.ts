import { describe, expect, it } from 'vitest';
import {
  backfill,
  countPosted,
  credited,
  openHistory,
  PERIOD,
  toHistory,
  twoYears,
} from '../jobs/attribute-orders/backfill/history.ts';
import type { Workshop } from '../runs/workshop.ts';
import { waitFor } from '../support/wait-for.ts';
import { startTestConsole, textOf } from './console-server.ts';

const ORDERS = twoYears(60);

async function planned(): Promise<Workshop> {
  const shop = await openHistory({ sandbox: { latencyMs: 100 } });
  shop.drop("<b>history's.csv", toHistory(ORDERS));
  const { exitCode, stderr } = await backfill(shop, 'orders', ...PERIOD, '--plan');
  expect(exitCode, stderr).toBe(0);
  return shop;
}

describe('backfills', () => {
  it('show the plan by month like the command, and the command that executes it', async () => {
    const shop = await planned();
    const { get } = await startTestConsole(shop);
    const command = (await shop.cli('backfill', 'orders', ...PERIOD, '--plan')).stdout;
    const months = [...command.matchAll(/^ +(\d{4}-\d\d) +(\d+) +(\d+) +(\d+) +(\S.*)$/gm)];
    expect(months).toHaveLength(24);
    const page = await get('/backfills/1');
    for (const [, ...cells] of months) expect(textOf(page.text)).toContain(` ${cells.join(' ').trim()} `);
    expect(textOf(page.text)).toContain(`to be posted ${credited(ORDERS).length} `);
    expect(textOf(page.text)).toContain('npx influencer-sync backfill resume 1');
    expect(page.text).not.toContain('<b>history');
    expect(page.text).not.toContain('action="/backfills/pause"');
    // What cannot be taken back looks like it.
    expect(page.text).toMatch(/name="understood" value="yes" required> It cannot be continued afterwards\./);
    expect(page.text).toContain('<button class="destructive" type="submit">Cancel the backfill</button>');
    expect(textOf((await get('/backfills')).text)).toMatch(
      new RegExp(`1 orders planned 2023-01-01 – 2024-12-31 \\S+ \\S+ UTC ${credited(ORDERS).length} `),
    );
    for (const id of ['2', 'x', '1%27']) expect((await get(`/backfills/${id}`)).status).toBe(404);
  });

  it('are paused and resumed while a process posts, with the progress of the command and records in the audit', async () => {
    const shop = await planned();
    const { get, post } = await startTestConsole(shop);
    const why = { backfill: '1', reason: 'the service is busy' };
    expect((await post('/backfills/pause', why)).status).toBe(409);
    const running = shop.start('backfill', 'resume', '--yes', '--rate', '20', '--concurrency', '1');
    await waitFor(async () => (await countPosted(shop)) >= 2, { timeoutMs: 30_000 });
    const paused = await post('/backfills/pause', { ...why, return_to: '/backfills/1' });
    expect(textOf(paused.text)).toContain('Backfill 1 is paused.');
    // Requests in flight at the pause are still recorded. After that, the command and the page report the
    // same totals.
    await waitFor(async () => {
      const status = (await shop.cli('backfill', 'status')).stdout.replace(/\s+/g, ' ');
      const [sum] = /\d+ orders = \d+ posted \([^)]*\) \+ \d+ to be posted\./.exec(status) ?? [];
      return sum !== undefined && textOf((await get('/backfills/1')).text).includes(sum);
    });
    expect(textOf((await get('/backfills')).text)).toContain('1 orders paused');
    expect(textOf((await post('/backfills/resume', { ...why, return_to: '/backfills/1' })).text)).toMatch(
      /Backfill 1 continues in process \d+ on /,
    );
    expect((await running.ended).exitCode).toBe(0);
    expect((await shop.posted()).length).toBe(credited(ORDERS).length);
    const ended = textOf((await get('/backfills/1')).text);
    expect(ended).toMatch(/State done .* \d+ orders = \d+ posted/);
    expect(ended).not.toContain('to be posted. ');
    expect((await post('/backfills/cancel', { ...why, understood: 'yes' })).text).toContain(
      'Backfill 1 is done, so this does not apply.',
    );
    expect(textOf((await get('/audit')).text)).toMatch(
      /console Backfill 1 continues in process .* console Backfill 1 is paused\. the service is busy .* command The plan of backfill 1 is executed: \d+ orders to post\./,
    );
  });

  it('are cancelled with a reason; the command writes audit records, too', async () => {
    const shop = await planned();
    const { get, post } = await startTestConsole(shop);
    expect((await post('/backfills/cancel', { backfill: '1', reason: 'unticked' })).status).toBe(400);
    const cancelled = await post('/backfills/cancel', {
      backfill: '1',
      understood: 'yes',
      reason: 'wrong years',
    });
    expect(textOf(cancelled.text)).toContain('Backfill 1 is cancelled: 0 orders posted.');
    expect((await shop.cli('backfill', 'status')).stdout).toContain('cancelled');
    await backfill(shop, 'orders', ...PERIOD, '--plan');
    expect((await shop.cli('backfill', 'cancel', '--reason', 'the wrong job')).stdout).toContain(
      'Backfill 2 is cancelled',
    );
    expect(textOf((await get('/audit')).text)).toMatch(
      /command Backfill 2 is cancelled: .* the wrong job .* console Backfill 1 is cancelled: .* wrong years/,
    );
    expect((await post('/backfills/cancel', { backfill: '3', understood: 'yes', reason: 'x' })).status).toBe(
      409,
    );
  });

  it('without a process are resumed by a command that the page shows', async () => {
    const shop = await planned();
    await shop.db
      .updateTable('ops.backfills')
      .set({
        state: 'paused',
        approved_by: 'ann',
        approved_at: new Date(),
        problem: 'its process was told to stop',
      })
      .execute();
    const { get, post } = await startTestConsole(shop);
    expect(textOf((await get('/backfills/1')).text)).toMatch(
      /It stopped: its process was told to stop\. .* No process is working on it\. To continue, run npx influencer-sync backfill resume 1/,
    );
    expect(textOf((await post('/backfills/resume', { backfill: '1', reason: 'go' })).text)).toContain(
      'No process works on backfill 1. Start one: npx influencer-sync backfill resume 1',
    );
  });
});
