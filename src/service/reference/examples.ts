import { shellWord } from '../../core/text/printable.ts';
import { type BodyInput, type OperationName, operationOf, type QueryInput } from '../contract.ts';
import { requestFieldsOf } from './operation-fields.ts';

export type Example<Name extends OperationName> = {
  readonly query?: QueryInput<Name>;
  readonly body?: BodyInput<Name>;
};

/**
 * One request for each operation that works on the sandbox's own account (config/demo/sandbox.yaml). Help, the
 * reference pages and the OpenAPI document show them, and the conformance suite sends them.
 */
const examples: { readonly [Name in OperationName]: Example<Name> } = {
  public_hello: {},
  account_hello: {},
  get_search: {
    body: {
      platform: 'instagram',
      filter: { followers: { left_number: '10000', right_number: '500000' }, last_posted: '90' },
      offset: 0,
    },
  },
  database_influencers: { query: { q: 'travel', type: 'topic-tags', platform: 'instagram' } },
  locations: { query: { q: 'Amsterdam' } },
  get_analytics_page: { query: { user_id: '4046146222' } },
  identify_influencers: {
    body: { influencer_list: ['mira@example.com', 'someone@example.com'], brand_id: 4819 },
  },
  identify_influencers_real_time: { query: { brand_id: 4819, influencer_email: 'mira@example.com' } },
  create_deal: {
    body: {
      influencer_handle: 'noor.paints.test',
      platform: 'instagram',
      brand_id: 4819,
      dealflow_id: 'D_FSSI4P',
      first_name: 'Noor',
      country_code: 'NL',
      code: 'NOOR10',
      code_perc: 10,
      create_affiliate_details: false,
    },
  },
  submit_influencers: {
    body: { outreach_id: 'O_SPRING1', influencer_ids: ['4046146222'], platform: 'instagram' },
  },
  get_deal_details: { query: { deal_id: 'ETUNQ6ZTW1' } },
  create_note: { body: { deal_id: 'ETUNQ6ZTW1', note_description: 'Prefers mail to calls.' } },
  create_task: {
    body: {
      deal_id: 'ETUNQ6ZTW1',
      tasktype: 'todo_task',
      task_title: 'Send the spring samples',
      task_description: 'Two of each.',
      deadline: '31-12-2026',
      assigned_to: null,
    },
  },
  update_dealstage: { body: { deal_id: 'ETUNQ6ZTW1', new_stage: 3, dashboard_id: 'D_FSSI4P' } },
  update_deal_info: {
    body: { deal_id: 'ETUNQ6ZTW1', new_deal_info: { is_active: false }, status_update_only: true },
  },
  update_post_capture: { body: { deal_id: 'ETUNQ6ZTW1', enabled: true } },
  new_influencer_click: { body: { deal_id: 'ETUNQ6ZTW1', increase_clicks: 3, country_code: 'NL' } },
  new_influencer_referral: {
    body: {
      deal_id: 'ETUNQ6ZTW1',
      order_id: '1001',
      order_revenue: 12.5,
      order_platform: 'shopify',
      order_discount_codes_used: 'MIRA10',
      currency: 'EUR',
    },
  },
  search_dealflows: {},
  search_brands: {},
  autocomplete: { query: { q: 'mira' } },
  create_webhook: {
    body: { webhook_url: 'https://hooks.example.com/influencer', webhook_type: 'new_influencer_order' },
  },
  get_webhooks: {},
  delete_webhook: {
    body: { webhook_url: 'https://hooks.example.com/influencer', webhook_type: 'new_influencer_order' },
  },
};

/** The example of an operation without its exact types, for code that handles all operations alike. */
export function exampleOf(name: OperationName): {
  readonly query?: Readonly<Record<string, unknown>> | null | undefined;
  readonly body?: Readonly<Record<string, unknown>> | null | undefined;
} {
  return examples[name];
}

/**
 * The command that sends the example of an operation: `api create_note --deal_id … --note_description '…'`.
 */
export function exampleCommand(name: OperationName): string {
  const { query, body } = exampleOf(name);
  const { fields } = requestFieldsOf(operationOf(name));
  const given = Object.entries(body ?? query ?? {});
  const options = given.flatMap(([field, value]) => {
    const isList = fields.find((one) => one.name === field)?.takes === 'texts' && Array.isArray(value);
    return (isList ? value : [value]).map(
      (one) => `--${field} ${shellWord(typeof one === 'string' ? one : JSON.stringify(one))}`,
    );
  });
  return ['api', name, ...options].join(' ');
}
