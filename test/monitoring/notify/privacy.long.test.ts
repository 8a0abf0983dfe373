import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { jobKinds, loadConfig } from '../../../jobs/index.ts';
import type { ChannelSettings } from '../../../src/config/notify-fields.ts';
import {
  type Notice,
  PROBLEM_KINDS,
  type Problem,
  type ProblemKind,
} from '../../../src/core/notify/notice.ts';
import type { Database } from '../../../src/db/connect.ts';
import { sendToChannel } from '../../../src/monitoring/notify/channels.ts';
import { observeProblems } from '../../../src/monitoring/notify/observe-problems.ts';
import { manyRows, toCsv } from '../../runs/workshop.ts';
import { openDrill } from './drill.ts';
import { SECRET, startReceiver } from './receivers.ts';
import { startMailServer } from './smtp-receiver.ts';

const ADDRESS = 'jane.doe@customer.example';
const PASSWORD = 'mail-password-7';
const ROUTING_KEY = 'routing-key-of-thirty-two-chars!';

/** Two jobs and a mirror. Addresses of customers are in every place where a file can put them. */
const FLOW = `
sources:
  shop: {uri: ./exports/, layout: generic, order_platform: shopify, time_zone: Europe/Amsterdam}
  other: {uri: ./others/, layout: generic, order_platform: other, time_zone: Europe/Amsterdam, expect: {freshness: {by: "00:00"}}}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv, revenue: total}
  others: {kind: attribute-orders, source: other, brand_id: 4819, codes: ./codes.csv}
  mirror: {kind: mirror-account}
`;

/** Texts that no message may contain. */
const NEVER = [
  ADDRESS,
  'jane.doe',
  'customer.example',
  'order-of-jane',
  'secret-cell',
  SECRET,
  PASSWORD,
  ROUTING_KEY,
];

/** Provokes as many problems as possible at the same time, and returns those that the real finders find. */
async function findAll(): Promise<{ problems: readonly Problem[]; found: ReadonlySet<ProblemKind> }> {
  const { shop } = await openDrill({
    flow: FLOW,
    notify:
      'notify: {channels: {a: {kind: slack, url: "https://x.example"}}, unowned_codes_above: {EUR: 1}}\n',
  });
  const { db } = shop;
  const config = loadConfig(`${shop.folder}/pipeline.yaml`, shop.env);
  const problems: Problem[] = [];
  const look = async () =>
    problems.push(
      ...(
        await observeProblems(db, {
          config,
          kinds: jobKinds,
          onTrouble: (kind, error) => {
            throw new Error(kind, { cause: error });
          },
        })
      ).problems,
    );
  // An order in doubt with an id and a code that contain customer data, rejected rows, and a held file with
  // an address as its name.
  shop.drop(
    'orders.csv',
    toCsv([
      { id: 'order-of-jane' },
      { id: 'p2', code: `NOBODY-${ADDRESS}` },
      { id: 'p3', code: 'NOBODYS' },
      // Held, because its id looks like the one before.
      { id: 'P3', revenue: '9.00' },
      ...manyRows(20),
      { id: 'p4', revenue: 'secret-cell' },
    ]),
  );
  const operation = 'new_influencer_referral';
  await shop.sandbox.setFaults([
    { kind: 'reset_after', operation, count: 1 },
    { kind: 'error_before', operation, status: 422, count: 1, text: `secret-cell of ${ADDRESS}` },
  ]);
  expect((await shop.run()).exitCode).toBe(6);
  await shop.sandbox.setFaults(null);
  await look();
  shop.drop(
    `${ADDRESS}.csv`,
    toCsv(manyRows(40, 'x').map((row) => ({ ...row, revenue: `secret-cell of ${ADDRESS}` }))),
  );
  expect((await shop.run()).exitCode).toBe(6);
  await sql`
    insert into intake.check_findings (source_file_id, run_id, source, check_name, subject, verdict, seen, expected, message, line_nos)
    select source_file_id, 1, source, 'currencies', ${ADDRESS}, 'warn', ${ADDRESS}, '1', ${`secret-cell of ${ADDRESS}`}, '{}'
    from intake.source_files where state = 'sealed'`.execute(db);
  await sql`
    insert into ops.slots (job, slot, state, reason, settled_at, created_at) values
      ('orders', now() - interval '3 hours', 'missed', 'down', now(), now()),
      ('others', now() - interval '2 hours', 'due', null, null, now() - interval '2 hours')`.execute(db);
  await look();
  const of = { job: 'others', kind: 'attribute-orders' };
  const text = `It could not be read: ${ADDRESS} has <b> in secret column.`;
  for (const [status, exitCode, code] of [
    ['failed', 1, 'anything'],
    ['failed', 1, 'run_overdue'],
    ['failed', 4, 'key_refused'],
    ['failed', 1, 'service_unavailable'],
    ['issues', 3, null],
  ] as const) {
    await noteRun(db, { ...of, status, exitCode, problem: text, ...(code === null ? {} : { code }) });
    await look();
  }
  await noteRun(db, { ...of, job: 'backfill:orders', kind: 'backfill', status: 'failed', exitCode: 1 });
  await sql`
    insert into ops.backfills (job, state, from_day, to_day, time_zone, plan_hash, plan, run_id, problem, approved_by, approved_at)
    select 'orders', 'paused', '2025-01-01', '2025-12-31', 'UTC', 'x', '{"groups": []}', max(run_id), ${text}, ${ADDRESS}, now()
    from ops.runs`.execute(db);
  await look();
  const counts = { drift: 2, deals_stale: 5, deals_unread: 1, rejected_rows: 0 };
  await noteRun(db, { job: 'mirror', kind: 'mirror-account', status: 'issues', exitCode: 3, counts });
  await look();
  await sql`update ops.runs set started_at = started_at - interval '50 hours', finished_at = finished_at - interval '50 hours' where job = 'mirror'`.execute(
    db,
  );
  await sql`
    insert into reporting.reconciliation
      (deal_id, ours, others, doubts, written_off, late, credited_twice, afterwards, other_currency, unexplained, run_id)
    select ${ADDRESS}, 0, 0, 0, 0, 0, 0, 0, 0, 50, max(run_id) from ops.runs where job = 'mirror'`.execute(
    db,
  );
  // An order was credited twice, to a deal with an address as its id, and the clock is wrong.
  await sql`
    insert into ledger.answers (entry_id, attempt, kind, http_status, message, deal_id, via, applied)
    select min(entry_id), 2, 'accepted', 200, ${`secret-cell of ${ADDRESS}`}, ${ADDRESS}, 'direct', false
    from ledger.entries where state = 'accepted'`.execute(db);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 600_000 });
  await look().finally(() => vi.useRealTimers());
  return { problems, found: new Set(problems.map(({ kind }) => kind)) };
}

