import type { accountSearchOperations } from '../contract/account-search.ts';
import type { affiliateTrackingOperations } from '../contract/affiliate-tracking.ts';
import type { identifyOperations } from '../contract/identify.ts';
import type { importOperations } from '../contract/import.ts';
import type { influencerPageOperations } from '../contract/influencer-page.ts';
import type { searchOperations } from '../contract/search.ts';
import type { testOperations } from '../contract/test.ts';
import type { webhookOperations } from '../contract/webhooks.ts';
import type { BodyInput, OperationName, QueryInput, ResponseOf } from '../contract.ts';

/**
 * The argument of an operation: its body or its query, or nothing if it has neither. No operation has both.
 */
export type InputOf<Name extends OperationName> =
  BodyInput<Name> extends null ? QueryInput<Name> : BodyInput<Name>;

type Arguments<Input> = Input extends null
  ? readonly []
  : Record<never, never> extends Input
    ? readonly [input?: Input]
    : readonly [input: Input];

/**
 * Calls one operation. The input is checked before it is sent, the answer afterwards. Nothing is retried.
 * Amounts are JavaScript numbers: for an amount with more than 15 digits, write the JSON yourself and use
 * `client.exchange`.
 */
export type Call<Name extends OperationName> = (
  ...input: Arguments<InputOf<Name>>
) => Promise<ResponseOf<Name>>;

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
