import type { BodyOf, OperationName, QueryOf } from '../../api/contract.ts';
import type { UnknownMember } from '../../api/unknown-members.ts';
import type { Account } from '../account.ts';
import type { Clock } from '../clock.ts';
import type { Events } from '../events/events.ts';
import type { FollowUps } from '../events/follow-ups.ts';
import type { RateLimit } from '../rate-limit.ts';
import type { RequestLog } from '../request-log.ts';
import type { Population } from '../search/population.ts';

/** What every operation works on: one account, and what all share. */
export type World = {
  readonly account: Account;
  readonly requestLog: RequestLog;
  readonly population: Population;
  readonly events: Events;
  readonly followUps: FollowUps;
  readonly duplicates: Duplicates;
  readonly clock: Clock;
  /** How long identifying a customer takes. */
  readonly identifyDelayMs: number;
  /** Whether webhooks may go to this machine and to private networks. */
  readonly allowsPrivateWebhooks: boolean;
  /** Address of the web application, without a trailing slash; known once it listens. */
  readonly appUrl: () => string;
};

/** To whom an API key belongs. */
export type Session = {
  readonly world: World;
  readonly userId: string;
  /** Of the account, whichever of its keys is used; null: none. */
  readonly rateLimit: RateLimit | null;
};

/** What an operation is given: a request that fits the contract, the world, and who asks. */
export type Call<Name extends OperationName> = World & {
  readonly userId: string;
  readonly query: QueryOf<Name>;
  readonly body: BodyOf<Name>;
  /** The body as it came, byte for byte. */
  readonly bodyText: string;
};

/** What the sandbox does with an order id that it already has from the same platform. */
export type Duplicates = 'accept' | 'ignore' | '409';

export type Answer = {
  readonly status: number;
  readonly body: unknown;
  /** Whether the request changed or read what it asked for; false for a refusal. */
  readonly isProcessed: boolean;
  /** Members of the request that the contract does not name, and that nothing read. */
  readonly unknownMembers?: readonly UnknownMember[];
  /** Of `Retry-After`. */
  readonly retryAfterSeconds?: number;
};

/** Pure but for the world. Refuses by answering, never by throwing. */
export type Handle<Name extends OperationName> = (call: Call<Name>) => Answer;

/** The operations of one file, by name. */
export type Handlers = { readonly [Name in OperationName]?: Handle<Name> };

export function answer(body: unknown): Answer {
  return { status: 200, body, isProcessed: true };
}

/** A 4xx with a text, as section Errors says. */
export function refuse(status: number, message: string): Answer {
  return { status, body: { message }, isProcessed: false };
}
