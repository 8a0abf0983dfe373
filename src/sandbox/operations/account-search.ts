import { type Deal, foldHandle } from '../account.ts';
import { answer, type Handlers } from './operation.ts';

/** Maximum number of suggestions. */
const MAX_SUGGESTIONS = 20;

export const accountSearch: Handlers = {
  search_brands: ({ account }) => answer([...account.brands.values()]),
  search_dealflows: ({ account }) =>
    answer([...account.dealflows.values()].map(({ id, name, brandId }) => ({ id, name, brand_id: brandId }))),
  autocomplete: ({ account, query }) => {
    const wanted = foldHandle(query.q ?? '');
    const found: unknown[] = [];
    for (const deal of account.deals.values()) {
      if (found.length === MAX_SUGGESTIONS) break;
      if (namesOf(deal).some((name) => name.includes(wanted))) found.push(suggestion(deal));
    }
    return answer(found);
  },
};

function namesOf(deal: Deal): readonly string[] {
  const { first_name: first, last_name: last } = deal.details;
  const name = [first, last].filter((part) => typeof part === 'string').join(' ');
  return [foldHandle(deal.influencerHandle), name.toLowerCase()];
}

function suggestion(deal: Deal): unknown {
  const { id, influencerHandle, platform, brandId } = deal;
  return { deal_id: id, influencer_handle: influencerHandle, platform, brand_id: brandId };
}
