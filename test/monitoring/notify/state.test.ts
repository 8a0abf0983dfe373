import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { NotifySettings } from '../../../src/config/notify-fields.ts';
import { PROBLEM_KINDS, type Problem, type ProblemKind } from '../../../src/core/notify/notice.ts';
import { readDatabaseClock } from '../../../src/db/clock.ts';
import { connect, type Database } from '../../../src/db/connect.ts';
import { claimDeliveries } from '../../../src/monitoring/notify/deliveries.ts';
import type { Observation } from '../../../src/monitoring/notify/observe-problems.ts';
import { recordProblems } from '../../../src/monitoring/notify/record-problems.ts';
import { setup } from '../../support/setup.ts';

const SETTINGS: NotifySettings = {
  channels: [
    { name: 'ops', kind: 'slack', url: 'http://127.0.0.1:9/' },
    { name: 'pager', kind: 'slack', url: 'http://127.0.0.1:9/' },
  ],
  pings: [],
  routes: [],
  remindAfterMs: 86_400_000,
  unownedCodesAbove: {},
  quietHours: null,
  digest: null,
};

function problem(kind: ProblemKind, more: Partial<Problem> = {}): Problem {
  return {
    kind,
    job: 'orders',
    severity: 'error',
    since: new Date('2026-11-20T08:00:00Z'),
    amounts: [{ amount: '12.50', currency: 'EUR' }],
    summary: 'Something is wrong.',
    command: 'npx influencer-sync status',
    page: '/',
    ...more,
  };
}

async function observe(db: Database, problems: readonly Problem[]): Promise<Observation> {
  return { at: await readDatabaseClock(db), problems, determined: PROBLEM_KINDS, jobs: ['orders', 'other'] };
}

/** Records an observation that finds exactly these problems. */
async function record(
  db: Database,
  problems: readonly Problem[],
  settings: Partial<NotifySettings> = {},
): Promise<number> {
  return recordProblems(db, await observe(db, problems), { ...SETTINGS, ...settings });
}

async function noticesIn(db: Database): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('ops.notices')
    .innerJoin('ops.problems', 'ops.problems.problem_id', 'ops.notices.problem_id')
    .select(['event', 'kind'])
    .orderBy('notice_id')
    .execute();
  return rows.map(({ event, kind }) => `${event} ${kind}`);
}

/** Moves everything into the past by an interval. */
async function age(db: Database, interval: string): Promise<void> {
  await sql`
    update ops.problems set opened_at = opened_at - ${interval}::interval, observed_at = observed_at - ${interval}::interval,
      told_at = told_at - ${interval}::interval, absent_since = absent_since - ${interval}::interval,
      resolved_at = resolved_at - ${interval}::interval`.execute(db);
}

