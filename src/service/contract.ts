import type { z } from 'zod';
import { accountSearchOperations } from './contract/account-search.ts';
import { affiliateTrackingOperations } from './contract/affiliate-tracking.ts';
import { identifyOperations } from './contract/identify.ts';
import { importOperations } from './contract/import.ts';
import { influencerPageOperations } from './contract/influencer-page.ts';
import type { Operation } from './contract/operation.ts';
import type { namesOfOperations } from './contract/operation-names.ts';
import { searchOperations } from './contract/search.ts';
import { testOperations } from './contract/test.ts';
import { webhookOperations } from './contract/webhooks.ts';

/** Every operation of the service, by name. */
export const contract = {
  ...testOperations,
  ...searchOperations,
  ...identifyOperations,
  ...importOperations,
  ...influencerPageOperations,
  ...affiliateTrackingOperations,
  ...accountSearchOperations,
  ...webhookOperations,
} as const satisfies Record<(typeof namesOfOperations)[number], Operation>;

export type Contract = typeof contract;
export type OperationName = keyof Contract;

/** The type of an operation's body or query before and after validation; null if it has none. */
type InputOf<Schema> = Schema extends z.ZodType ? z.input<Schema> : null;
type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : null;

export type QueryInput<Name extends OperationName> = InputOf<Contract[Name]['query']>;
export type BodyInput<Name extends OperationName> = InputOf<Contract[Name]['body']>;
export type QueryOf<Name extends OperationName> = OutputOf<Contract[Name]['query']>;
export type BodyOf<Name extends OperationName> = OutputOf<Contract[Name]['body']>;
export type ResponseOf<Name extends OperationName> = OutputOf<Contract[Name]['response']>;

export const operationNames = Object.keys(contract) as readonly OperationName[];

/** The operation without the exact types of its schemas, for code that handles all of them alike. */
export function operationOf(name: OperationName): Operation {
  return contract[name];
}
