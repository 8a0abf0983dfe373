import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import {
  backfill,
  eventOf,
  openHistory,
  ordersBy,
  PERIOD,
  planIn,
} from '../jobs/attribute-orders/backfill/history.ts';
import { countStates, expectSums, openWorkshop, toCsv, type Workshop } from '../runs/workshop.ts';
import { type CliResult, readEvents } from '../support/run-cli.ts';
import { waitFor } from '../support/wait-for.ts';

async function ledger(
  workshop: Workshop,
  ...args: string[]
): Promise<CliResult & { event: Record<string, unknown> }> {
  const result = await workshop.cli('ledger', ...args, '--json');
  return { ...result, event: readEvents(result).at(-1) ?? {} };
}

const seed = (workshop: Workshop) =>
  ledger(workshop, 'seed', 'seed.csv', '--reason', 'by the shop integration');

describe('orders that were credited elsewhere', () => {
  it('are excluded and never posted, until the seed is undone', async () => {
    const workshop = await openWorkshop();
    workshop.write(
      'seed.csv',
      'order_platform,order_id,amount,currency,reason\nShopify,o1,10.00,EUR,listed\nshopify,o2,,,\n',
    );
    const { exitCode, event } = await seed(workshop);
    expect(exitCode).toBe(0);
    expect(event).toMatchObject({ event: 'seeded', orders: 2, held_back: 0, untouched: [] });
    workshop.drop('orders.csv', toCsv([{ id: 'o1' }, { id: 'o2' }, { id: 'o3' }]));
    const first = await workshop.run();
    expect(first.exitCode).toBe(0);
    expect(first.finished?.counts.excluded).toEqual({ credited_elsewhere: 2 });
    if (first.finished !== null) expectSums(first.finished);
    expect(await workshop.posted()).toEqual(['o3']);

    const undone = await ledger(workshop, 'unseed', String(event.seed_id), '--reason', 'the wrong file');
    expect(undone.event).toMatchObject({ event: 'unseeded', orders: 2 });
    await workshop.run();
    expect(await workshop.posted()).toEqual(['o1', 'o2', 'o3']);
    const again = await ledger(workshop, 'unseed', String(event.seed_id), '--reason', 'once more');
    expect(again.exitCode).toBe(2);
    expect(again.event).toMatchObject({ code: 'seed_undone' });
    const { event: listed } = await ledger(workshop, 'seeds');
    expect(listed).toMatchObject({ file_name: 'seed.csv', orders: 2, reason: 'by the shop integration' });
    expect(listed.undone_at).not.toBeNull();
    const { rows } =
      await sql`select action, subject, reason, after from ops.audit order by audit_id`.execute(workshop.db);
    const subject = String(event.seed_id);
    expect(rows).toEqual([
      {
        action: 'seed_orders',
        subject,
        reason: 'by the shop integration',
        after: { orders: 2, held_back: 0 },
      },
      { action: 'withdraw_seed', subject, reason: 'the wrong file', after: { orders: 2 } },
    ]);
  });

  it('are held if they wait to be posted, and only reported if this ledger already posted them', async () => {
    const workshop = await openWorkshop();
    workshop.drop('orders.csv', toCsv([{ id: 'posted' }, { id: 'waits' }, { id: 'free' }]));
    await workshop.run('--limit', '1');
    workshop.write(
      'seed.csv',
      'order_platform,order_id\nshopify,posted\nshopify,waits\nshopify,unheard-of\n',
    );
    const { exitCode, event } = await seed(workshop);
    expect(exitCode).toBe(3);
    expect(event).toMatchObject({
      orders: 3,
      held_back: 1,
      untouched: [{ state: 'accepted', orders: 1, examples: ['posted'] }],
    });
    const { finished } = await workshop.run();
    expect(finished?.status).toBe('ok');
    expect(finished?.counts).toMatchObject({
      excluded: { credited_elsewhere: 1 },
      entries: { accepted: 1, already: 1 },
    });
    expect(await workshop.posted()).toEqual(['free', 'posted']);
    await ledger(workshop, 'unseed', String(event.seed_id), '--reason', 'it was not so');
    await workshop.run();
    expect(await workshop.posted()).toEqual(['free', 'posted', 'waits']);
  });

  it('are not posted by a backfill, even if it was planned and interrupted before the seed', async () => {
    const workshop = await openHistory();
    const placed = '2023-05-05T10:00:00Z';
    workshop.drop(
      'history.csv',
      `order_id,order_revenue,currency,discount_codes,placed_at,status\n${['a', 'b', 'c'].map((id) => `${id},10.00,EUR,MIA10,${placed},paid`).join('\n')}\n`,
    );
    workshop.write('seed.csv', 'order_platform,order_id\nshopify,a\n');
    await workshop.cli('migrate');
    await seed(workshop);
    const { groups } = planIn(await backfill(workshop, 'orders', ...PERIOD, '--plan'));
    expect(ordersBy(groups)).toEqual({ to_post: 2, 'excluded credited_elsewhere': 1 });
    const process = workshop.start('backfill', 'orders', ...PERIOD, '--yes', '--rate', '0.01');
    await waitFor(async () => (await workshop.posted()).length === 1);
    process.kill('SIGTERM');
    await process.ended;
    const [posted] = await workshop.posted();
    workshop.write('seed.csv', `order_platform,order_id\nshopify,${posted === 'b' ? 'c' : 'b'}\n`);
    expect((await seed(workshop)).event).toMatchObject({ held_back: 1 });
    const done = await backfill(workshop, 'resume', '--yes');
    expect(eventOf(done, 'backfill_finished')).toMatchObject({ end: 'done', accepted: 1, held: 1 });
    const { finished } = await workshop.run();
    expect(finished?.counts.excluded).toEqual({ credited_elsewhere: 2 });
    expect(await workshop.posted()).toHaveLength(1);
    expect(await countStates(workshop.db)).toEqual({ accepted: 1, held: 1 });
  });

  it('are recorded for the whole file or not at all, and each bad row is reported with line and column', async () => {
    const workshop = await openWorkshop();
    await workshop.cli('migrate');
    workshop.write(
      'seed.csv',
      'order_platform,order_id,amount,currency\nshopify,1.23E+12,,\nshopfy,o1,,\nshopify,o2,ten,EUR\nshopify,o3,10.00,\nshopify,o4,1,EURO\nshopify,o5,,\nshopify,o5,,\n',
    );
    const { exitCode, event, stderr } = await seed(workshop);
    expect(exitCode).toBe(3);
    const problems = event.problems as readonly { where: string }[];
    expect(problems.map(({ where }) => where)).toEqual([
      'seed.csv:2 order_id',
      'seed.csv:3 order_platform',
      'seed.csv:4 amount',
      'seed.csv:5 currency',
      'seed.csv:6 currency',
      'seed.csv:8 order_id',
    ]);
    expect(stderr).toContain('Nothing was changed.');
    expect((await ledger(workshop, 'seeds')).event).toEqual({});
    workshop.write('seed.csv', 'order_platform,order_id\nshopify,o0\nshopify,"o1\nshopify,o2\n');
    const unclosed = (await seed(workshop)).event;
    expect(unclosed.problems, 'a quote is never closed').toMatchObject([{ where: 'seed.csv:3' }]);
    workshop.write('seed.csv', 'order_platform,order_id\nshopify,1,001\nshopify\n');
    expect((await seed(workshop)).event.problems, '1,001 is not the order 1').toMatchObject([
      { where: 'seed.csv:2', message: expect.stringContaining('The row has 3 cells') },
      { where: 'seed.csv:3', message: expect.stringContaining('The row has 1 cell') },
    ]);
    workshop.write('seed.csv', 'order_platform,order_id,Order_ID\nshopify,o1,o2\n');
    expect((await seed(workshop)).event.problems, 'which one?').toMatchObject([
      { where: 'seed.csv:1 order_id' },
    ]);
    workshop.write('seed.csv', 'platform,order_id\nshopify,o1\n');
    expect((await seed(workshop)).event).toMatchObject({ code: 'seed_invalid' });
    workshop.write('seed.csv', 'order_platform,order_id\nshopify,o1\n');
    expect((await seed(workshop)).exitCode).toBe(0);
    const again = await seed(workshop);
    expect(again.exitCode).toBe(0);
    expect(again.event, 'twice is once').toMatchObject({ event: 'seeded', is_known: true, orders: 1 });
    expect((await workshop.cli('ledger', 'seed', 'seed.csv', '--reason', 'x')).stdout).toContain(
      'Seed 1 contains this list already: 1 order',
    );
    expect((await ledger(workshop, 'seeds')).event, 'the only one').toMatchObject({ seed_id: '1' });
  });
});
