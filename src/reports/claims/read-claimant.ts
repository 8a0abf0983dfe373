import { sql } from 'kysely';
import { foldCode, foldHandle } from '../../core/text/fold.ts';
import type { Database } from '../../db/connect.ts';
import { spellingsOf } from '../find-handles.ts';
import type { Credited } from '../lives/entry-lives.ts';
import type { OrderAttribution, OrderLife } from '../lives/explain-order.ts';

/** A creator who claims orders, with everything that is known to belong to the same person. */
export type Claimant = {
  /** False if no deal, code or credited order names the creator: it may be a typing error. */
  readonly isKnown: boolean;
  /** Folded by `foldHandle`. */
  readonly handles: ReadonlySet<string>;
  readonly deals: ReadonlySet<string>;
  /** Codes of all jobs, folded by `foldCode`. */
  readonly codes: ReadonlySet<string>;
};

/** Whose a deal is, by the mirror, the codes and the credited orders. */
const OWNERS = sql`
  owners as (
    select deal_id, influencer_handle as handle from mirror.deal_versions where is_latest
    union select deal_id, influencer_handle from intake.codes
    union select deal_id, influencer_handle from reporting.deal_totals
  )`;

/** Reads what belongs to a creator. @param creator a handle or a deal, as a person writes it. */
export async function readClaimant(db: Database, creator: string): Promise<Claimant> {
  const { rows: own } = await sql<{ handle: string | null }>`
    with ${OWNERS} select distinct handle from owners where deal_id = ${creator}`.execute(db);
  const isDeal = own.length > 0;
  const written = isDeal ? own.flatMap(({ handle }) => handle ?? []) : [creator];
  const spellings = (await Promise.all(written.map((handle) => spellingsOf(db, handle)))).flat();
  const { rows: deals } = await sql<{ id: string }>`
    with ${OWNERS} select distinct deal_id as id from owners where handle = any(${spellings}::text[]) and deal_id is not null`.execute(
    db,
  );
  const ids = [...deals.map(({ id }) => id), ...(isDeal ? [creator] : [])];
  const { rows: codes } = await sql<{ code: string }>`
    select distinct code_folded as code from intake.codes
    where code_folded is not null and (deal_id = any(${ids}::text[]) or influencer_handle = any(${spellings}::text[]))`.execute(
    db,
  );
  return {
    isKnown: isDeal || spellings.length > 0,
    handles: new Set(spellings.map(foldHandle)),
    deals: new Set(ids),
    codes: new Set(codes.map(({ code }) => code)),
  };
}

/**
 * Tells whether something is credited to the claimant. Null: it is not known, because the claimant, or whose the deal
 * is, is unknown. Another spelling, or another deal of the same creator, is the claimant.
 */
export async function isOf(
  db: Database,
  claimant: Claimant,
  { dealId, handle }: Credited,
): Promise<boolean | null> {
  if (dealId !== null && claimant.deals.has(dealId)) return true;
  const { rows } = await sql<{ handle: string }>`
    with ${OWNERS} select distinct handle from owners where deal_id = ${dealId} and handle is not null`.execute(
    db,
  );
  const handles = [...rows.map((row) => row.handle), ...(handle === null ? [] : [handle])].map(foldHandle);
  if (handles.some((one) => claimant.handles.has(one))) return true;
  return handles.length > 0 && claimant.isKnown && claimant.handles.size > 0 ? false : null;
}

/**
 * Tells of everything that the versions of an order carry whether it is the claimant's: true, false if it belongs to a
 * known other creator, and null if it is not known whose it is. Empty: the order carries nothing.
 *
 * @param decided the decision, which says whose a link is.
 */
export async function ownsEvidence(
  db: Database,
  claimant: Claimant,
  { versions, attributions }: Pick<OrderLife, 'versions' | 'attributions'>,
  decided: OrderAttribution | undefined,
): Promise<readonly (boolean | null)[]> {
  const counted = versions.filter(({ fileState }) => fileState === 'sealed');
  const found: (boolean | null)[] = counted.some(({ isCurrent }) => isCurrent) ? [] : [null];
  const jobs = new Set(attributions.map(({ job }) => job));
  const codes = new Set(counted.flatMap((version) => version.codes.map(foldCode)));
  const { rows } = await sql<Credited & { readonly code: string; readonly job: string }>`
    select code_folded as code, job, deal_id as "dealId", influencer_handle as handle from intake.codes
    where code_folded = any(${[...codes]}::text[])`.execute(db);
  for (const code of codes) {
    // What a code of another job says is no proof that it belongs to nobody else.
    const owners = rows.filter((row) => row.code === code && jobs.has(row.job));
    const isOwner = await Promise.all(owners.map((owner) => isOf(db, claimant, owner)));
    if (claimant.codes.has(code) || isOwner.includes(true)) found.push(true);
    else found.push(isOwner.length > 0 && !isOwner.includes(null) ? false : null);
  }
  const links = new Set(counted.flatMap((version) => version.links));
  const winner = { dealId: decided?.dealId ?? null, handle: decided?.influencerHandle ?? null };
  // Only of the link that decided it is known whose it is.
  const isDecided = links.size === 1 && decided?.matchedBy === 'link';
  if (links.size > 0) found.push(isDecided ? await isOf(db, claimant, winner) : null);
  for (const { dealId, influencerHandle: handle, collabId } of counted) {
    if (dealId === null && handle === null && collabId === null) continue;
    const isOwn = await isOf(db, claimant, { dealId, handle });
    // A handle that nothing else names may be the claimant's, misspelt.
    const isStranger = dealId === null && handle !== null && (await spellingsOf(db, handle)).length === 0;
    found.push(isStranger && isOwn === false ? null : isOwn);
  }
  return found;
}
