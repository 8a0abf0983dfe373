import type { EventDescription } from '../../service/description/schema.ts';
import { signBody } from '../../service/description/signature.ts';
import { createEvents, type EventStream } from '../events/events.ts';
import { createFollowUps } from '../events/follow-ups.ts';
import { createPoster } from '../events/post-event.ts';
import type { Session, World } from '../operations/operation.ts';
import { idFrom } from '../random-id.ts';
import { createRateLimit } from '../rate-limit.ts';
import { createCredits } from '../state/credits.ts';
import { createCollection, createMemoryStore, type StateStore } from '../state/state-store.ts';
import { type Account, addDeal, type Dealflow, type Outreach, restoreDeals } from './account.ts';
import type { AccountData } from './account-data.ts';

/** An account with its keys, secrets and sessions. */
export type Tenant = {
  readonly world: World;
  /** API keys, at least one, one per user. */
  readonly keys: readonly string[];
  /** Secret that signs the account's events. */
  readonly webhookSecret: string;
  readonly sessions: ReadonlyMap<string, Session>;
  /** Creates the headers of an event that is sent now. */
  readonly signEvent: (body: string) => Readonly<Record<string, string>>;
};

/** An account with its keys and state, as the data and the seed define it. */
export type Registered = Pick<Tenant, 'keys' | 'webhookSecret'> & {
  readonly account: Account;
  readonly seed: string;
};

type RegisterOptions = {
  readonly seed: string;
  readonly stateStore: StateStore;
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
    // An account with an id keeps what is derived from its seed, whatever its position in the file.
    const own =
      data.id !== null ? `${seed}/account ${data.id}` : index === 0 ? seed : `${seed}/account ${index}`;
    const accountId = accountIdOf(data, own);
    // Without a scope, so that the state of a file's only account stays valid when more accounts are added.
    const collection = accountId === firstId ? stateStore : scopeStateStore(stateStore, accountId);
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

type TenantOptions = Omit<World, 'account' | 'events' | 'followUps'> & {
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

/**
 * Creates an account from its data, or restores it from the store.
 *
 * @param seed the seed of the account's ids, and of its own id if `data` has none.
 * @param stateStore where the state is kept. State in the store takes precedence over the deals of `data`.
 */
export function openAccount(
  data: AccountData,
  seed: string,
  stateStore: StateStore = createMemoryStore(),
): Account {
  const dealflows =
    data.dealflows !== undefined
      ? data.dealflows.map(({ id, name, brand_id }) => ({ id, name, brandId: brand_id }))
      : data.brands.map(({ id, name }) => ({
          id: `D_${idFrom(seed, 'dealflow', id).slice(0, 6)}`,
          name: `Influencers of ${name}`,
          brandId: id,
        }));
  const account: Account = {
    id: accountIdOf(data, seed),
    seed,
    stateStore,
    brands: new Map(data.brands.map((brand) => [brand.id, brand])),
    dealflows: new Map(dealflows.map((dealflow) => [dealflow.id, dealflow])),
    outreaches: new Map(outreachesOf(data, seed, dealflows).map((outreach) => [outreach.id, outreach])),
    deals: new Map(),
    dealsByHandle: new Map(),
    collaborations: new Map(),
    orders: createCollection(stateStore, 'order'),
    credits: createCredits(stateStore, data.credits),
    seen: createCollection(stateStore, 'seen'),
    reports: createCollection(stateStore, 'report'),
    submitted: createCollection(stateStore, 'submitted'),
    enquiries: createCollection(stateStore, 'enquiry'),
    store: createCollection(stateStore, 'store'),
    webhooks: createCollection(stateStore, 'webhook'),
  };
  if (restoreDeals(account)) return account;
  for (const deal of data.deals) addDeal(account, deal);
  return account;
}

function accountIdOf({ id }: Pick<AccountData, 'id'>, seed: string): string {
  return id ?? idFrom(seed, 'account');
}

/** If the data has no outreach campaigns, one, so that influencers can be submitted. */
function outreachesOf(
  { outreaches }: AccountData,
  seed: string,
  [first]: readonly Dealflow[],
): readonly Outreach[] {
  const made = [{ id: `O_${idFrom(seed, 'outreach').slice(0, 6)}`, name: 'Outreach', dealflow_id: null }];
  return (outreaches ?? made).map(({ id, name, dealflow_id }) => ({
    id,
    name,
    dealflowId: dealflow_id ?? first?.id ?? null,
  }));
}
