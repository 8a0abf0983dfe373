import type { EventDescription } from '../service/description/schema.ts';
import { signBody } from '../service/description/signature.ts';
import type { Account } from './account.ts';
import type { AccountData } from './account-data.ts';
import type { EventStream } from './events/event-stream.ts';
import { createEvents } from './events/events.ts';
import { createFollowUps } from './events/follow-ups.ts';
import { createPoster } from './events/post-event.ts';
import { accountIdOf, openAccount } from './open-account.ts';
import type { Session, World } from './operations/operation.ts';
import { idFrom } from './random-id.ts';
import { createRateLimit } from './rate-limit.ts';
import type { StateStore } from './state/state-store.ts';

/** An account with its keys, secrets and sessions. */
export type Tenant = {
  readonly world: World;
  /** API keys, at least one, one per user. */
  readonly keys: readonly string[];
  /** Secret that signs the account's events. */
  readonly webhookSecret: string;
  /** Sessions by key. */
  readonly sessions: ReadonlyMap<string, Session>;
  /** Creates the headers of an event that is sent now. */
  readonly signEvent: (body: string) => Readonly<Record<string, string>>;
};

/** An account with its keys and state, as the data and the seed define it. */
export type Registered = Pick<Tenant, 'keys' | 'webhookSecret'> & {
  readonly account: Account;
  readonly seed: string;
};

export type RegisterOptions = {
  readonly seed: string;
  readonly stateStore: StateStore | null;
  /** Additional key of the first account. */
  readonly key: string | undefined;
  /** Secret of the first account; replaces the one in the data. */
  readonly webhookSecret: string | undefined;
};

/** Creates the accounts. Whatever the data leaves out is derived from the seed. */
export function registerAccounts(
  all: readonly AccountData[],
  { seed, stateStore, key, webhookSecret }: RegisterOptions,
): readonly Registered[] {
  const firstId = idFrom(seed, 'account');
  return all.map((data, index) => {
    const isFirst = index === 0;
    const own = seedOf(data, seed, index);
    const accountId = accountIdOf(data, own);
    // Without a scope, so that the state of a file's only account stays valid when more accounts are added.
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

/**
 * The seed of an account. An account with an id keeps everything that is derived from the seed, whatever its
 * position in the file.
 */
function seedOf({ id }: AccountData, seed: string, index: number): string {
  if (id !== null) return `${seed}/account ${id}`;
  return index === 0 ? seed : `${seed}/account ${index}`;
}

export type TenantOptions = Omit<World, 'account' | 'events' | 'followUps'> & {
  /** How the service signs and writes events. */
  readonly description: EventDescription;
  readonly retryMs: number;
  /** Null for no limit. */
  readonly requestsAMinute: number | null;
  readonly stream: EventStream;
};

/** Creates an account's events, follow-ups, rate limit and sessions. */
export function openTenant(registered: Registered, options: TenantOptions): Tenant {
  const { account, seed, keys, webhookSecret } = registered;
  const { description, retryMs, requestsAMinute, stream, ...shared } = options;
  const poster = createPoster({
    secret: webhookSecret,
    description,
    allowsPrivate: shared.allowsPrivateWebhooks,
    now: shared.clock.now,
  });
  const events = createEvents(account, {
    poster,
    description,
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
    signEvent: (body) =>
      signBody(body, { secret: webhookSecret, events: description, nowMs: shared.clock.now() }),
  };
}

/**
 * Limits a store to the records of one account, so that two accounts can have records with the same ids. Logs
 * and commits still concern the whole store.
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
