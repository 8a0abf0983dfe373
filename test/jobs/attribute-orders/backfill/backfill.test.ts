import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { expectSums, repeated, trueCents } from '../../../runs/workshop.ts';
import {
  backfill,
  centsToPost,
  credited,
  eventOf,
  openHistory,
  ordersBy,
  PERIOD,
  planIn,
  toHistory,
  twoYears,
} from './history.ts';

describe('a job with a start date', () => {
  it('leaves orders that were placed before it to backfills, and its sums add up', async () => {
    const workshop = await openHistory();
    workshop.drop(
      'orders.csv',
      toHistory([
        { id: 'old', placedAt: '2024-12-31T22:59:59Z' },
        { id: 'first', placedAt: '2024-12-31T23:00:00Z' },
        { id: 'new', placedAt: '2025-06-01T00:00:00Z' },
      ]),
    );
    const { finished, exitCode } = await workshop.run();
    expect(exitCode).toBe(0);
    expect(finished?.counts.excluded).toEqual({ before_start: 1 });
    expect(finished?.counts.entries).toMatchObject({ accepted: 2 });
    if (finished !== null) expectSums(finished);
    expect(await workshop.posted()).toEqual(['first', 'new']);
  });

  it('answers for such an order which backfill of its days there is, or that none is planned', async () => {
    const workshop = await openHistory();
    workshop.drop('orders.csv', toHistory([{ id: 'old', placedAt: '2024-03-01T12:00:00Z' }]));
    await workshop.run();
    const answer = async () => (await workshop.cli('explain', 'order', 'old')).stdout.replace(/\s+/g, ' ');
    expect(await answer()).toContain('If nothing else has credited such orders, plan a backfill.');
    await backfill(workshop, 'orders', '--from', '2024-05-01', '--to', '2024-05-31', '--plan');
    expect(await answer()).toContain('If nothing else has credited such orders, plan a backfill.');
    await backfill(workshop, 'orders', ...PERIOD, '--plan');
    expect(await answer()).toContain(
      'Backfill 2 of its days is planned. It credits the order if its plan has',
    );
    expect(await answer()).toContain('npx influencer-sync backfill resume 2');
    await sql`update ops.backfills set state = 'cancelled'`.execute(workshop.db);
    expect(await answer()).toContain('is cancelled and did not credit it. If nothing else has credited such');
  });
});

describe('the reports', () => {
  it('contain the orders of a backfill, and of their file no others, before any run of the job', async () => {
    const workshop = await openHistory();
    workshop.drop(
      'orders.csv',
      toHistory([
        { id: 'old', placedAt: '2024-03-01T12:00:00Z', revenue: '10.00' },
        { id: 'dollars', placedAt: '2024-03-01T12:00:00Z', revenue: '20.00', currency: 'USD' },
        { id: 'organic', placedAt: '2024-03-01T12:00:00Z', code: '' },
        { id: 'new', placedAt: '2025-06-01T00:00:00Z' },
      ]),
    );
    const sums = async () => {
      const { rows } = await sql<Record<string, unknown>>`
        select currency, sum(orders)::integer as orders, sum(accepted_orders)::integer as accepted, sum(accepted_amount)::float8 as amount
        from bi.attribution_funnel_daily group by currency order by currency`.execute(workshop.db);
      return rows;
    };
    const credited = [
      { currency: 'EUR', orders: 1, accepted: 1, amount: 10 },
      { currency: 'USD', orders: 1, accepted: 1, amount: 20 },
    ];
    expect((await backfill(workshop, 'orders', ...PERIOD, '--yes')).exitCode).toBe(0);
    expect(await sums()).toEqual(credited);

    // As if the process had been killed before it updated them: the next one finds nothing to post, and updates them.
    await sql`truncate reporting.counted_files, reporting.order_dispositions, reporting.funnel_days`.execute(
      workshop.db,
    );
    expect((await backfill(workshop, 'orders', ...PERIOD, '--yes')).exitCode).toBe(0);
    expect(await sums()).toEqual(credited);

    expect((await workshop.run()).exitCode).toBe(0);
    expect(await sums()).toEqual([
      { currency: 'EUR', orders: 3, accepted: 2, amount: 20 },
      { currency: 'USD', orders: 1, accepted: 1, amount: 20 },
    ]);
  });
});

