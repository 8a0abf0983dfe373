import type { BodyOf, OperationName, QueryOf } from '../../service/contract.ts';
import type { UnknownMember } from '../../service/unknown-members.ts';
import type { Account } from '../account/account.ts';
import type { Clock } from '../clock.ts';
import type { Events } from '../events/events.ts';
import type { FollowUps } from '../events/follow-ups.ts';
import type { RateLimit } from '../rate-limit.ts';
import type { RequestLog } from '../request-log.ts';
import type { Population } from '../search/population.ts';

/** What every operation works on: one account, and what all accounts share. */
export type World = {
  readonly account: Account;
  readonly requestLog: RequestLog;
  readonly population: Population;
  readonly events: Events;
  readonly followUps: FollowUps;
  readonly duplicates: Duplicates;
  readonly clock: Clock;
  /** How long the identification of a customer takes. */
  readonly identifyDelayMs: number;
  /** Whether webhooks may be sent to this machine and to private networks. */
  readonly allowsPrivateWebhooks: boolean;
  /** Address of the web application without a trailing slash; known once the server listens. */
  readonly appUrl: () => string;
};

/** The account and user of an API key. */
export type Session = {
  readonly world: World;
  readonly userId: string;
  /** The rate limit of the account, common to all its keys; null if there is none. */
  readonly rateLimit: RateLimit | null;
};

/** The input of an operation: a request that fits the contract, the account, and the user. */
export type Call<Name extends OperationName> = World & {
  readonly userId: string;
  readonly query: QueryOf<Name>;
  readonly body: BodyOf<Name>;
  /** The body, byte for byte as received. */
  readonly bodyText: string;
};

/** What to do with an order id that was already received from the same platform. */
export type Duplicates = 'accept' | 'ignore' | '409';

export type Answer = {
  readonly status: number;
  readonly body: unknown;
  /** Whether the request was carried out; false if it was refused or ignored. */
  readonly isProcessed: boolean;
  /** Members of the request that are not in the contract and were ignored. */
  readonly unknownMembers?: readonly UnknownMember[];
  /** Headers in addition to the usual ones. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly retryAfterSeconds?: number;
};

/**
 * Runs an operation. It changes only the state in `call`, and refuses a request by its answer, never by
 * throwing.
 */
export type Handle<Name extends OperationName> = (call: Call<Name>) => Answer;

/** The operations of one file, by name. */
export type Handlers = { readonly [Name in OperationName]?: Handle<Name> };

export function answer(body: unknown): Answer {
  return { status: 200, body, isProcessed: true };
}

/** Creates a 4xx answer with a message, as section Errors describes it. */
export function refuse(status: number, message: string): Answer {
  return { status, body: { message }, isProcessed: false };
}
