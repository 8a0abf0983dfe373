import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { blockWrites, isAnyoneBlocked } from '../jobs/attribute-orders/backfill/history.ts';
import { deliver, openReceiver, orderEvent } from '../ledger/receiver/deliver.ts';
import { openWorkshop, type Workshop } from '../runs/workshop.ts';
import { waitFor } from '../support/wait-for.ts';

const RETENTION = `retention: {order_versions: 30, rejected_rows: 30, webhook_events: 30, run_activity: 30, notices: 30}\n`;
const HEADER = 'order_id,order_revenue,currency,discount_codes,placed_at,status';
const EXPORTS = {
  '1.csv': [
    '1,10.00,EUR,MIA10,2026-04-01T10:00:00Z,paid',
    '2,20.00,EUR,BEN15,2026-04-01T10:00:00Z,paid',
    '3,x,EUR,,,',
  ],
  '2.csv': ['1,11.00,EUR,MIA10,2026-04-01T10:00:00Z,paid', '2,20.00,EUR,BEN15,2026-04-01T10:00:00Z,paid'],
  '3.csv': ['1,12.00,EUR,MIA10,2026-04-01T10:00:00Z,paid'],
};

/** Returns the row counts of the tables that `prune` may change. */
async function countRows(db: Database): Promise<Readonly<Record<string, number>>> {
  const { rows } = await sql<{
    orders: number;
    rejected: number;
    events: number;
    steps: number;
    notices: number;
  }>`
    select (select count(*)::integer from intake.orders) as orders, (select count(*)::integer from intake.rejected_rows) as rejected,
      (select count(*)::integer from ops.webhook_events) as events, (select count(*)::integer from ops.run_steps) as steps,
      (select count(*)::integer from ops.notices) + (select count(*)::integer from ops.problems) as notices`.execute(
    db,
  );
  return rows[0] ?? {};
}

/** Makes all of it appear two months old. */
async function age(db: Database): Promise<void> {
  const sixtyDays = sql`interval '60 days'`;
  await sql`update intake.orders set first_seen_at = first_seen_at - ${sixtyDays}`.execute(db);
  await sql`update intake.rejected_rows set first_seen_at = first_seen_at - ${sixtyDays}`.execute(db);
  await sql`update ops.webhook_events set received_at = received_at - ${sixtyDays}`.execute(db);
  await sql`update ops.runs set started_at = started_at - ${sixtyDays}, finished_at = finished_at - ${sixtyDays}`.execute(
    db,
  );
  await sql`update ops.notices set created_at = created_at - ${sixtyDays}`.execute(db);
  await sql`update ops.problems set since = since - ${sixtyDays}, opened_at = opened_at - ${sixtyDays}, resolved_at = resolved_at - ${sixtyDays}`.execute(
    db,
  );
}

async function openOldShop(): Promise<Workshop> {
  const shop = await openWorkshop();
  for (const [name, lines] of Object.entries(EXPORTS)) {
    shop.drop(name, `${[HEADER, ...lines].join('\n')}\n`);
    if (name === '1.csv')
      shop.write(
        'pipeline.yaml',
        settings(shop).replace('layout: generic,', 'layout: generic, limits: {max_rejected_share: 1},'),
      );
    await shop.run();
  }
  const receiver = await openReceiver(shop.db);
  await deliver(receiver.url, orderEvent('9'));
  const code = { old_discount_code: null, new_discount_code: 'ZOE20' };
  await deliver(receiver.url, JSON.stringify({ deal_id: 'DEALZOE', code_information: code }));
  await sql`
    with problem as (
      insert into ops.problems (kind, state, severity, since, observed_at, told_severity, resolved_at, summary, command, page)
      select 'job_failed', state, 'error', now(), now(), 'error', case state when 'resolved' then now() end, 's', 'c', 'p'
      from unnest(array['resolved', 'opened']) as state returning problem_id, state),
    notice as (
      insert into ops.notices (problem_id, event, message) select problem_id, 'opened', '{}' from problem returning notice_id)
    insert into ops.notice_deliveries (notice_id, channel, state, attempts, sent_at) select notice_id, 'ops', 'sent', 1, now() from notice`.execute(
    shop.db,
  );
  await age(shop.db);
  shop.write('pipeline.yaml', `${settings(shop)}\n${RETENTION}`);
  return shop;
}

