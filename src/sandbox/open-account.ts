import { type Account, addDeal, type Dealflow, type Outreach, restoreDeals } from './account.ts';
import type { AccountData } from './account-data.ts';
import { idFrom } from './random-id.ts';
import { createCollection } from './state/collection.ts';
import { createCredits } from './state/credits.ts';
import type { StateStore } from './state/state-store.ts';

/**
 * Creates an account from its data, or restores it from the store.
 *
 * @param seed the seed of the account's ids, and of its own id if `data` has none.
 * @param stateStore where the state is kept; null for memory only. State in the store takes precedence over
 *   the deals of `data`.
 */
export function openAccount(data: AccountData, seed: string, stateStore: StateStore | null = null): Account {
  const dealflows = dealflowsOf(data, seed);
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

export function accountIdOf({ id }: Pick<AccountData, 'id'>, seed: string): string {
  return id ?? idFrom(seed, 'account');
}

/** If the data has no dealflows, one per brand, so that deals can be created. */
function dealflowsOf({ dealflows, brands }: AccountData, seed: string): readonly Dealflow[] {
  if (dealflows !== undefined)
    return dealflows.map(({ id, name, brand_id }) => ({ id, name, brandId: brand_id }));
  return brands.map(({ id, name }) => ({
    id: `D_${idFrom(seed, 'dealflow', id).slice(0, 6)}`,
    name: `Influencers of ${name}`,
    brandId: id,
  }));
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
