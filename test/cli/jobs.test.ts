import { describe, expect, it } from 'vitest';
import { openWorkshop, toCsv } from '../runs/workshop.ts';

const FLOW = `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
  other: {uri: ./exports/other/, layout: generic, order_platform: shopify, time_zone: UTC}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total, schedule: "7 * * * *", time_zone: Asia/Kolkata}
  again: {kind: mirror-account, after: orders}
  by-hand: {kind: attribute-orders, source: other, brand_id: 4819, codes: ./codes.csv, revenue: total}
`;

describe('the command jobs', () => {
  it('lists the next slot and last result of each job, and reports that no process runs them on schedule', async () => {
    const shop = await openWorkshop({ flow: FLOW });
    shop.drop('april.csv', toCsv([{ id: 'A1' }]));
    await shop.run();
    const { stdout, exitCode } = await shop.cli('jobs');
    expect(exitCode).toBe(0);
    // Seven minutes past the hour in Kolkata is 37 minutes past in UTC.
    expect(stdout).toMatch(/orders +7 \* \* \* \* Asia\/Kolkata +\S+ \d\d:37 +1 ok\n/);
    expect(stdout).toMatch(/again +after orders +\S+ \d\d:37 +never\n/);
    expect(stdout).toMatch(/by-hand +no schedule +never\n/);
    expect(stdout).toContain('No process runs jobs on schedule now. Start one: npx influencer-sync serve');
    const events = (await shop.cli('jobs', '--json')).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(events[0]).toMatchObject({
      event: 'job',
      job: 'orders',
      schedule: '7 * * * *',
      last_run: { run_id: '1', status: 'ok' },
      paused: null,
    });
  });

  it('pauses a job and resumes it, and records who did it and why', async () => {
    const shop = await openWorkshop({ flow: FLOW });
    const paused = await shop.cli('jobs', 'pause', 'orders', '--reason', 'the export is \u001b[2Jwrong');
    expect([paused.exitCode, paused.stdout]).toEqual([
      0,
      'orders is paused: its slots are skipped until somebody resumes it. A run that has started ends as usual.\n',
    ]);
    const { stdout } = await shop.cli('jobs');
    expect(stdout).toMatch(/orders +7 .* never +paused\n/);
    expect(stdout).toMatch(/orders was paused at \S+ \S+ UTC by \S+: the export is .*wrong\n/);
    expect(stdout).not.toContain('\u001b');
    const again = await shop.cli('jobs', 'pause', 'orders', '--reason', 'once more');
    expect(again.exitCode).toBe(2);
    expect(again.stderr).toContain('orders is paused already.');
    const asked = await shop.cli('jobs', 'run-now', 'orders', '--reason', 'once more');
    expect([asked.exitCode, asked.stderr]).toEqual([
      2,
      expect.stringContaining('orders is paused. Resume it first.'),
    ]);
    expect((await shop.cli('jobs', 'resume', 'orders', '--reason', 'corrected')).stdout).toBe(
      'orders is resumed, from its next slot on.\n',
    );
    expect((await shop.cli('jobs')).stdout).not.toContain('paused');
    const audit = await shop.db
      .selectFrom('ops.audit')
      .select(['via', 'action', 'subject', 'reason'])
      .orderBy('audit_id')
      .execute();
    expect(audit).toEqual([
      { via: 'command', action: 'pause_job', subject: 'orders', reason: 'the export is \u001b[2Jwrong' },
      { via: 'command', action: 'resume_job', subject: 'orders', reason: 'corrected' },
    ]);
  });

  it('is not needed to run a job with a reason, which `run` records as well', async () => {
    const shop = await openWorkshop({ flow: FLOW });
    shop.drop('april.csv', toCsv([{ id: 'A1' }]));
    expect((await shop.run('--reason', ' ')).exitCode).toBe(2);
    expect((await shop.run('--reason', 'the worker had no memory')).exitCode).toBe(0);
    expect((await shop.run()).exitCode).toBe(0);
    const audit = await shop.db
      .selectFrom('ops.audit')
      .select(['via', 'action', 'subject', 'summary', 'reason', 'after'])
      .execute();
    expect(audit).toEqual([
      {
        via: 'command',
        action: 'start_run',
        subject: 'orders',
        after: { run_id: '1' },
        summary: 'Run 1 of orders was started.',
        reason: 'the worker had no memory',
      },
    ]);
  });

  it('rejects an action that does not apply, and suggests the next step', async () => {
    const shop = await openWorkshop({ flow: FLOW });
    const refusals = [
      ['run-now', 'orders', 'Start `serve`, or run the job yourself: npx influencer-sync run orders'],
      ['run-now', 'by-hand', 'by-hand has no schedule'],
      ['pause', 'nothing', 'There is no job nothing.'],
      ['resume', 'again', 'again is not paused.'],
    ] as const;
    for (const [command, job, why] of refusals) {
      const { exitCode, stderr } = await shop.cli('jobs', command, job, '--reason', 'to see');
      expect([command, exitCode, stderr.replace(/\s+/g, ' ')]).toEqual([
        command,
        2,
        expect.stringContaining(why),
      ]);
    }
    const unnamed = await shop.cli('run', '--dry-run');
    expect([unnamed.exitCode, unnamed.stderr]).toEqual([
      2,
      expect.stringContaining('npx influencer-sync plan by-hand'),
    ]);
    expect((await shop.cli('jobs', 'pause', 'orders', '--reason', ' ')).stderr).toContain(
      "You must give a reason.\n\n  Add --reason '…'. It is kept in ops.audit.\n",
    );
    expect((await shop.cli('jobs', 'pause', 'orders')).exitCode).toBe(2);
    expect(await shop.db.selectFrom('ops.audit').selectAll().execute()).toEqual([]);
  });
});
