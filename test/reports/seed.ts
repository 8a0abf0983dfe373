import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from '../../src/db/connect.ts';

export const JOB = 'attribute-orders';
export const SOURCE = 'shop-orders';
export const FILE = 'file:///exports/orders-2026-04.csv';

export type Seeded = {
  readonly runId: string;
  readonly doubtId: string;
  readonly lostId: string;
  readonly refusedId: string;
};

type OrderSeed = {
  readonly id: string;
  readonly total: string;
  readonly currency?: string;
  readonly codes?: readonly string[];
  readonly line: number;
  readonly outcome: 'attributed' | 'unattributed' | 'organic' | 'excluded' | 'held';
  readonly reason?: string;
  readonly state?: string;
  readonly since?: string;
};

/**
 * Seeds a job after its second run: 14 orders in two sealed files covering each disposition, two doubts (one
 * from a process that is gone), one rejected row, one held file, and one order of a file that is still being
 * read.
 */
export async function seedRuns(db: Database): Promise<Seeded> {
  const firstRun = await insertRun(db, { at: '2026-04-01T01:00:00Z', status: 'ok' });
  const runId = await insertRun(db, { at: '2026-04-02T01:00:00Z', status: 'running' });
  await sql`update ops.runs set counts = ${JSON.stringify({ entries: { accepted: 2 } })}::jsonb,
    amounts = '[{"currency":"EUR","accepted":"30.0000"}]'::jsonb where run_id = ${firstRun}`.execute(db);
  await sql`insert into ops.account (account_id) values ('ACC-1')`.execute(db);

  const before = '2026-04-01T01:05:00Z';
  const now = '2026-04-02T01:05:00Z';
  const first = await insertFile(db, {
    run: firstRun,
    uri: 'file:///exports/orders-2026-03.csv',
    state: 'sealed',
    rows: 3,
  });
  await insertOrders(db, { run: firstRun, file: first }, [
    {
      id: '9001',
      total: '10.00',
      codes: ['MARA15'],
      line: 2,
      outcome: 'attributed',
      state: 'accepted',
      since: before,
    },
    {
      id: '9002',
      total: '20.00',
      codes: ['MARA15'],
      line: 3,
      outcome: 'excluded',
      reason: 'cancelled',
      state: 'accepted',
      since: before,
    },
  ]);

  const second = await insertFile(db, { run: runId, uri: FILE, state: 'sealed', rows: 13 });
  const entries = await insertOrders(db, { run: runId, file: second }, [
    {
      id: '1001',
      total: '1234.50',
      codes: ['MARA15'],
      line: 2,
      outcome: 'attributed',
      state: 'accepted',
      since: now,
    },
    {
      id: '1002',
      total: '0.10',
      currency: 'USD',
      codes: ['MARA15'],
      line: 3,
      outcome: 'attributed',
      state: 'accepted',
      since: now,
    },
    { id: '1003', total: '55.00', codes: ['MARA15'], line: 4, outcome: 'attributed', state: 'ready' },
    { id: '1004', total: '44.00', codes: ['MARA15'], line: 5, outcome: 'attributed', state: 'rejected' },
    { id: '1005', total: '33.00', codes: ['MARA15'], line: 6, outcome: 'attributed', state: 'in_doubt' },
    { id: '1006', total: '22.00', codes: ['MARA15'], line: 7, outcome: 'attributed', state: 'sending' },
    {
      id: '1007',
      total: '80.00',
      codes: ['SUMMER 5'],
      line: 8,
      outcome: 'unattributed',
      reason: 'unknown_code',
    },
    {
      id: '1008',
      total: '70.00',
      codes: ['summer5', 'XMAS'],
      line: 9,
      outcome: 'unattributed',
      reason: 'unknown_code',
    },
    { id: '1009', total: '9.00', line: 10, outcome: 'organic' },
    { id: '1010', total: '8.00', codes: ['MARA15'], line: 11, outcome: 'excluded', reason: 'test' },
    {
      id: '1011',
      total: '7.00',
      codes: ['MARA15', 'JONAS10'],
      line: 12,
      outcome: 'held',
      reason: 'ambiguous_codes',
    },
    { id: '1012', total: '6.00', codes: ['MARA15'], line: 13, outcome: 'attributed', state: 'written_off' },
  ]);
  await sql`insert into intake.rejected_rows (source_file_id, line_no, record_no, code, column_name, value, reason, help, run_id)
    values (${second}, 14, 13, 'bad_money', 'Total', '12,3x', 'It is not an amount of money.', 'Write it like 1249.00.', ${runId})`.execute(
    db,
  );
  await insertFile(db, { run: runId, uri: 'file:///exports/other.csv', state: 'held', rows: 0 });
  const unfinished = await insertFile(db, {
    run: runId,
    uri: 'file:///exports/half.csv',
    state: 'reading',
    rows: 0,
  });
  await insertOrders(db, { run: runId, file: unfinished }, [
    { id: '7001', total: '1.00', line: 2, outcome: 'organic' },
  ]);

  await sql`update intake.source_files f set orders_new = (
    select count(*) from intake.orders o where o.source_file_id = f.source_file_id and o.is_current) where f.state = 'sealed'`.execute(
    db,
  );
  await sql`insert into intake.attributed_files (job, source_file_id, rules_hash)
    select ${JOB}, source_file_id, 'r' from intake.source_files where state = 'sealed'`.execute(db);

  const doubtId = entries.get('1005') ?? '';
  await sql`insert into ledger.evidence (kind, order_platform, order_id, deal_id, amount, currency, body_sha256)
    values ('webhook_order', 'shopify', '1005', 'D1', 33, 'EUR', 'x')`.execute(db);
  const accepted = entries.get('1001') ?? '';
  await sql`insert into ledger.answers (entry_id, attempt, kind, http_status, message, deal_id, via, applied)
    values (${accepted}, 1, 'accepted', 200, 'Order added.', 'D1', 'direct', true)`.execute(db);
  return { runId, doubtId, lostId: entries.get('1006') ?? '', refusedId: entries.get('1004') ?? '' };
}

