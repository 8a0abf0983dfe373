import { expect, test } from 'vitest';
import { contract, operationNames, operationOf } from '../../src/service/contract.ts';

/** The endpoints listed in section Endpoints of the specification. */
const SPECIFIED = [
  'GET /v1/public/hello',
  'GET /v1/account/hello',
  'POST /v1/search/get_search',
  'GET /v1/search/database_influencers',
  'GET /v1/search/locations',
  'GET /v1/search/get_analytics_page',
  'POST /v1/search/identify_influencers',
  'GET /v1/search/identify_influencers_real_time',
  'POST /v1/crm/create_deal',
  'POST /v1/search/submit_influencers',
  'GET /v1/crm/get_deal_details',
  'POST /v1/crm/create_note',
  'POST /v1/crm/create_task',
  'POST /v1/crm/update_dealstage',
  'POST /v1/crm/update_deal_info',
  'POST /v1/crm/update_post_capture',
  'POST /v1/crm/new_influencer_click',
  'POST /v1/crm/new_influencer_referral',
  'GET /v1/account/search_dealflows',
  'GET /v1/account/search_brands',
  'GET /v1/crm/autocomplete',
  'POST /v1/account/create_webhook',
  'GET /v1/account/get_webhooks',
  'DELETE /v1/account/delete_webhook',
];

test('the contract contains every operation of the specification once', () => {
  const held = operationNames.map((name) => `${contract[name].method} ${contract[name].path}`);
  expect(held.toSorted()).toEqual(SPECIFIED.toSorted());
});

test('the contract has the second path of clicks and sends the API key to every operation but public_hello', () => {
  expect(contract.new_influencer_click.otherPaths).toEqual(['/v1/crm/increase_influencer_clicks']);
  expect(operationNames.filter((name) => !contract[name].sendsKey)).toEqual(['public_hello']);
});

test('the contract marks no operation as repeatable that moves money, spends credits or adds a record', () => {
  const once = operationNames.filter((name) => !contract[name].repeatable);
  expect(once.toSorted()).toEqual([
    'create_deal',
    'create_note',
    'create_task',
    'get_analytics_page',
    'get_search',
    'new_influencer_click',
    'new_influencer_referral',
    'submit_influencers',
  ]);
  expect(
    operationNames.filter((name) => operationOf(name).credits !== null).every((name) => once.includes(name)),
  ).toBe(true);
});

test.each(operationNames)(
  '%s cites its section of the specification, and has no body if it is a GET',
  (name) => {
    expect(contract[name].description).toMatch(
      /\b(Endpoints|Resources), (Test endpoints|Search and reports|Identify influencers|Import influencers|Influencer page \(CRM\)|Affiliate tracking|Account search|Webhook management)[.;]/,
    );
    expect(contract[name].method === 'GET' ? contract[name].body : null).toBeNull();
  },
);

test('the contract keeps unknown fields of requests and answers', () => {
  const body = { deal_id: 'D1', order_id: '1', order_revenue: 1, order_commission: 0.5 };
  expect(contract.new_influencer_referral.body.parse(body)).toEqual(body);
  const deal = { deal_info: { id: 'D1', stage_name: 'Signed' }, more: true };
  expect(contract.get_deal_details.response.parse(deal)).toEqual(deal);
});

test('a referral requires one of three non-empty identifiers of a deal', () => {
  const { body } = contract.new_influencer_referral;
  const order = { order_id: '1', order_revenue: 1 };
  expect(body.safeParse(order).success).toBe(false);
  expect(body.safeParse({ ...order, deal_id: '', influencer_handle: '' }).success).toBe(false);
  for (const name of ['deal_id', 'influencer_handle', 'collab_id']) {
    expect(body.safeParse({ ...order, [name]: 'X' }).success).toBe(true);
  }
});

test('a deadline must be a real calendar day, in every year', () => {
  const { deadline } = contract.create_task.body.shape;
  const wrong: string[] = [];
  for (const year of [1900, 2000, 2023, 2024, 2026, 2028, 2100, 2400])
    for (let month = 0; month <= 13; month += 1)
      for (let day = 0; day <= 32; day += 1) {
        const text = [String(day).padStart(2, '0'), String(month).padStart(2, '0'), year].join('-');
        const date = new Date(Date.UTC(year, month - 1, day));
        const isDay =
          date.getUTCMonth() === month - 1 && date.getUTCDate() === day && date.getUTCFullYear() === year;
        if (deadline.safeParse(text).success !== isDay) wrong.push(text);
      }
  expect(wrong).toEqual([]);
});
