import { sql } from 'kysely';
import { pages } from '../../src/console/pages/index.ts';
import { inTransaction } from '../../src/db/in-transaction.ts';
import { previewFiles, previewSettlement } from '../../src/decisions/settle-many.ts';
import { openWorkshop, toCsv, type Workshop } from '../runs/workshop.ts';

/** Markup, and 150 characters without a place to break a line. */
const HOSTILE = `'><script>alert(1)</script><img src=x onerror='x'>${'x'.repeat(150)}`;

/** Downloads, not pages. */
const DOWNLOADS = ['/codes/export', '/money/payments/file'];

/** Values for the parameters in the paths of pages. */
const PARAMETERS: Readonly<Record<string, string>> = {
  finding: '1',
  source: 'shop',
  order: '<b>A5</b>',
  deal: 'DEALMIA',
  creator: 'mia.test',
  record: '5',
  month: '2026-05',
};
const QUERIES: Readonly<Record<string, string>> = {
  '/codes/assign': '?job=orders&code=NOBODY',
  '/statements/:month/document': '?deal=DEALMIA',
};

export type ConsoleShop = {
  readonly shop: Workshop;
  /** One URL for each page, with data to show. */
  readonly paths: readonly string[];
};

/**
 * Opens a shop whose orders have every outcome: credited, in doubt, without an owner, and without a code. One
 * order contains text that would run as markup in an unescaped page.
 */
export async function openConsoleShop({
  hasBadFiles = false,
  schedule,
}: {
  /** Adds a file with a rejected row, a held file and a change, so that their pages have something to show. */
  readonly hasBadFiles?: boolean;
  /** Schedule of the job, for a test that serves. */
  readonly schedule?: string;
} = {}): Promise<ConsoleShop> {
  const shop = await openWorkshop(schedule === undefined ? {} : { schedule });
  const placedAt = '2026-04-10T11:11:26Z';
  shop.drop(
    'april.csv',
    toCsv([
      { id: 'A1', revenue: '12.50', placedAt },
      { id: 'A3', revenue: '7.00', code: 'NOBODY', placedAt },
      { id: 'A4', revenue: '9.00', code: '', placedAt },
      { id: '<b>A5</b>', revenue: '3.00', code: HOSTILE, placedAt },
    ]),
  );
  await shop.run();
  shop.drop('may.csv', toCsv([{ id: 'A2', revenue: '20.00', code: 'BEN15', placedAt }]));
  await shop.sandbox.setFaults([{ kind: 'reset_after', operation: 'new_influencer_referral', count: 1 }]);
  await shop.run();
  const parameters: Readonly<Record<string, string>> = {
    ...PARAMETERS,
    ...(hasBadFiles ? await addBadFiles(shop) : {}),
  };
  await addBackfills(shop);
  await addBulks(shop);
  await addFindings(shop);
  await addStatement(shop);
  await addMoney(shop);
  await addNotices(shop);
  await addWorkers(shop);
  const paths = pages
    .filter(({ path }) => !DOWNLOADS.includes(path))
    .map(
      ({ path }) =>
        path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(parameters[name] ?? '1')) +
        (QUERIES[path] ?? ''),
    );
  return {
    shop,
    paths: [
      ...paths,
      '/doubts?entry=2',
      '/backfills/2',
      '/bulk/2',
      '/bulk/3',
      '/bulk/4',
      '/rejected?code=bad_money&effect=yes',
      '/statements/2026-05?deal=DEALMIA',
      '/statements/2026-06',
      '/checks/2',
      '/money?by=creator',
      '/money?by=month',
      '/money/reconciliation?deal=DEALMIA',
    ],
  };
}

/** Adds a preview of settling the doubt, one of sending it again, and a bulk action that was aborted. */
async function addBulks({ db }: Workshop): Promise<void> {
  const decided = { chosen: `Entries in doubt because ${HOSTILE}`, decidedBy: 'ann', reason: HOSTILE };
  const common = {
    ...decided,
    via: 'console' as const,
    entries: {},
    dealId: null,
    collabId: null,
    audit: async () => '1',
  };
  for (const decision of ['write_off', 'resend', 'accepted'] as const)
    await inTransaction(db, (trx) => previewSettlement(trx, { ...common, decision }));
  await inTransaction(db, (trx) =>
    previewFiles(trx, { ...decided, via: 'command', audit: async () => '1', decision: 'reread', files: {} }),
  );
  await sql`
    update ops.bulk_actions set state = 'aborted', confirmed_by = 'ann', confirmed_at = now(), aborted_by = 'ben', aborted_at = now(), ended_at = now(),
      settled = 0, changed = 0, failed = 0
    where bulk_id = 3`.execute(db);
}