describe('the plan of a backfill', () => {
  it('states the outcome of every order of the period and sends nothing', async () => {
    const workshop = await openHistory();
    workshop.drop('2025.csv', toHistory([{ id: 'new', placedAt: '2025-06-01T00:00:00Z' }]));
    await workshop.run();
    const orders = twoYears(100);
    workshop.drop('history.csv', toHistory(orders));
    const period = ['--from', '2023-01-01', '--to', '2025-12-31', '--plan'];
    await sql`
      insert into ops.leases (name, owner, expires_at, host, pid)
      values ('job:backfill:orders', gen_random_uuid(), clock_timestamp() + interval '1 hour', 'there', 7)`.execute(
      workshop.db,
    );
    const second = await backfill(workshop, 'orders', ...period);
    expect(second.exitCode).toBe(5);
    expect(eventOf(second, 'error')).toMatchObject({
      code: 'already_running',
      message: 'A backfill of orders is running in process 7 on there.',
      safe: 'Nothing was read or sent.',
    });
    await sql`delete from ops.leases`.execute(workshop.db);
    const ended = await backfill(workshop, 'orders', ...period);
    expect(ended.exitCode).toBe(0);
    const plan = planIn(ended);
    expect(ordersBy(plan.groups)).toEqual({
      to_post: credited(orders).length,
      'excluded cancelled': 4,
      'unattributed unknown_code': 8,
    });
    expect(plan.of_the_runs).toBe(1);
    expect(ended.events).toContainEqual(
      expect.objectContaining({ event: 'step_ended', step: 'plan', unit: 'orders', done: 100 }),
    );
    expect(plan.files).toHaveLength(1);
    expect(new Set(plan.groups.map(({ month }) => month)).size).toBe(24);
    expect(await workshop.posted()).toEqual(['new']);
  });

  it('contains the orders from the first instant of its first day to the last of its last day, in the time zone of the job', async () => {
    const workshop = await openHistory();
    workshop.drop(
      'history.csv',
      toHistory([
        { id: 'before', placedAt: '2023-05-31T21:59:59Z' },
        { id: 'first', placedAt: '2023-05-31T22:00:00Z' },
        { id: 'last', placedAt: '2023-06-30T21:59:59Z' },
        { id: 'midnight-after', placedAt: '2023-06-30T22:00:00Z' },
      ]),
    );
    const june = await backfill(workshop, 'orders', '--from', '2023-06-01', '--to', '2023-06-30', '--yes');
    expect(june.exitCode, june.stderr).toBe(0);
    expect(await workshop.posted()).toEqual(['first', 'last']);
    const july = await backfill(workshop, 'orders', '--from', '2023-07-01', '--to', '2023-07-01', '--yes');
    expect(july.exitCode, july.stderr).toBe(0);
    expect(await workshop.posted()).toEqual(['first', 'last', 'midnight-after']);
  });
});

describe('a backfill', () => {
  it('posts exactly what its plan says, to the order and the cent, and nothing that is already credited', async () => {
    const workshop = await openHistory();
    const orders = twoYears(500);
    // A run credited the last months before the job got a start date.
    const known = credited(orders).slice(-50);
    workshop.drop('known.csv', toHistory(known));
    const pipeline = readFileSync(`${workshop.folder}/pipeline.yaml`, 'utf8');
    workshop.write('pipeline.yaml', pipeline.replace(/start_date: .*/, ''));
    await workshop.run();
    workshop.write('pipeline.yaml', pipeline);
    const before = await workshop.sandbox.referrals();
    workshop.drop('history.csv', toHistory(orders));

    const planned = planIn(await backfill(workshop, 'orders', ...PERIOD, '--plan'));
    expect(ordersBy(planned.groups)).toMatchObject({ already: 50, to_post: credited(orders).length - 50 });
    const ended = await backfill(workshop, 'resume', planned.backfill_id, '--yes', '--concurrency', '32');
    expect(ended.exitCode, ended.stderr).toBe(0);

    const referrals = await workshop.sandbox.referrals();
    const posted = referrals.slice(before.length);
    expect(repeated(referrals.map(({ order_id }) => order_id))).toEqual([]);
    expect(referrals.map(({ order_id }) => order_id).sort()).toEqual(
      credited(orders)
        .map(({ id }) => id)
        .sort(),
    );
    const sums = centsToPost(planned.groups);
    expect(trueCents(posted)).toBe((sums.EUR ?? 0) + (sums.USD ?? 0));
    expect(eventOf(ended, 'backfill_finished')).toMatchObject({
      end: 'done',
      accepted: posted.length,
      planned: posted.length,
    });

    // A run has nothing more to report or post about these orders.
    const { finished } = await workshop.run();
    expect(finished?.counts.entries).toMatchObject({ accepted: 0, already: credited(orders).length });
    if (finished !== null) expectSums(finished);
    expect(await workshop.posted()).toHaveLength(referrals.length);
  });
});
