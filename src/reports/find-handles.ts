import { sql } from 'kysely';
import { foldHandle } from '../core/text/fold.ts';
import { type Database, rowsOf } from '../db/statement.ts';

/** A handle in the form that its spellings share, and the spellings that deals, codes and credited orders have. */
export type KnownHandle = { readonly folded: string; readonly spellings: readonly string[] };

/**
 * Finds handles. They are folded here and not in SQL, where lower case depends on the locale of the database. SQL only
 * chooses: of handles in ASCII without blanks, whose lower case is the same everywhere, those that match; and all others.
 *
 * @param options.partsUpTo finds this number of handles that contain the text; null for the handle itself.
 */
export async function findHandles(
  db: Database,
  text: string,
  { partsUpTo = null }: { partsUpTo?: number | null } = {},
): Promise<readonly KnownHandle[]> {
  const wanted = foldHandle(text);
  if (wanted === '') return [];
  const plain = sql`lower(ltrim(handle collate "C", '@'))`;
  const isFound =
    partsUpTo === null ? sql`${plain} = ${wanted}` : sql`position(${wanted}::text in ${plain}) > 0`;
  const ofReports = sql`
    union all select influencer_handle from reporting.return_months
    union all select influencer_handle from reporting.deal_earnings`;
  const rows = await rowsOf<{ handle: string }>(db)`
    with known as materialized (
      select distinct handle, handle ~ '[^!-~]' as is_unfolded from (
        select influencer_handle as handle from mirror.deal_versions where is_latest
        union all select influencer_handle from intake.codes
        union all select influencer_handle from reporting.deal_totals
        ${partsUpTo === null ? ofReports : sql``}) k
      where ${isFound} or handle ~ '[^!-~]'
    )
    (select handle from known where not is_unfolded
     order by ${plain}, handle limit ${partsUpTo === null ? null : partsUpTo * 4}::bigint)
    union all select handle from known where is_unfolded`;
  const found = Map.groupBy(
    rows.map(({ handle }) => handle),
    foldHandle,
  );
  return [...found]
    .filter(([folded]) => (partsUpTo === null ? folded === wanted : folded.includes(wanted)))
    .map(([folded, spellings]) => ({ folded, spellings: spellings.toSorted() }))
    .toSorted((one, other) => (one.folded < other.folded ? -1 : 1))
    .slice(0, partsUpTo ?? undefined);
}

/** All spellings of a handle in deals, codes and the sums of credited orders. Empty if nothing names it. */
export async function spellingsOf(db: Database, handle: string): Promise<readonly string[]> {
  return (await findHandles(db, handle)).flatMap(({ spellings }) => spellings);
}