/**
 * Adds findings of checks in the first file, the second of them acknowledged, and an expected date that would
 * have prevented it.
 */
export async function addFindings({ db }: Workshop): Promise<void> {
  for (const [check, subject, isKnown] of [
    ['median_value', null, false],
    ['currencies', HOSTILE, true],
    ['overlap', null, false],
  ] as const)
    await sql`
      insert into intake.check_findings (source_file_id, source, check_name, subject, verdict, seen, expected, message, line_nos, run_id,
        acknowledged_at, acknowledged_by, acknowledge_reason)
      values (1, 'shop', ${check}, ${subject}, 'warn', ${`4 ${HOSTILE}`}, '40 to 60', ${`${HOSTILE} is unusual.`}, '{2,3}', 1,
        ${isKnown ? sql`now()` : null}, ${isKnown ? 'ann' : null}, ${isKnown ? HOSTILE : null})`.execute(db);
  await sql`
    insert into intake.expected_dates (day, source, name, created_by) values (current_date, null, ${HOSTILE}, 'ann')`.execute(
    db,
  );
}

/** Adds a closed month with amounts in two currencies. */
async function addStatement({ db }: Workshop): Promise<void> {
  await sql`
    insert into ops.statement_lines (statement_id, line_no, kind, subject, entry_id, source, order_platform, order_id, ordered_on, due_on, deal_id,
      influencer_handle, currency, sent_amount, net_amount, rate_percent, rate_from, earned_amount, closed_before, amount)
    values (1, 1, 'order', 'order:1', 1, 'shop', 'shopify', ${HOSTILE}, '2026-04-10', '2026-05-10', 'DEALMIA', ${HOSTILE}, 'EUR', 12.5, 12.5, 10,
        'deal', 1.25, 0, 1.25),
      (1, 2, 'fixed_fee', 'fee:code x:2026-05-01', null, null, null, null, null, '2026-05-01', null, null, 'USD', null, null, null, null, 5, 0, 5)`.execute(
    db,
  );
  await sql`
    insert into ops.statement_headings (statement_id, deal_id, influencer_handle) values (1, 'DEALMIA', 'mia.test')`.execute(
    db,
  );
  await sql`
    insert into ops.statements (statement_id, month, time_zone, return_window_days, lines, closed_by, reason, previous_hash, hash)
    overriding system value values (1, '2026-05-01', 'UTC', 30, 2, 'ann', ${HOSTILE}, '', 'a1b2c3')`.execute(
    db,
  );
}

/**
 * Adds a deal that the service counts differently, with an order that another program sent; customers that
 * the deal won; and a code that may have leaked.
 */
async function addMoney({ db }: Workshop): Promise<void> {
  await sql`
    insert into reporting.reconciliation (deal_id, first_read_at, read_at, theirs, ours, before, others, doubts, written_off, late,
      credited_twice, afterwards, unexplained, account_currency, theirs_amount, ours_amount, other_currency, unexplained_amount, paid_amount, run_id)
    values ('DEALMIA', now(), now(), 5, 1, 2, 0, 0, 0, 0, 0, 0, 2, 'EUR', 50, 12.5, 0, 37.5, 0, 1)`.execute(
    db,
  );
  await sql`
    insert into ledger.evidence (kind, order_id, order_platform, deal_id, amount, currency, body_sha256, received_at)
    values ('webhook_order', ${HOSTILE}, 'shopify', 'DEALMIA', 37.5, 'EUR', 'a1b2c3', now())`.execute(db);
  await sql`
    update reporting.return_months set new_customers = 1, unknown_orders = 0, influencer_handle = ${HOSTILE}, last_won_at = now()`.execute(
    db,
  );
  await sql`
    insert into reporting.code_use_days (day_utc, code_folded, orders, without_link)
    select current_date - n, (select min(code_folded) from intake.codes where deal_id = 'DEALMIA'), case n when 1 then 20 else 2 end,
      case n when 1 then 20 else 0 end
    from generate_series(1, 60) n`.execute(db);
}

