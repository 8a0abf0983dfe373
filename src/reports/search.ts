import { sql } from 'kysely';
import { foldCode, foldHandle } from '../core/text/fold.ts';
import type { Database } from '../db/connect.ts';
import { listFilesRead } from './files/list-files.ts';
import { findOrders } from './lives/explain-order.ts';
import { findRun } from './runs/list-runs.ts';

/** Something that a search found, and what identifies its page. */
export type Found =
  | {
      readonly kind: 'order';
      readonly name: string;
      readonly source: string | null;
      readonly orderId: string;
    }
  | { readonly kind: 'creator' | 'deal' | 'run'; readonly name: string; readonly note: string | null }
  | { readonly kind: 'code'; readonly name: string; readonly job: string; readonly owner: string | null }
  | { readonly kind: 'file'; readonly name: string; readonly sourceFileId: string; readonly note: string };

/**
 * Searches orders, creators, deals, codes, files and runs. Letters may be in either case. Orders are found by their
 * whole id or name, because there may be millions; everything else by a part.
 *
 * @param options.limit most results of each kind.
 * @param options.isSuggestion leaves out what only a whole name finds slowly.
 */
export async function search(
  db: Database,
  text: string,
  { limit, isSuggestion = false }: { readonly limit: number; readonly isSuggestion?: boolean },
): Promise<readonly Found[]> {
  const [orders, creators, deals, codes, files, run] = await Promise.all([
    isSuggestion ? [] : findOrders(db, { order: text }),
    findCreators(db, text, limit),
    findDeals(db, text, limit),
    findCodes(db, text, limit),
    listFilesRead(db, { name: text, limit }),
    /^\d{1,18}$/.test(text) ? findRun(db, text) : null,
  ]);
  return [
    ...orders.map(({ source, orderId, orderName }) => ({
      kind: 'order' as const,
      ...{ name: orderName ?? orderId, source, orderId },
    })),
    ...creators,
    ...deals,
    ...codes,
    ...files.map(({ uri, sourceFileId, source, state }) => ({
      kind: 'file' as const,
      ...{ name: uri, sourceFileId, note: `${source}, ${state}` },
    })),
    ...(run === null ? [] : [{ kind: 'run' as const, name: run.runId, note: run.job }]),
  ];
}

async function findCreators(db: Database, text: string, limit: number): Promise<readonly Found[]> {
  const folded = foldHandle(text);
  if (folded === '') return [];
  const { rows } = await sql<{ name: string; deals: string }>`
    select min(name) as name, count(distinct deal_id) as deals
    from (
      select influencer_handle as name, deal_id from mirror.deal_versions where is_latest and is_current
      union all
      select influencer_handle, deal_id from intake.codes) known
    where position(${folded}::text in lower(ltrim(name, '@'))) > 0
    group by lower(ltrim(name, '@')) order by lower(ltrim(name, '@')) limit ${limit}`.execute(db);
  return rows.map(({ name, deals }) => ({
    kind: 'creator',
    name,
    note: deals === '1' ? '1 deal' : `${deals} deals`,
  }));
}

async function findDeals(db: Database, text: string, limit: number): Promise<readonly Found[]> {
  const { rows } = await sql<{ name: string; note: string | null }>`
    select deal_id as name, influencer_handle as note from mirror.deal_versions
    where is_latest and starts_with(upper(deal_id), upper(${text}::text)) order by deal_id limit ${limit}`.execute(
    db,
  );
  return rows.map((row) => ({ kind: 'deal', ...row }));
}

async function findCodes(db: Database, text: string, limit: number): Promise<readonly Found[]> {
  const { rows } = await sql<{ name: string; job: string; owner: string | null }>`
    select min(code) as name, job, min(coalesce(influencer_handle, deal_id, collab_id)) as owner from intake.codes
    where code_folded is not null and starts_with(code_folded, ${foldCode(text)}::text) group by job, code_folded
    union all
    (select distinct on (job, code_folded) code, job, null from reporting.code_days
     where carried_as = 'code' and starts_with(code_folded, ${foldCode(text)}::text) order by job, code_folded limit ${limit})
    order by name limit ${limit}`.execute(db);
  return rows.map((row) => ({ kind: 'code', ...row }));
}