async function insertRun(db: Database, { at, status }: { at: string; status: string }): Promise<string> {
  const finished = status === 'running' ? null : at;
  const { rows } = await sql<{ run_id: string }>`
    insert into ops.runs (job, kind, status, started_at, finished_at, host, pid, exit_code)
    values (${JOB}, 'attribute-orders', ${status}, ${at}, ${finished}, 'host-1', 1, ${finished === null ? null : 0}) returning run_id`.execute(
    db,
  );
  return idOf(rows[0]?.run_id);
}

type FileSeed = {
  readonly run: string;
  readonly uri: string;
  readonly state: 'sealed' | 'held' | 'reading';
  readonly rows: number;
};

/** Inserts a file. With 13 rows, one of them is rejected; otherwise all are order rows. */
async function insertFile(db: Database, { run, uri, state, rows }: FileSeed): Promise<string> {
  const rejected = rows === 13 ? 1 : 0;
  const held = state === 'held';
  const inserted = await sql<{ source_file_id: string }>`
    insert into intake.source_files (source, uri, version, size_bytes, layout, layout_hash, state, reader, rows_read, order_rows,
      rejected_rows, run_id, sealed_at, hold_code, hold_message, hold_help)
    values (${SOURCE}, ${uri}, 'sha256:1', 100, 'shopify-orders', 'h', ${state}, ${state === 'reading' ? randomUUID() : null}::uuid, ${rows},
      ${rows - rejected}, ${rejected}, ${run}, ${state === 'sealed' ? new Date() : null}, ${held ? 'header_mismatch' : null},
      ${held ? 'The header lacks the column Total.' : null}, ${held ? 'Export it again with all columns.' : null})
    returning source_file_id`.execute(db);
  return idOf(inserted.rows[0]?.source_file_id);
}

async function insertOrders(
  db: Database,
  { run, file }: { run: string; file: string },
  orders: readonly OrderSeed[],
): Promise<Map<string, string>> {
  const entries = new Map<string, string>();
  for (const order of orders) {
    const currency = order.currency ?? 'EUR';
    const version = await sql<{ id: string }>`
      insert into intake.orders (source, order_id, source_file_id, is_current, content_hash, group_key, order_name, status, currency, total,
        codes, placed_at, line_no, record_no, row_count)
      values (${SOURCE}, ${order.id}, ${file}, true, ${order.id}, ${order.id}, ${`#${order.id}`}, 'paid', ${currency}, ${order.total},
        ${[...(order.codes ?? [])]}::text[], '2026-03-30T10:00:00Z', ${order.line}, ${order.line - 1}, 1) returning order_version_id as id`.execute(
      db,
    );
    const entryId = order.state === undefined ? null : await insertEntry(db, { run, order, currency });
    if (entryId !== null) entries.set(order.id, entryId);
    const target = order.outcome === 'attributed' ? 'mara.paints' : null;
    await sql`insert into intake.attributions (job, source, order_id, order_version_id, outcome, reason, matched_by, matched_value, target,
        brand_id, influencer_handle, amount, currency, entry_id, is_pending, rules_hash)
      values (${JOB}, ${SOURCE}, ${order.id}, ${idOf(version.rows[0]?.id)}, ${order.outcome}, ${order.reason ?? null},
        ${target === null ? null : 'code'}, ${order.codes?.[0] ?? null}, ${target}, '4819', ${target}, ${order.total}, ${currency}, ${entryId}, false, 'r')`.execute(
      db,
    );
  }
  return entries;
}

const REASONS: Readonly<Record<string, string>> = {
  rejected: 'HTTP 422: no such influencer',
  in_doubt: 'the connection was cut before the answer',
  written_off: 'written off by decision',
};

async function insertEntry(
  db: Database,
  { run, order, currency }: { run: string; order: OrderSeed; currency: string },
): Promise<string> {
  const { id, total, state = 'ready', since = '2026-04-02T01:05:00Z' } = order;
  const attempt = state === 'ready' ? 0 : 1;
  const doubtful = state === 'in_doubt' || state === 'written_off' ? 1 : null;
  const owner = state === 'sending' ? randomUUID() : null;
  const body = `{"influencer_handle":"mara.paints","order_id":"${id}","order_revenue":${total}}`;
  const { rows } = await sql<{ entry_id: string }>`
    insert into ledger.entries (effect, account_id, key, state, attempt, doubtful_attempt, owner, body, body_hash, job, source, order_platform,
      order_id, brand_id, amount, currency, state_reason, deal_id, run_id, state_changed_at)
    values ('referral', 'ACC-1', ${JSON.stringify(['shopify', id])}, ${state}, ${attempt}, ${doubtful}, ${owner}::uuid, ${body}, 'h', ${JOB},
      ${SOURCE}, 'shopify', ${id}, '4819', ${total}, ${currency}, ${REASONS[state] ?? null}, ${state === 'accepted' ? 'D1' : null}, ${run}, ${since})
    returning entry_id`.execute(db);
  const entryId = idOf(rows[0]?.entry_id);
  if (attempt > 0) {
    await sql`insert into ledger.attempts (entry_id, attempt, claim_id, owner, run_id, body_hash, claimed_at)
      values (${entryId}, 1, ${randomUUID()}, ${randomUUID()}, ${run}, 'h', ${since})`.execute(db);
  }
  return entryId;
}

function idOf(id: string | undefined): string {
  if (id === undefined) throw new Error('nothing was inserted');
  return id;
}
