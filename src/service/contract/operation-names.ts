/**
 * The names of all operations, for code that must not load their schemas. The compiler compares them with the contract.
 */
export const namesOfOperations = [
  'public_hello',
  'account_hello',
  'get_search',
  'database_influencers',
  'locations',
  'get_analytics_page',
  'identify_influencers',
  'identify_influencers_real_time',
  'create_deal',
  'submit_influencers',
  'get_deal_details',
  'create_note',
  'create_task',
  'update_dealstage',
  'update_deal_info',
  'update_post_capture',
  'new_influencer_click',
  'new_influencer_referral',
  'search_dealflows',
  'search_brands',
  'autocomplete',
  'create_webhook',
  'get_webhooks',
  'delete_webhook',
] as const;
