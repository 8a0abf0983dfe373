import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';
import { toJsonParameter } from '../db/to-json-parameter.ts';
import { foldHandle } from './read-suggestions.ts';

export type DueHandle = { readonly handleFolded: string; readonly handle: string };

/** The result of requesting the deals of a handle. */
export type AskedHandle = {
  readonly handleFolded: string;
  readonly askedAt: Date;
  /** Null if the request failed. */
  readonly dealsFound: number | null;
  readonly problem: string | null;
};

/**
 * Records every handle that codes.csv and orders name. @returns the number of handles that were new or were
 * discovered in a new way.
 */
export async function meetNamedHandles(db: Database): Promise<number> {
  const { rows } = await sql`
    ${remember(sql`
      select handle_folded, min(handle) as handle, way from (
        select lower(ltrim(trim(influencer_handle), '@')) as handle_folded, trim(influencer_handle) as handle, 'codes' as way
        from intake.codes where influencer_handle is not null
        union all
        select lower(ltrim(trim(influencer_handle), '@')), trim(influencer_handle), 'order'
        from intake.orders where influencer_handle is not null) n
      where length(handle_folded) between 1 and 200 group by handle_folded, way`)}`.execute(db);
  return rows.length;
}

/** Records handles that an autocomplete answer names without their deals. */
export async function meetHandles(db: Database, handles: readonly string[]): Promise<void> {
  if (handles.length === 0) return;
  const named = handles.map((handle) => ({ handle, handle_folded: foldHandle(handle) }));
  await sql`
    ${remember(sql`
      select handle_folded, min(handle) as handle, 'autocomplete' as way
      from jsonb_to_recordset(${toJsonParameter(named)}::jsonb) as n(handle_folded text, handle text)
      where length(handle_folded) between 1 and 200 group by handle_folded`)}`.execute(db);
}

function remember(named: ReturnType<typeof sql>) {
  return sql`
    insert into mirror.known_handles as k (handle_folded, handle, first_way, ways)
    select handle_folded, min(handle), min(way), array_agg(way order by way) from (${named}) m group by handle_folded
    on conflict (handle_folded) do update
    set ways = k.ways || array(select way from unnest(excluded.ways) way where way <> all (k.ways))
    where not excluded.ways <@ k.ways
    returning 1`;
}

/**
 * Lists handles to request: those never requested first, then those requested longest ago.
 *
 * @param options.askedBefore handles that were requested after this instant are not due.
 */
export async function dueHandles(
  db: Database,
  options: { readonly askedBefore: Date; readonly limit: number },
): Promise<readonly DueHandle[]> {
  const { rows } = await sql<{ handle_folded: string; handle: string }>`
    select handle_folded, handle from mirror.known_handles where ${isDue(options)}
    order by asked_at nulls first, handle_folded limit ${options.limit}`.execute(db);
  return rows.map((row) => ({ handleFolded: row.handle_folded, handle: row.handle }));
}

export async function countDueHandles(
  db: Database,
  options: { readonly askedBefore: Date },
): Promise<number> {
  const { rows } = await sql<{ due: string }>`
    select count(*) as due from mirror.known_handles where ${isDue(options)}`.execute(db);
  return Number(rows[0]?.due ?? 0);
}

function isDue({ askedBefore }: { readonly askedBefore: Date }) {
  return sql`(asked_at is null or asked_at <= ${askedBefore.toISOString()}::timestamptz)`;
}

export async function saveAskedHandles(db: Database, asked: readonly AskedHandle[]): Promise<void> {
  if (asked.length === 0) return;
  const rows = asked.map(({ handleFolded, askedAt, dealsFound, problem }) => ({
    handle_folded: handleFolded,
    asked_at: askedAt.toISOString(),
    deals_found: dealsFound,
    problem,
  }));
  await sql`
    update mirror.known_handles k
    set asked_at = a.asked_at, deals_found = coalesce(a.deals_found, k.deals_found), last_error = a.problem
    from jsonb_to_recordset(${toJsonParameter(rows)}::jsonb)
      as a(handle_folded text, asked_at timestamptz, deals_found integer, problem text)
    where k.handle_folded = a.handle_folded`.execute(db);
}
