import type { Call } from '../call.ts';
import type { accountSearchOperations } from '../contract/account-search.ts';
import type { affiliateTrackingOperations } from '../contract/affiliate-tracking.ts';
import type { identifyOperations } from '../contract/identify.ts';
import type { importOperations } from '../contract/import.ts';
import type { influencerPageOperations } from '../contract/influencer-page.ts';
import type { searchOperations } from '../contract/search.ts';
import type { testOperations } from '../contract/test.ts';
import type { webhookOperations } from '../contract/webhooks.ts';
import type { OperationName } from '../contract.ts';

/**
 * Every operation of the service as a function, grouped as its specification groups them. `npm run build` writes the same
 * type with what the contract says about each operation, which a derived type cannot carry.
 */
export type Operations = {
  readonly test: CallsOf<typeof testOperations>;
  readonly search: CallsOf<typeof searchOperations>;
  readonly identify: CallsOf<typeof identifyOperations>;
  readonly import: CallsOf<typeof importOperations>;
  readonly influencerPage: CallsOf<typeof influencerPageOperations>;
  readonly affiliateTracking: CallsOf<typeof affiliateTrackingOperations>;
  readonly accountSearch: CallsOf<typeof accountSearchOperations>;
  readonly webhooks: CallsOf<typeof webhookOperations>;
};

type CallsOf<Group> = {
  readonly [Name in keyof Group & OperationName as CamelCase<Name>]: Call<Name>;
};

type CamelCase<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Name;
