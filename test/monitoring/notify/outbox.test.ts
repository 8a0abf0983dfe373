import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { connect, type Database } from '../../../src/db/connect.ts';
import { claimDeliveries } from '../../../src/monitoring/notify/deliveries.ts';
import { sendNotices } from '../../../src/monitoring/notify/send-notices.ts';
import { setup } from '../../support/setup.ts';
import { waitFor } from '../../support/wait-for.ts';
import { type Receiver, startReceiver, webhookTo } from './receivers.ts';

/**
 * Adds problems with `opened` notices for channel `ops` to the outbox; with `resolved`, also their `resolved`
 * notices.
 */
async function fill(db: Database, kinds: readonly string[], { resolved = false } = {}): Promise<void> {
  await sql`
    with p as (
      insert into ops.problems (kind, job, state, severity, since, observed_at, told_severity, summary, command, page, resolved_at)
      select kind, 'orders', ${resolved ? 'resolved' : 'opened'}, 'error', now(), now(), 'error', 'Wrong.', 'npx influencer-sync status', '/',
        ${resolved ? sql`now()` : null}::timestamptz
      from unnest(${kinds}::text[]) as kind returning *
    ), n as (
      insert into ops.notices (problem_id, event, message)
      select problem_id, event, jsonb_build_object('problem', kind, 'title', 'Title', 'job', job, 'severity', severity, 'since', since,
        'amounts', amounts, 'summary', summary, 'command', command, 'page', page)
      from p cross join unnest(${resolved ? ['opened', 'resolved'] : ['opened']}::text[]) with ordinality as e(event, position)
      order by position returning notice_id
    )
    insert into ops.notice_deliveries (notice_id, channel) select notice_id, 'ops' from n`.execute(db);
}

const configOf = (receiver: Receiver) => ({
  notify: { channels: [webhookTo(receiver)] },
  console: { url: '' },
});

const forever = () => new AbortController().signal;

/** Moves the times of all deliveries into the past, as if an interval had passed. */
async function wait(db: Database, interval: string): Promise<void> {
  await sql`
    update ops.notice_deliveries set due_at = due_at - ${interval}::interval, not_before = not_before - ${interval}::interval,
      leased_until = leased_until - ${interval}::interval`.execute(db);
}

const statesIn = async (db: Database) =>
  (
    await db
      .selectFrom('ops.notice_deliveries')
      .select(['state', 'attempts', 'last_error'])
      .orderBy('notice_id')
      .execute()
  ).map(({ state, attempts, last_error }) => `${state} ${attempts} ${last_error ?? '-'}`);

it('two concurrent senders send each notice once', async () => {
  const { db, databaseUrl } = await setup();
  const receiver = await startReceiver();
  const other = await connect({ url: databaseUrl, embeddedFolder: '' });
  onTestFinished(() => other.destroy());
  await fill(
    db,
    Array.from({ length: 40 }, (_, index) => `kind_${index}`),
  );
  const options = { config: configOf(receiver), signal: forever() };
  const sent = await Promise.all([sendNotices(db, options), sendNotices(other, options)]);
  expect(sent.reduce((sum, count) => sum + count, 0)).toBe(40);
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(ids).toHaveLength(40);
  expect(new Set(ids).size).toBe(40);
});

it('the outbox retries a delivery that the channel rejected until the channel accepts it', async () => {
  const { db } = await setup();
  const receiver = await startReceiver();
  const options = { config: configOf(receiver), signal: forever() };
  await fill(db, ['doubts']);
  receiver.answer(503);
  expect(await sendNotices(db, options)).toBe(0);
  // The delivery is not retried immediately.
  expect(await sendNotices(db, options)).toBe(0);
  expect(receiver.received).toHaveLength(1);
  await wait(db, '11 seconds');
  receiver.answer(429, { 'retry-after': '120' });
  await sendNotices(db, options);
  await wait(db, '60 seconds');
  await sendNotices(db, options);
  expect(await statesIn(db)).toEqual(['pending 2 HTTP 429']);
  receiver.answer(200);
  await wait(db, '61 seconds');
  expect(await sendNotices(db, options)).toBe(1);
  expect(await statesIn(db)).toEqual(['sent 3 -']);
  // A receiver that gets the message twice can tell by its id that it is the same.
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
});

it('the outbox sends the opening of a problem before its resolution', async () => {
  const { db } = await setup();
  const receiver = await startReceiver();
  const options = { config: configOf(receiver), signal: forever() };
  await fill(db, ['doubts', 'disk'], { resolved: true });
  receiver.answer(500);
  await sendNotices(db, options);
  expect(receiver.received.map(({ json }) => json.event)).toEqual(['opened', 'opened']);
  receiver.answer(200);
  await wait(db, '11 seconds');
  await sendNotices(db, options);
  const later = receiver.received.slice(2).map(({ json }) => `${json.event} ${json.problem}`);
  for (const kind of ['doubts', 'disk'])
    expect(later.filter((one) => one.endsWith(kind))).toEqual([`opened ${kind}`, `resolved ${kind}`]);
});

it('another process sends the claimed notices of a dead process when the lease expires', async () => {
  const { db } = await setup();
  const receiver = await startReceiver();
  const options = { config: configOf(receiver), signal: forever() };
  await fill(db, ['doubts']);
  expect(await claimDeliveries(db, { channel: 'ops', limit: 9 })).toHaveLength(1);
  expect(await sendNotices(db, options)).toBe(0);
  await wait(db, '61 seconds');
  expect(await sendNotices(db, options)).toBe(1);
  expect(await statesIn(db)).toEqual(['sent 2 -']);
});

it('the outbox gives up a delivery after a day, also if its channel is no longer configured', async () => {
  const { db } = await setup();
  const receiver = await startReceiver();
  const options = { config: configOf(receiver), signal: forever() };
  await fill(db, ['doubts', 'disk']);
  await sql`update ops.notice_deliveries set channel = 'gone' where notice_id = (select min(notice_id) from ops.notices)`.execute(
    db,
  );
  receiver.answer(404);
  await sendNotices(db, options);
  await wait(db, '25 hours');
  await sendNotices(db, options);
  expect(await statesIn(db)).toEqual(['given_up 0 no process sent it in time', 'given_up 1 HTTP 404']);
});

it('no channel waits for a slow one', async () => {
  const { db } = await setup();
  const [slow, quick] = [await startReceiver(), await startReceiver()];
  slow.slowDown(1_500);
  await fill(
    db,
    Array.from({ length: 9 }, (_, index) => `kind_${index}`),
  );
  await sql`insert into ops.notice_deliveries (notice_id, channel) select notice_id, 'quick' from ops.notices`.execute(
    db,
  );
  const channels = [webhookTo(slow), { ...webhookTo(quick), name: 'quick' }];
  const sending = sendNotices(db, {
    config: { notify: { channels }, console: { url: '' } },
    signal: forever(),
  });
  await waitFor(() => quick.received.length === 9);
  // The second batch has not begun.
  expect(slow.received.length).toBeLessThan(9);
  expect(await sending).toBe(18);
});

it('a notice that is due does not wait for one of the same problem that is not', async () => {
  const { db } = await setup();
  const receiver = await startReceiver();
  const options = { config: configOf(receiver), signal: forever() };
  await fill(db, ['doubts'], { resolved: true });
  await sql`update ops.notice_deliveries set due_at = now() + interval '1 hour', not_before = now() + interval '1 hour'
    where notice_id = (select min(notice_id) from ops.notices)`.execute(db);
  expect(await sendNotices(db, options)).toBe(1);
  expect(receiver.received.map(({ json }) => json.event)).toEqual(['resolved']);
});
