import fc from 'fast-check';
import type { Request } from '../../src/sandbox/answer-request.ts';
import type { Session } from '../../src/sandbox/operations/operation.ts';
import { PLATFORMS, type Platform } from '../../src/sandbox/search/population.ts';
import { filterPlatforms } from '../../src/service/contract/search-filter.ts';
import { type OperationName, operationOf } from '../../src/service/contract.ts';
import { arbitraryOf } from './arbitrary-request.ts';
import { plainFilters } from './plain-filters.ts';
import { population } from './quiet-world.ts';

const [influencer] = population.of('instagram');

/** Existing records, so that a request that fits the contract has something to work on. */
const EXISTING: Readonly<Record<string, unknown>> = {
  deal_id: 'ETUNQ6ZTW1',
  brand_id: 4819,
  dealflow_id: 'D_FSSI4P',
  dashboard_id: 'D_FSSI4P',
  outreach_id: 'O_GIFTING',
};

export const WEBHOOK = { webhook_url: 'https://hooks.example.com/', webhook_type: 'new_max_bid' };

/** Converts the input as if it had been sent over the wire: all values of a query are strings. */
export function toRequest(name: OperationName, input: unknown, session: Session): Request {
  if (operationOf(name).body === null) return { key: 'key', session, query: asText(input), body: null };
  const text = JSON.stringify(input);
  return { key: 'key', session, query: {}, body: { text, value: JSON.parse(text) } };
}

function asText(input: unknown): unknown {
  if (typeof input !== 'object' || input === null) return {};
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  );
}

/** Changes the input to refer to existing records; an optional e-mail address or id is filled in. */
export function aboutExisting(name: OperationName, input: unknown): unknown {
  if (typeof input !== 'object' || input === null) return input;
  const changed: Record<string, unknown> = { ...input };
  for (const [member, value] of Object.entries(EXISTING)) if (member in changed) changed[member] = value;
  const names = [
    'update_post_capture',
    'new_influencer_click',
    'new_influencer_referral',
    'get_deal_details',
  ];
  if (names.includes(name)) {
    delete changed.collab_id;
    delete changed.influencer_handle;
    changed.deal_id = EXISTING.deal_id;
  }
  switch (name) {
    case 'submit_influencers':
      return { ...changed, influencer_ids: [influencer?.userId], platform: 'instagram' };
    case 'get_analytics_page':
      return { user_id: influencer?.userId };
    case 'identify_influencers_real_time':
      return { ...changed, influencer_email: changed.influencer_email || 'a@example.com' };
    case 'create_task':
      return { ...changed, deadline: '29-02-2028' };
    case 'delete_webhook':
      return { ...changed, ...WEBHOOK };
    case 'update_dealstage':
      return { ...changed, new_stage: changed.new_stage ?? 1 };
    case 'update_deal_info':
      return {
        ...changed,
        new_deal_info: { is_active: true, first_name: JSON.stringify(changed.new_deal_info ?? '') },
      };
    default:
      return changed;
  }
}

/**
 * Draws inputs that the contract allows. Searches use only filters that apply to their platform, with known
 * codes.
 */
export function drawInputs(name: OperationName): fc.Arbitrary<unknown> {
  if (name === 'get_search') return fc.constantFrom(...PLATFORMS).chain(drawSearch);
  const schema = operationOf(name).body ?? operationOf(name).query;
  return schema === null ? fc.constant({}) : arbitraryOf(schema);
}

function drawSearch(platform: Platform): fc.Arbitrary<unknown> {
  const filters = Object.entries(plainFilters)
    .filter(([name]) => ((filterPlatforms[name] ?? PLATFORMS) as readonly string[]).includes(platform))
    .map(([name, { values }]) => [name, values as fc.Arbitrary<unknown>] as const);
  return fc.record(
    {
      platform: fc.constant(platform),
      filter: fc.record(Object.fromEntries(filters), { requiredKeys: [] }),
      offset: fc.nat(20),
      search_timestamp: fc.integer({ min: 0, max: 2 ** 31 }),
    },
    { requiredKeys: ['platform', 'filter'] },
  );
}
