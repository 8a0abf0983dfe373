import type { Group } from '../contract/operation.ts';

/** What the operations of each group are for. */
export const GROUPS: Readonly<Record<Group, string>> = {
  test: 'Tests whether a request arrives, and to which account its key belongs.',
  search: 'Finds influencers, and the handles, tags and places to search by. Costs credits.',
  identify: 'Finds out which contacts are influencers.',
  import: 'Brings influencers into the CRM or into an outreach campaign.',
  'influencer page': 'One deal: its data, notes, tasks, stage and capture of posts.',
  'affiliate tracking': 'Clicks and orders, from a server. Never repeat these.',
  'account search': 'Lists the brands, dealflows and deals of the account.',
  webhooks: 'Where the service sends its events.',
};