const settings = ({ folder }: Workshop): string => readFileSync(join(folder, 'pipeline.yaml'), 'utf8');

it('prune deletes only old records, no export is posted again, and explain mentions the deleted versions', async () => {
  const shop = await openOldShop();
  const posted = await shop.posted();
  expect(posted).toEqual(['1', '2']);
  const before = await countRows(shop.db);
  const whole = await shop.cli('explain', 'order', '1');
  expect(whole.stdout).toContain('replaced');
  expect(whole.stdout).not.toContain('pruned');

  const dry = await shop.cli('prune');
  expect(dry).toMatchObject({ exitCode: 0, stderr: '' });
  expect(dry.stdout).toMatch(/order_versions +30 +intake\.orders +2 /);
  expect(dry.stdout).toMatch(/rejected_rows +30 +intake\.rejected_rows +1 /);
  expect(dry.stdout).toContain('Nothing was changed.');
  expect(await countRows(shop.db)).toEqual(before);
  // Nothing younger is deleted, and nothing that no retention setting covers.
  const configured = settings(shop);
  for (const retention of ['', RETENTION.replaceAll('30', '61')]) {
    shop.write('pipeline.yaml', configured.replace(/^retention:.*\n/m, retention));
    expect((await shop.cli('prune', '--yes')).exitCode).toBe(0);
    expect(await countRows(shop.db), retention).toEqual(before);
  }

  shop.write('pipeline.yaml', configured);
  expect((await shop.cli('prune', '--yes')).exitCode).toBe(0);
  // Open records stay: the current versions, the event of a code, and a problem that is still open.
  expect(await countRows(shop.db)).toEqual({
    orders: (before.orders ?? 0) - 2,
    rejected: 0,
    events: 1,
    steps: 0,
    notices: 2,
  });
  const { rows: audit } = await sql`select via from ops.audit where action = 'prune'`.execute(shop.db);
  expect(audit).toHaveLength(2);
  const { stdout: left } = await shop.cli('explain', 'order', '1');
  for (const said of ['earlier versions, which were pruned', 'in force', 'accepted'])
    expect(left).toContain(said);
  expect((await shop.cli('explain', 'order', '2')).stdout).not.toContain('pruned');

  for (const [name, lines] of Object.entries(EXPORTS)) {
    expect((await shop.cli('files', 'reread', name)).exitCode).toBe(0);
    shop.drop(`again-${name}`, `${[HEADER, ...lines].join('\n')}\n`);
  }
  await shop.run();
  expect(await shop.posted()).toEqual(posted);
  const receiver = await openReceiver(shop.db);
  expect(await deliver(receiver.url, orderEvent('9'))).toBe(200);
  const { rows: evidence } = await sql`select 1 from ledger.evidence`.execute(shop.db);
  expect(evidence).toHaveLength(1);
});

it('prune that is killed between two tables leaves a consistent database, and the next one deletes the rest', async () => {
  const shop = await openOldShop();
  const before = await countRows(shop.db);
  const release = await blockWrites(shop, 'ops.webhook_events');
  const killed = shop.start('prune', '--yes');
  await waitFor(() => isAnyoneBlocked(shop));
  killed.kill('SIGKILL');
  await killed.ended;
  expect(await countRows(shop.db)).toEqual({ ...before, orders: (before.orders ?? 0) - 2, rejected: 0 });
  await release();
  await waitFor(async () => !(await isAnyoneBlocked(shop)));
  expect((await shop.run()).exitCode).toBe(0);
  expect((await shop.cli('prune', '--yes')).exitCode).toBe(0);
  expect(await countRows(shop.db)).toMatchObject({
    orders: (before.orders ?? 0) - 2,
    rejected: 0,
    events: 1,
    notices: 2,
  });
  expect((await shop.cli('prune')).stdout).toMatch(/webhook_events +30 +ops\.webhook_events +0 /);
  expect(await shop.posted()).toEqual(['1', '2']);
});
