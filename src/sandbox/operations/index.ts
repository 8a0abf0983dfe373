import { type Deal, foldHandle } from '../account/account.ts';
import { isPrivateHost } from '../events/private-address.ts';
import { affiliateTracking } from './affiliate-tracking.ts';
import { deals, dealWork, updateDealInfo } from './deals.ts';
import { identify, outreach } from './identify.ts';
import { answer, type Handlers, refuse } from './operation.ts';
import { search } from './search.ts';

const test: Handlers = {
  public_hello: () =>
    answer({ message: 'Your request was received. Try GET /v1/account/hello with your API key next.' }),
  account_hello: ({ account, userId }) =>
    answer({ message: `You are logged in - ${account.id} - ${userId}` }),
};

const webhooks: Handlers = {
  create_webhook: ({ account, body, allowsPrivateWebhooks }) => {
    const { webhook_url, webhook_type } = body;
    const { hostname, username, password } = new URL(webhook_url);
    if (username !== '' || password !== '')
      return refuse(400, 'webhook_url: it must not hold a user name or a password');
    if (!allowsPrivateWebhooks && isPrivateHost(hostname))
      return refuse(
        400,
        'webhook_url: an address of this machine or of a private network is refused (start the sandbox with --allow-private-webhooks to allow it)',
      );
    const id = idOf(webhook_type, webhook_url);
    if (account.webhooks.items.has(id))
      return refuse(409, 'This webhook_url is already registered for this webhook_type.');
    account.webhooks.set(id, { webhook_url, webhook_type });
    return answer({ message: 'The webhook was registered.' });
  },

  get_webhooks: ({ account }) => answer({ webhooks: [...account.webhooks.items.values()] }),

  delete_webhook: ({ account, body }) => {
    const isDeleted = account.webhooks.delete(idOf(body.webhook_type, body.webhook_url));
    if (!isDeleted)
      return refuse(400, 'There is no such webhook: webhook_url and webhook_type must both match.');
    return answer({ message: 'The webhook was deleted.' });
  },
};

function idOf(type: string, url: string): string {
  return `${type} ${url}`;
}

const MAX_SUGGESTIONS = 20;

const accountSearch: Handlers = {
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

/** All operations that the sandbox implements. To add one, add its file here. */
export const handlers: Handlers = {
  ...test,
  ...search,
  ...identify,
  ...outreach,
  ...deals,
  ...dealWork,
  ...updateDealInfo,
  ...affiliateTracking,
  ...accountSearch,
  ...webhooks,
};
