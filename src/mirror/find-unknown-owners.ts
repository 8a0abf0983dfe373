import { sql } from 'kysely';
import type { CodeProblem } from '../core/report.ts';
import { didYouMean } from '../core/text/did-you-mean.ts';
import { foldHandle } from '../core/text/fold.ts';
import { type Database, rowsOf, toJsonParameter } from '../db/statement.ts';
import { mayBeOneOf } from './known-handles.ts';

/** The owner of a code, as a line of codes.csv states it. */
export type NamedOwner = {
  readonly line: number;
  readonly brandId: string | null;
  readonly handle: string | null;
  readonly dealId: string | null;
  readonly collabId: string | null;
};

/** Maximum number of handles that are compared to suggest a correction of a misspelt one. */
const MOST_HANDLES = 50_000;

type Unknown = { readonly line: number; readonly column: string; readonly value: string };

/**
 * Finds owners and brands that the mirror has searched for and not found, or that are missing although the
 * mirror knows all of their kind. Returns each once, at the first line that names it. The mirror is only as
 * new as its last run, and the service has no listing of deals, so an unknown owner is not necessarily a
 * mistake.
 *
 * @returns null if nothing was mirrored yet, because then no owner is known.
 */
export async function findUnknownOwners(
  db: Database,
  owners: readonly NamedOwner[],
): Promise<readonly CodeProblem[] | null> {
  const publication = await db.selectFrom('mirror.publications').limit(1).executeTakeFirst();
  if (publication === undefined) return null;
  const named = owners.map(({ line, brandId, dealId, collabId }) => ({
    line,
    brand_id: brandId,
    // The address of a deal's page may be given instead of its id. `mirror-account` has extracted the id from
    // it.
    deal_id: dealId === null || dealId.includes('/') ? null : dealId,
    collab_id: collabId,
  }));
  const rows = await rowsOf<Unknown>(db)`
    with named as (
      select * from jsonb_to_recordset(${toJsonParameter(named)}::jsonb)
        as n(line integer, brand_id text, deal_id text, collab_id text)),
    unknown as (
      select line, 'brand_id' as column, brand_id as value from named
      where brand_id is not null and exists (select from mirror.brand_versions)
        and not exists (select from mirror.brand_versions b
          where b.brand_id = named.brand_id and b.is_current)
      union all
      select line, 'deal_id', deal_id from named
      where exists (select from mirror.known_deals k
        where k.deal_id = named.deal_id and k.not_found_at is not null)
      union all
      select line, 'collab_id', collab_id from named
      where deal_id is null and collab_id is not null and exists (select from mirror.collaboration_versions)
        and not exists (select from mirror.collaboration_versions c
          where c.collab_id = named.collab_id and c.is_current)
)
    select min(line) as line, "column", value from unknown group by "column", value order by 1, 2`;
  const ofHandles = await unknownHandles(db, owners);
  const all = [...rows, ...ofHandles].toSorted((one, other) => one.line - other.line);
  const handles = ofHandles.length > 0 ? await knownHandles(db) : [];
  return all.map((row) => ({ ...row, ...explain(row, handles) }));
}

async function unknownHandles(db: Database, owners: readonly NamedOwner[]): Promise<readonly Unknown[]> {
  const named = owners.flatMap(({ line, handle, dealId, collabId }) =>
    handle === null || dealId !== null || collabId !== null
      ? []
      : [{ line, handle, folded: foldHandle(handle) }],
  );
  if (named.length === 0) return [];
  const wanted = [...new Set(named.map(({ folded }) => folded))];
  const rows = await rowsOf<{ handle: string }>(db)`
    select influencer_handle as handle from mirror.deal_versions
    where is_latest and influencer_handle is not null and ${mayBeOneOf(sql`influencer_handle`, wanted)}
    union
    select handle from mirror.known_handles
    where (asked_at is null or deals_found > 0) and ${mayBeOneOf(sql`handle`, wanted)}`;
  const known = new Set(rows.map(({ handle }) => foldHandle(handle)));
  const unknown = new Map(
    named
      .filter(({ folded }) => !known.has(folded))
      .reverse()
      .map(({ line, handle }) => [handle, line]),
  );
  return [...unknown].map(([value, line]) => ({ line, column: 'influencer_handle', value }));
}

async function knownHandles(db: Database): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('mirror.deal_versions')
    .select('influencer_handle as handle')
    .distinct()
    .where('is_latest', '=', true)
    .limit(MOST_HANDLES)
    .execute();
  return rows.flatMap(({ handle }) => handle ?? []);
}

const WORDS: Readonly<Record<string, string>> = {
  brand_id: 'brand',
  deal_id: 'deal',
  collab_id: 'collaboration',
  influencer_handle: 'influencer with this handle',
};

function explain(
  { column, value }: Unknown,
  handles: readonly string[],
): Pick<CodeProblem, 'reason' | 'help'> {
  const near = column === 'influencer_handle' ? didYouMean(value, handles) : null;
  return {
    reason: `The mirror knows no such ${WORDS[column] ?? 'owner'}.`,
    help: `${near === null ? '' : `Did you mean "${near}"? `}If it is new at the service, the next run of mirror-account finds it.`,
  };
}
