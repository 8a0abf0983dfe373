import { type Answer, refuse } from '../operations/operation.ts';
import { type Account, type Collaboration, dealsOf } from './account.ts';

/** The members that identify a collaboration in a click or a referral. */
export type Identification = {
  readonly deal_id?: string | undefined;
  readonly influencer_handle?: string | undefined;
  readonly collab_id?: string | undefined;
  readonly brand_id?: number | undefined;
};

export type Found =
  | { readonly kind: 'found'; readonly collaboration: Collaboration }
  | { readonly kind: 'refused'; readonly answer: Answer };

/**
 * Finds one collaboration: by `collab_id`, else by deal (id or page address), else by influencer. `brand_id`
 * narrows the choice. If several remain, the request is refused, because it is unclear which one earned the
 * order.
 */
export function findCollaboration(account: Account, named: Identification): Found {
  const { brand_id: brandId } = named;
  if (brandId !== undefined && !account.brands.has(brandId)) {
    return refused(404, `Brand not found: there is no brand_id ${brandId}.`);
  }
  const candidates = candidatesOf(account, named);
  if (typeof candidates === 'string') return refused(404, candidates);
  const [first, second] =
    brandId === undefined
      ? candidates
      : candidates.filter((collaboration) => collaboration.brandId === brandId);
  if (first === undefined)
    return refused(404, `Collaboration not found: this influencer has none with brand_id ${brandId}.`);
  if (second === undefined) return { kind: 'found', collaboration: first };
  const choose = brandId === undefined ? 'brand_id or collab_id' : 'deal_id or collab_id';
  return refused(400, `Several collaborations match: choose one with ${choose}.`);
}

/** Returns the deal id of a page address `{app_url}/deal/<deal_id>`, or the id itself. */
export function readDealId(idOrAddress: string): string {
  return /\/deal\/([^/?#]+)/.exec(idOrAddress)?.[1] ?? idOrAddress;
}

function candidatesOf(account: Account, named: Identification): readonly Collaboration[] | string {
  const { collab_id: collabId, deal_id: dealId, influencer_handle: handle } = named;
  if (collabId) {
    const collaboration = account.collaborations.get(collabId);
    if (collaboration === undefined) return 'Collaboration not found: there is no such collab_id.';
    if (dealId && readDealId(dealId) !== collaboration.deal.id)
      return 'Collaboration not found: collab_id is not one of deal_id.';
    return [collaboration];
  }
  if (dealId) {
    const deal = account.deals.get(readDealId(dealId));
    return deal === undefined ? 'Deal not found: there is no such deal_id.' : deal.collaborations;
  }
  const deals = dealsOf(account, handle ?? '');
  if (deals.length === 0) return 'Deal not found: no deal has this influencer_handle.';
  return deals.length === 1 && deals[0] !== undefined
    ? deals[0].collaborations
    : deals.flatMap((deal) => deal.collaborations);
}

function refused(status: number, message: string): Found {
  return { kind: 'refused', answer: refuse(status, message) };
}