describe('the state of a problem', () => {
  it('ends the quiet hours for what is known of it when a warning becomes an error', async () => {
    const { db } = await setup();
    // Quiet hours that began an hour ago and end in an hour.
    const time = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString().slice(11, 16);
    const quietHours = { from: time(-1), to: time(1), timeZone: 'UTC' };
    const due = async () => {
      const { rows } = await sql<{ event: string; isDue: boolean }>`
        select n.event, d.due_at <= clock_timestamp() and d.not_before <= clock_timestamp() as "isDue"
        from ops.notice_deliveries d join ops.notices n using (notice_id) where d.channel = 'ops' order by notice_id`.execute(
        db,
      );
      return rows.map(({ event, isDue }) => `${event} ${isDue}`);
    };
    await record(db, [problem('disk', { severity: 'warning' })], { quietHours });
    expect(await due()).toEqual(['opened false']);
    await record(db, [problem('disk', { severity: 'error' })], { quietHours });
    expect(await due()).toEqual(['opened true', 'reminded true']);
    // As in the morning, the opening comes first.
    const claim = async () =>
      (await claimDeliveries(db, { channel: 'ops', limit: 9 })).map(({ notice }) => notice.event);
    expect(await claim()).toEqual(['opened']);
  });

  it('yields one opened and one resolved notice per channel for any number of observations', async () => {
    const { db } = await setup();
    for (let round = 0; round < 100; round += 1) await record(db, [problem('doubts')]);
    expect(await noticesIn(db)).toEqual(['opened doubts']);
    for (let round = 0; round < 3; round += 1) await record(db, []);
    expect(await noticesIn(db)).toEqual(['opened doubts', 'resolved doubts']);
    const deliveries = await db
      .selectFrom('ops.notice_deliveries')
      .select(['notice_id', 'channel'])
      .orderBy('notice_id')
      .orderBy('channel')
      .execute();
    expect(deliveries.map(({ channel }) => channel)).toEqual(['ops', 'pager', 'ops', 'pager']);
  });

  it('is kept per kind and job, and once for a problem that concerns all jobs', async () => {
    const { db } = await setup();
    const all = [problem('doubts'), problem('doubts', { job: 'other' }), problem('disk', { job: null })];
    await record(db, all);
    await record(db, all.slice(1));
    expect(await noticesIn(db)).toEqual(['opened doubts', 'opened doubts', 'opened disk', 'resolved doubts']);
  });

  it('yields one notice per change when many processes observe it at the same time', async () => {
    const { db, databaseUrl } = await setup();
    const processes = await Promise.all(
      Array.from({ length: 6 }, () => connect({ url: databaseUrl, embeddedFolder: '' })),
    );
    onTestFinished(async () => {
      for (const process of processes) await process.destroy();
    });
    const all = [problem('doubts'), problem('job_failed'), problem('disk', { job: null })];
    const together = async (problems: readonly Problem[]) => {
      const made = await Promise.all(processes.map((process) => record(process, problems)));
      return made.reduce((sum, count) => sum + count, 0);
    };
    expect(await together(all)).toBe(3);
    await age(db, '25 hours');
    expect(await together(all)).toBe(3);
    expect(await together([])).toBe(3);
    const events = (await noticesIn(db)).map((notice) => notice.split(' ')[0]).toSorted();
    expect(events).toEqual([
      ...['opened', 'opened', 'opened'],
      ...['reminded', 'reminded', 'reminded'],
      ...['resolved', 'resolved', 'resolved'],
    ]);
  });

  it('yields a reminder after each remind_after while the problem stays open, and none if it is null', async () => {
    const { db } = await setup();
    await record(db, [problem('doubts')]);
    await age(db, '23 hours');
    await record(db, [problem('doubts')]);
    expect(await noticesIn(db)).toEqual(['opened doubts']);
    await age(db, '2 hours');
    await record(db, [problem('doubts')]);
    await record(db, [problem('doubts')]);
    await age(db, '25 hours');
    await record(db, [problem('doubts')], { remindAfterMs: null });
    expect(await noticesIn(db)).toEqual(['opened doubts', 'reminded doubts']);
    await record(db, [problem('doubts')]);
    expect(await noticesIn(db)).toEqual(['opened doubts', 'reminded doubts', 'reminded doubts']);
    expect(await db.selectFrom('ops.problems').select(['state', 'reminders']).execute()).toEqual([
      { state: 'reminded', reminders: 2 },
    ]);
  });

  it('yields one immediate notice when a warning becomes an error', async () => {
    const { db } = await setup();
    const settings = {
      routes: [
        { severities: ['warning' as const], jobs: null, problems: null, channels: ['ops'] },
        { severities: ['error' as const], jobs: null, problems: null, channels: ['pager'] },
      ],
    };
    await record(db, [problem('disk', { severity: 'warning' })], settings);
    for (let round = 0; round < 2; round += 1) await record(db, [problem('disk')], settings);
    await record(db, [], settings);
    expect(await noticesIn(db)).toEqual(['opened disk', 'reminded disk', 'resolved disk']);
    const rows = await db
      .selectFrom('ops.notice_deliveries')
      .select('channel')
      .orderBy('notice_id')
      .execute();
    // Each channel that was notified of the problem is also notified of its resolution.
    expect(rows.map(({ channel }) => channel).slice(0, 2)).toEqual(['ops', 'pager']);
    expect(
      rows
        .map(({ channel }) => channel)
        .slice(2)
        .toSorted(),
    ).toEqual(['ops', 'pager']);
  });

  it('yields four notices for a problem that comes and goes, and is resolved after half an hour of absence', async () => {
    const { db } = await setup();
    for (let round = 0; round < 20; round += 1) {
      await record(db, [problem('service_away', { job: null })]);
      await record(db, []);
      await age(db, '1 minute');
    }
    const twice = ['opened service_away', 'resolved service_away', 'opened service_away'];
    expect(await noticesIn(db)).toEqual(twice);
    await age(db, '28 minutes');
    await record(db, []);
    expect(await noticesIn(db)).toEqual(twice);
    await age(db, '3 minutes');
    await record(db, []);
    expect(await noticesIn(db)).toEqual([...twice, 'resolved service_away']);
  });

  it('yields a new problem, which is resolved at once, if it recurs after half an hour', async () => {
    const { db } = await setup();
    for (let round = 0; round < 2; round += 1) {
      await record(db, [problem('doubts')]);
      await record(db, []);
      await age(db, '31 minutes');
    }
    expect(await noticesIn(db)).toEqual([
      ...['opened doubts', 'resolved doubts'],
      ...['opened doubts', 'resolved doubts'],
    ]);
  });

  it('does not change for a kind that could not be checked', async () => {
    const { db } = await setup();
    await record(db, [problem('doubts')]);
    const blind = { ...(await observe(db, [])), determined: [] };
    expect(await recordProblems(db, blind, SETTINGS)).toBe(0);
    expect(await noticesIn(db)).toEqual(['opened doubts']);
  });

  it('of a job that only another process has configured changes after a day without observations', async () => {
    const { db } = await setup();
    await record(db, [problem('doubts')]);
    const without = async () => recordProblems(db, { ...(await observe(db, [])), jobs: ['other'] }, SETTINGS);
    expect(await without()).toBe(0);
    await age(db, '25 hours');
    expect(await without()).toBe(1);
    const { message } = await db
      .selectFrom('ops.notices')
      .select('message')
      .where('event', '=', 'resolved')
      .executeTakeFirstOrThrow();
    expect(message).toMatchObject({ summary: 'orders is no longer in the configuration.' });
  });

  it('does not change by an observation that is older than the last one applied', async () => {
    const { db } = await setup();
    const before = await observe(db, []);
    await record(db, [problem('doubts')]);
    expect(await recordProblems(db, before, SETTINGS)).toBe(0);
    const stillThere = await observe(db, [problem('doubts')]);
    await record(db, []);
    expect(await recordProblems(db, stillThere, SETTINGS)).toBe(0);
    expect(await noticesIn(db)).toEqual(['opened doubts', 'resolved doubts']);
  });
});
