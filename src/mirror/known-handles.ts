import { type RawBuilder, sql } from 'kysely';
import { foldHandle } from '../core/text/fold.ts';
import { type Database, execute, rowsOf, toJsonParameter } from '../db/statement.ts';

export type DueHandle = { readonly handleFolded: string; readonly handle: string };

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
  const rows = await rowsOf<NamedHandle>(db)`
    select distinct influencer_handle as handle, 'codes' as way
    from intake.codes
    where influencer_handle is not null
    union all
    select distinct influencer_handle, 'order' from intake.orders where influencer_handle is not null`;
  return remember(db, rows);
}

/** Records handles that an autocomplete answer names without their deals. */
export async function meetHandles(db: Database, handles: readonly string[]): Promise<void> {
  if (handles.length > 0)
    await remember(
      db,
      handles.map((handle) => ({ handle, way: 'autocomplete' })),
    );
}

type NamedHandle = { readonly handle: string; readonly way: string };

/**
 * SQL that is false if the handle in a column is surely none of these, folded. Only of handles in ASCII without blanks,
 * the lower case is the same in every database; fold the others to compare them.
 */
export function mayBeOneOf(column: RawBuilder<unknown>, folded: readonly string[]): RawBuilder<boolean> {
  return sql<boolean>`(${column} ~ '[^!-~]' or lower(ltrim(${column} collate "C", '@')) = any(${[...folded]}::text[]))`;
}

const MAX_CHARS = 200;

/** @returns the number of handles that are new, or that were discovered in a new way. */
async function remember(db: Database, named: readonly NamedHandle[]): Promise<number> {
  const handles = named
    .map(({ handle, way }) => ({ handle: handle.trim(), handle_folded: foldHandle(handle), way }))
    .filter(({ handle_folded: folded }) => folded.length > 0 && folded.length <= MAX_CHARS);
  return execute(db)`
    insert into mirror.known_handles as k (handle_folded, handle, first_way, ways)
    select handle_folded, min(handle), min(way), array_agg(distinct way order by way)
    from jsonb_to_recordset(${toJsonParameter(handles)}::jsonb) as m(handle_folded text, handle text,
      way text)
    group by handle_folded
    on conflict (handle_folded) do update
    set ways = k.ways || array(select way from unnest(excluded.ways) way where way <> all (k.ways))
    where not excluded.ways <@ k.ways`;
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
  return selectDue(db, options.askedBefore)
    .select(['handle_folded as handleFolded', 'handle'])
    .orderBy('asked_at', (order) => order.asc().nullsFirst())
    .orderBy('handle_folded')
    .limit(options.limit)
    .execute();
}

export async function countDueHandles(db: Database, askedBefore: Date): Promise<number> {
  const counted = selectDue(db, askedBefore).select(({ fn }) => fn.countAll().as('due'));
  return Number((await counted.executeTakeFirstOrThrow()).due);
}

function selectDue(db: Database, askedBefore: Date) {
  return db
    .selectFrom('mirror.known_handles')
    .where((eb) => eb.or([eb('asked_at', 'is', null), eb('asked_at', '<=', askedBefore)]));
}

export async function saveAskedHandles(db: Database, asked: readonly AskedHandle[]): Promise<void> {
  if (asked.length === 0) return;
  const rows = asked.map(({ handleFolded, askedAt, dealsFound, problem }) => ({
    handle_folded: handleFolded,
    asked_at: askedAt.toISOString(),
    deals_found: dealsFound,
    problem,
  }));
  await execute(db)`
    update mirror.known_handles k
    set asked_at = a.asked_at, deals_found = coalesce(a.deals_found, k.deals_found), last_error = a.problem
    from jsonb_to_recordset(${toJsonParameter(rows)}::jsonb)
      as a(handle_folded text, asked_at timestamptz, deals_found integer, problem text)
    where k.handle_folded = a.handle_folded`;
}
