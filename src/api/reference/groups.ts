import type { Group } from '../contract/operation.ts';

/** What the operations of each group are for. */
export const GROUPS: Readonly<Record<Group, string>> = {
  test: 'Whether a request arrives, and whose key it carries.',
  search: 'Finds influencers, and the handles, tags and places to search by. Costs credits.',
  identify: 'Tells which contacts are influencers.',
  import: 'Brings influencers into the CRM or into an outreach campaign.',
  'influencer page': 'One deal: its data, notes, tasks, stage and capture of posts.',
  'affiliate tracking': 'Clicks and orders, from a server. Never repeat these.',
  'account search': 'What the account holds.',
  webhooks: 'Where the service sends its events.',
};