/**
 * Stores a run with given texts and counts. The drills provoke such results; this test is only about the text
 * of the notices.
 */
async function noteRun(
  db: Database,
  run: {
    job: string;
    kind: string;
    status: string;
    exitCode: number;
    code?: string;
    problem?: string;
    counts?: object;
  },
): Promise<void> {
  const { job, kind, status, exitCode, code = null, problem = null, counts = {} } = run;
  await sql`
    insert into ops.runs (job, kind, host, pid, status, exit_code, problem, problem_code, counts, finished_at)
    values (${job}, ${kind}, 'h', 1, ${status}, ${exitCode}, ${problem}, ${code}, ${JSON.stringify(counts)}::jsonb, now())`.execute(
    db,
  );
}

/** Problems whose messages contain nothing from files or rows. The drills provoke them. */
const NOT_PROVOKED: readonly ProblemKind[] = [
  'orders_restated',
  'bookings_held',
  'claims_overdue',
  'ledger_went_back',
  'events_unread',
  'disk',
  'database',
];

describe('the messages about problems', () => {
  it('contain no secret, address or cell in any channel, and each problem has a summary and a command', async () => {
    const { problems, found } = await findAll();
    expect(PROBLEM_KINDS.filter((kind) => !found.has(kind))).toEqual(NOT_PROVOKED);
    const receiver = await startReceiver();
    const mail = await startMailServer({ user: 'me' });
    const channels: readonly ChannelSettings[] = [
      { name: 'webhook', kind: 'webhook', url: receiver.url, secret: SECRET },
      { name: 'slack', kind: 'slack', url: `${receiver.url}/slack` },
      { name: 'teams', kind: 'teams', url: `${receiver.url}/teams` },
      { name: 'pager', kind: 'pagerduty', url: `${receiver.url}/pager`, routingKey: ROUTING_KEY },
      {
        name: 'mail',
        kind: 'email',
        host: '127.0.0.1',
        port: mail.port,
        encryption: 'none',
        user: 'me',
        password: 'right',
        from: 'a@ops.example',
        to: ['b@ops.example'],
      },
    ];
    for (const [index, problem] of problems.entries())
      for (const channel of channels) {
        const { page, kind, ...rest } = problem;
        const notice: Notice = {
          ...rest,
          id: `notice-${index}`,
          problemId: `problem-${index}`,
          event: 'opened',
          problem: kind,
          title: kind,
          since: problem.since.toISOString(),
          link: `https://ops.example.com${page}`,
        };
        const { signal } = new AbortController();
        expect(await sendToChannel(channel, notice, { signal, now: new Date() })).toEqual({ kind: 'sent' });
      }
    const texts = [...receiver.received.map(({ body }) => body), ...mail.mails.map(({ source }) => source)];
    expect(texts).toHaveLength(problems.length * channels.length);
    // Requests to PagerDuty must contain its routing key.
    for (const text of texts.map((one) => one.replace(`"routing_key":"${ROUTING_KEY}"`, '')))
      for (const never of NEVER) expect(text).not.toContain(never);
    for (const { command, summary } of problems) {
      expect(command).toMatch(/^npx influencer-sync [a-z]/);
      expect(summary).toMatch(/^[A-Z0-9a-z].*[.…]$/s);
    }
  });
});