/** Adds an open problem and the result of its notice. */
async function addNotices({ db }: Workshop): Promise<void> {
  await sql`
    insert into ops.problems (kind, job, severity, since, observed_at, told_severity, amounts, summary, command, page)
    values ('doubts', 'orders', 'error', now(), now(), 'error', '[{"amount": "20.0000", "currency": "EUR"}]', ${HOSTILE},
      'npx influencer-sync review', '/doubts')`.execute(db);
  const message = {
    problem: 'doubts',
    job: HOSTILE,
    severity: 'error',
    amounts: [{ amount: '20.0000', currency: 'EUR' }],
    summary: HOSTILE,
  };
  await sql`insert into ops.notices (problem_id, event, message) values (1, 'opened', ${JSON.stringify(message)}::jsonb)`.execute(
    db,
  );
  await sql`
    insert into ops.notice_deliveries (notice_id, channel, state, attempts, last_error, sent_at)
    values (1, 'ops', 'given_up', 3, 'HTTP 500', null), (1, 'chat', 'sent', 1, null, now())`.execute(db);
}

/** Adds a worker that is doing a unit, one that was killed, and a unit that failed. */
async function addWorkers({ db }: Workshop): Promise<void> {
  await sql`
    with alive as (
      insert into ops.workers (host, pid, version, kinds, concurrency, worker_id, seen_at)
      select ${HOSTILE}, n, ${HOSTILE}, '{read-source,post-share}', 2, gen_random_uuid(), now() - (n - 1) * interval '1 hour' from generate_series(1, 2) n
      returning worker_id, pid
    )
    insert into ops.work_units (run_id, run_owner, job, kind, payload, state, attempt, worker_id, done, result, begun_at, seen_at, ended_at)
    select 2, gen_random_uuid(), 'orders', 'read-source', jsonb_build_object('source', ${HOSTILE}::text), s.state, 1, a.worker_id, 120, s.result, now(), now(), s.at
    from alive a, (values ('open', null, null), ('failed', jsonb_build_object('message', ${HOSTILE}::text, 'help', ${HOSTILE}::text), now()))
      as s (state, result, at)
    where a.pid = 1`.execute(db);
}

/** Adds a plan that waits to be executed and one that was executed. */
async function addBackfills({ db }: Workshop): Promise<void> {
  const plan = {
    files: [{ source: 'shop', uri: `file:///exports/${HOSTILE}`, version: '1', orders: 3 }],
    groups: [
      { month: '2023-04', standing: 'to_post', reason: null, currency: 'EUR', orders: 2, amount: '20.0000' },
      {
        month: '2023-05',
        standing: 'excluded',
        reason: 'refunded',
        currency: 'EUR',
        orders: 1,
        amount: '5.0000',
      },
    ],
    ofTheRuns: 0,
    undated: 0,
  };
  const period = { from_day: '2023-01-01', to_day: '2023-12-31', time_zone: 'Europe/Amsterdam' };
  const common = { job: 'orders', ...period, plan_hash: 'a1b2c3', plan: JSON.stringify(plan), run_id: '1' };
  await db
    .insertInto('ops.backfills')
    .values({ ...common, state: 'planned' })
    .execute();
  await db
    .insertInto('ops.backfills')
    .values({ ...common, state: 'done', approved_by: 'ann', approved_at: new Date(), problem: HOSTILE })
    .execute();
}

async function addBadFiles(shop: Workshop): Promise<Readonly<Record<string, string>>> {
  shop.drop('bad.csv', toCsv([{ id: '<i>B1</i>', revenue: HOSTILE.replaceAll(',', ' ') }]));
  shop.drop("<i>'held'.csv", '<script>alert(1)</script>,other\n1,2\n');
  await shop.run();
  await sql`
    insert into ops.audit (actor, via, action, subject_kind, subject, summary, reason, before, after)
    values ('ann', 'console', 'close_statement', 'statement', ${HOSTILE}, ${HOSTILE}, ${HOSTILE}, null,
      jsonb_build_object('hash', repeat('a', 64), 'why', ${HOSTILE}::text))`.execute(shop.db);
  const { rows } = await sql<{ file: string; record: string }>`
    select source_file_id as file, record_no as record from intake.rejected_rows`.execute(shop.db);
  const [row] = rows;
  if (row === undefined) throw new Error('no row was rejected');
  return row;
}
