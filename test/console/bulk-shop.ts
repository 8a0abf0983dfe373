import { sql } from 'kysely';
import type { Bulk } from '../../src/core/bulk.ts';
import type { Database } from '../../src/db/connect.ts';
import { findBulk } from '../../src/reports/bulk/read-bulk.ts';
import { waitFor } from '../support/wait-for.ts';
import { type ConsoleServer, textOf } from './console-server.ts';

/** Adds `count` doubts of one euro each for deal D1, one minute old. Their job is `attribute-orders`. */
export async function addDoubts(db: Database, count: number): Promise<void> {
  await sql`
    insert into ledger.entries (effect, account_id, key, state, attempt, doubtful_attempt, body, body_hash, job, source, order_platform, order_id,
      amount, currency, state_reason, run_id, state_changed_at)
    select 'referral', 'ACC-1', 'k' || k, 'in_doubt', 1, 1, json_build_object('deal_id', 'D1', 'order_id', 'B' || k)::text, 'h',
      'attribute-orders', 'shop-orders', 'shopify', 'B' || k, 1.00, 'EUR', 'no answer in time', (select max(run_id) from ops.runs),
      clock_timestamp() - interval '1 minute'
    from generate_series((select coalesce(max(entry_id), 0) + 1 from ledger.entries), (select coalesce(max(entry_id), 0) + ${count} from ledger.entries)) k`.execute(
    db,
  );
}

/** Records that the service accepted order 1001 of the seeded ledger twice and order 1002 three times. */
export async function addDoubleCredits(db: Database): Promise<void> {
  await sql`
    insert into ledger.answers (entry_id, attempt, kind, http_status, message, deal_id, via, applied)
    select e.entry_id, again.attempt, 'accepted', 200, 'Order added.', 'D1', 'direct', false
    from ledger.entries e join (values ('1001', 2), ('1002', 2), ('1002', 3)) again (order_id, attempt) using (order_id)`.execute(
    db,
  );
}

/** Returns the hidden fields of the form on a page that submits to an address. */
export function hiddenFields(page: string, action: string): Record<string, string> {
  const form = page.split('<form').find((part) => part.includes(`action="${action}"`)) ?? '';
  return Object.fromEntries(
    [...form.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)">/g)].map(
      ([, name = '', value = '']) => [name, value],
    ),
  );
}

export type Preview = { readonly bulkId: string; readonly text: string; readonly path: string };

/** Previews an action on all entries that a page of doubts shows, as its form does. */
export async function previewAll(
  { get, post }: ConsoleServer,
  fields: Readonly<Record<string, string>>,
  path = '/doubts',
): Promise<Preview> {
  const shown = hiddenFields((await get(path)).text, '/bulk/preview');
  return toPreview(await post('/bulk/preview', { ...shown, scope: 'all', reason: 'looked up', ...fields }));
}

/** Parses the answer to a preview. */
export function toPreview({ url, text, status }: { url: string; text: string; status: number }): Preview {
  const bulkId = /\/bulk\/(\d+)\?done=\d+$/.exec(url)?.[1];
  if (bulkId === undefined) throw new Error(`no preview: ${status} ${textOf(text)}`);
  return { bulkId, text: textOf(text), path: `/bulk/${bulkId}` };
}

/** Confirms an action as the page of the preview does. */
export async function confirm(
  { get, post }: ConsoleServer,
  { path }: Preview,
  fields: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number; readonly text: string }> {
  const shown = hiddenFields((await get(path)).text, '/bulk/confirm');
  const { status, text } = await post('/bulk/confirm', { ...shown, reason: 'looked up', ...fields });
  return { status, text: textOf(text) };
}

/** Waits until the bulk action has ended. */
export async function ended(db: Database, bulkId: string): Promise<Bulk & Outcome> {
  await waitFor(async () => (await findBulk(db, bulkId))?.endedAt != null);
  const bulk = await findBulk(db, bulkId);
  const { rows } = await sql<Outcome>`
    select settled, changed, failed from ops.bulk_actions where bulk_id = ${bulkId}::bigint`.execute(db);
  return { ...(bulk as Bulk), ...(rows[0] as Outcome) };
}

type Outcome = { readonly settled: number; readonly changed: number; readonly failed: number };

/** Counts the decisions, the entries that they are about, and their audit records. */
export async function countDecisions(db: Database): Promise<unknown> {
  const { rows } = await sql`
    select count(d.*)::int as decisions, count(distinct d.entry_id)::int as entries,
      (select count(*)::int from ops.audit where action = 'settle_doubt') as audited,
      (select count(distinct subject)::int from ops.audit where action = 'settle_doubt') as "entriesAudited"
    from ledger.decisions d`.execute(db);
  return rows[0];
}
