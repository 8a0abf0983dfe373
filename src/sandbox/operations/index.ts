import { accountSearch } from './account-search.ts';
import { affiliateTracking } from './affiliate-tracking.ts';
import { dealWork } from './deal-work.ts';
import { deals } from './deals.ts';
import { identify } from './identify.ts';
import type { Handlers } from './operation.ts';
import { outreach } from './outreach.ts';
import { search } from './search.ts';
import { test } from './test.ts';
import { updateDealInfo } from './update-deal-info.ts';
import { webhooks } from './webhooks.ts';

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
