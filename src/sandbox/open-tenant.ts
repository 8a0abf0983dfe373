import type { Account } from './account.ts';
import type { AccountData } from './account-data.ts';
import type { EventStream } from './events/event-stream.ts';
import { createEvents } from './events/events.ts';
import { createFollowUps } from './events/follow-ups.ts';
import { createPoster, signEvent } from './events/post-event.ts';
import { accountIdOf, openAccount } from './open-account.ts';
import type { Session, World } from './operations/operation.ts';
import { idFrom } from './random-id.ts';
import { createRateLimit } from './rate-limit.ts';
import type { StateStore } from './state/state-store.ts';

/** An account with what belongs to it alone. */
export type Tenant = {
  readonly world: World;
  /** API keys, at least one, each of another user. */
  readonly keys: readonly string[];
  /** Signs the account's events. */
  readonly webhookSecret: string;
  /** Who asks, by key. */
  readonly sessions: ReadonlyMap<string, Session>;
  /** The headers with which an event of that body is sent now. */
  readonly signEvent: (body: string) => Readonly<Record<string, string>>;
};

/** An account as the data and the seed give it, with its state. */
export type Registered = Pick<Tenant, 'keys' | 'webhookSecret'> & {
  readonly account: Account;
  readonly seed: string;
};

export type RegisterOptions = {
  readonly seed: string;
  readonly stateStore: StateStore | null;
  /** Of the first account, beside those that the data gives. */
  readonly key: string | undefined;
  /** Of the first account, instead of what the data gives. */
  readonly webhookSecret: string | undefined;
};

/** Makes the accounts; what the data leaves out comes from the seed. */
export function registerAccounts(
  all: readonly AccountData[],
  { seed, stateStore, key, webhookSecret }: RegisterOptions,
): readonly Registered[] {
  const firstId = idFrom(seed, 'account');
  return all.map((data, index) => {
    const isFirst = index === 0;
    const own = seedOf(data, seed, index);
    const accountId = accountIdOf(data, own);
    // The account that a file of one has keeps its place when others join it.
    const collection =
      stateStore === null || accountId === firstId ? stateStore : scopeStateStore(stateStore, accountId);
    const keys = [...(isFirst && key !== undefined ? [key] : []), ...data.keys];
    return {
      account: openAccount(data, own, collection),
      seed: own,
      keys: keys.length > 0 ? [...new Set(keys)] : [`sandbox-${idFrom(own, 'key').toLowerCase()}`],
      webhookSecret:
        (isFirst ? webhookSecret : undefined) ??
        data.webhook_secret ??
        `signing-${idFrom(own, 'webhook secret').toLowerCase()}`,
    };
  });
}

/** An account that has an id keeps what is made from the seed wherever it stands in the file. */
function seedOf({ id }: AccountData, seed: string, index: number): string {
  if (id !== null) return `${seed}/account ${id}`;
  return index === 0 ? seed : `${seed}/account ${index}`;
}

export type TenantOptions = Omit<World, 'account' | 'events' | 'followUps'> & {
  readonly headerPrefix: string;
  readonly retryMs: number;
  /** Null: as many as come. */
  readonly requestsAMinute: number | null;
  readonly stream: EventStream;
};

/** Puts an account into its world, and its users on their sessions. */
export function openTenant(registered: Registered, options: TenantOptions): Tenant {
  const { account, seed, keys, webhookSecret } = registered;
  const { headerPrefix, retryMs, requestsAMinute, stream, ...shared } = options;
  const poster = createPoster({
    secret: webhookSecret,
    headerPrefix,
    allowsPrivate: shared.allowsPrivateWebhooks,
    now: shared.clock.now,
  });
  const events = createEvents(account, {
    poster,
    retryMs,
    appUrl: shared.appUrl,
    clock: shared.clock,
    stream,
  });
  const followUps = createFollowUps({ ...shared, account, events });
  const world: World = { ...shared, account, events, followUps };
  const rateLimit = requestsAMinute === null ? null : createRateLimit(requestsAMinute, shared.clock.now);
  const sessions = keys.map((key, index): [string, Session] => {
    const userId = index === 0 ? idFrom(seed, 'user') : idFrom(seed, 'user', index);
    return [key, { world, userId, rateLimit }];
  });
  return {
    world,
    keys,
    webhookSecret,
    sessions: new Map(sessions),
    signEvent: (body) => signEvent(body, { secret: webhookSecret, headerPrefix, nowMs: shared.clock.now() }),
  };
}

/**
 * The part of a store that belongs to one account, so that two accounts can have records of the same ids. Request logs and commits are
 * of the whole.
 */
function scopeStateStore(stateStore: StateStore, accountId: string): StateStore {
  const scoped = (kind: string): string => `${accountId} ${kind}`;
  return {
    ...stateStore,
    put: (kind, id, value) => stateStore.put(scoped(kind), id, value),
    remove: (kind, id) => stateStore.remove(scoped(kind), id),
    all: (kind) => stateStore.all(scoped(kind)),
  };
}
