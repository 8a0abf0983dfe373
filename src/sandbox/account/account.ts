import { addExact, type ExactSum, exactText } from '../exact.ts';
import { idFrom } from '../random-id.ts';
import type { Credits } from '../state/credits.ts';
import type { Collection, StateStore } from '../state/state-store.ts';
import type { DealData } from './account-data.ts';

export type Brand = { readonly id: number; readonly name: string };
export type Dealflow = { readonly id: string; readonly name: string; readonly brandId: number };
/**
 * An outreach campaign. It creates its deals in one dealflow; `dealflowId` is null if the account has none.
 */
export type Outreach = { readonly id: string; readonly name: string; readonly dealflowId: string | null };

export type Collaboration = {
  readonly id: string;
  readonly deal: Deal;
  readonly brandId: number;
  dealflowId: string;
  code: string | null;
  /** Further members of the request that created it: code_perc, custom_url, commission_perc. */
  details: Readonly<Record<string, unknown>>;
  /** Whether the influencer's posts are captured. */
  capturesPosts: boolean;
  capturedPosts: number;
  clicks: number;
  referrals: number;
  /** Sales by currency, never added up across currencies. The empty key is the account's own currency. */
  readonly sales: Map<string, ExactSum>;
  /** The result of `salesOf` at the last payout request. */
  paidSales: Readonly<Record<string, string>>;
};

export type Deal = {
  readonly id: string;
  readonly influencerHandle: string;
  readonly platform: string;
  readonly brandId: number;
  isActive: boolean;
  funnelStep: number | null;
  /** Contact data and further members of the request that created the deal. */
  details: Readonly<Record<string, unknown>>;
  readonly notes: Note[];
  readonly tasks: Task[];
  readonly collaborations: Collaboration[];
};

export type Note = { readonly note_description: string; readonly created_at: string };
export type Task = {
  readonly tasktype: string;
  readonly task_title: string;
  readonly task_description: string;
  /** DD-MM-YYYY. */
  readonly deadline: string;
  readonly assigned_to: string | null;
  readonly created_at: string;
};

/** The customers that one call submitted for identification. */
export type Enquiry = {
  readonly brandId: number;
  readonly sourceType: string | null;
  /** Addresses as received. */
  readonly emails: readonly string[];
  readonly queuedAt: number;
  /** When the result becomes available, in Unix milliseconds. */
  readonly dueAt: number;
};

/** Where a discount code or link was created: in the connected shop, or only on the deal page. */
export type StoreEntry = {
  readonly kind: 'discount_code' | 'custom_link';
  readonly value: string;
  readonly collab_id: string;
  readonly created_in: 'store' | 'deal_page';
  /** The percentage of a code or the target of a link. */
  readonly detail: string | number | null;
};

export type Webhook = { readonly webhook_url: string; readonly webhook_type: string };

/** The whole state of one account. Accounts never see each other's state. */
export type Account = {
  readonly id: string;
  readonly seed: string;
  readonly stateStore: StateStore;
  readonly brands: Map<number, Brand>;
  readonly dealflows: Map<string, Dealflow>;
  readonly outreaches: Map<string, Outreach>;
  readonly deals: Map<string, Deal>;
  readonly dealsByHandle: Map<string, Deal[]>;
  readonly collaborations: Map<string, Collaboration>;
  /** Order platform and order id of referrals; only kept if repeated orders must be recognised. */
  readonly orders: Collection<true>;
  readonly credits: Credits;
  /** User ids of influencers that a search has shown. */
  readonly seen: Collection<true>;
  /** When the report was generated, by user id. */
  readonly reports: Collection<string>;
  /** The outreach campaign to which the influencer was added, by user id. */
  readonly submitted: Collection<string>;
  /**
   * Calls that submitted customers, by their number. There is one record per call because there may be
   * millions of customers.
   */
  readonly enquiries: Collection<Enquiry>;
  readonly store: Collection<StoreEntry>;
  readonly webhooks: Collection<Webhook>;
};

/** Returns the next deal id of the seed that is not taken. */
export function newDealId({ deals, seed }: Account): string {
  for (let number = deals.size; ; number += 1) {
    const id = idFrom(seed, 'deal', number);
    if (!deals.has(id)) return id;
  }
}

export type NewDeal = Omit<DealData, 'platform'> & {
  readonly platform: string;
  readonly funnelStep?: number | null;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly collaborationDetails?: Readonly<Record<string, unknown>>;
};

/** Adds a deal. If the deal id exists, adds another collaboration to that deal. */
export function addDeal(account: Account, data: NewDeal): Collaboration {
  const deal = account.deals.get(data.deal_id) ?? openDeal(account, data);
  const collaboration: Collaboration = {
    id: data.collab_id ?? idFrom(account.seed, 'collaboration', deal.id, deal.collaborations.length),
    deal,
    brandId: data.brand_id,
    dealflowId: data.dealflow_id,
    code: data.code,
    details: data.collaborationDetails ?? {},
    capturesPosts: false,
    capturedPosts: 0,
    clicks: 0,
    referrals: 0,
    sales: new Map(),
    paidSales: {},
  };
  enterCollaboration(account, collaboration);
  keepCollaboration(account, collaboration);
  return collaboration;
}

function openDeal(account: Account, data: NewDeal): Deal {
  const deal: Deal = {
    id: data.deal_id,
    influencerHandle: data.influencer_handle,
    platform: data.platform,
    brandId: data.brand_id,
    isActive: true,
    funnelStep: data.funnelStep ?? null,
    details: data.details ?? {},
    notes: [],
    tasks: [],
    collaborations: [],
  };
  enterDeal(account, deal);
  keepDeal(account, deal);
  return deal;
}

function enterDeal(account: Account, deal: Deal): void {
  account.deals.set(deal.id, deal);
  const handle = foldHandle(deal.influencerHandle);
  const others = account.dealsByHandle.get(handle);
  if (others === undefined) account.dealsByHandle.set(handle, [deal]);
  else others.push(deal);
}

function enterCollaboration(account: Account, collaboration: Collaboration): void {
  collaboration.deal.collaborations.push(collaboration);
  account.collaborations.set(collaboration.id, collaboration);
}

/** Normalises a handle: `@` and upper or lower case make no difference. */
export function foldHandle(handle: string): string {
  return handle.trim().replace(/^@/, '').toLowerCase();
}

/** Adds one order to the counters of a collaboration. `revenue` is exact decimal text. */
export function creditSale(
  collaboration: Collaboration,
  sale: { readonly revenue: string; readonly currency: string | undefined },
): void {
  collaboration.referrals += 1;
  const currency = sale.currency?.toUpperCase() ?? '';
  const sum = collaboration.sales.get(currency) ?? { units: 0n, scale: 0 };
  addExact(sum, sale.revenue);
  collaboration.sales.set(currency, sum);
}

/** The sales of a collaboration as exact text by currency. */
export function salesOf({ sales }: Collaboration): Readonly<Record<string, string>> {
  return Object.fromEntries([...sales].map(([currency, sum]) => [currency, exactText(sum)]));
}

/** Saves a deal in the store. Call it after every change, so that the change survives a restart. */
export function keepDeal({ stateStore }: Account, { collaborations: _, ...deal }: Deal): void {
  stateStore.put('deal', deal.id, deal);
}

/** Saves a collaboration in the store. Call it after every change, so that the change survives a restart. */
export function keepCollaboration({ stateStore }: Account, collaboration: Collaboration): void {
  const { deal, sales, ...rest } = collaboration;
  const exact = [...sales].map(([currency, sum]) => [currency, exactText(sum)]);
  stateStore.put('collaboration', rest.id, { ...rest, dealId: deal.id, sales: exact });
}

type KeptDeal = Omit<Deal, 'collaborations'>;
type KeptCollaboration = Omit<Collaboration, 'deal' | 'sales' | 'capturedPosts' | 'paidSales'> & {
  readonly dealId: string;
  readonly capturedPosts?: number;
  readonly paidSales?: Readonly<Record<string, string>>;
  readonly sales: readonly (readonly [currency: string, exact: string])[];
};

/**
 * Loads the deals of the store into the account.
 * @returns true if there were any.
 */
export function restoreDeals(account: Account): boolean {
  const { stateStore } = account;
  for (const [, value] of stateStore.all('deal'))
    enterDeal(account, { ...(value as KeptDeal), collaborations: [] });
  for (const [, value] of stateStore.all('collaboration')) {
    // Files of an earlier version lack the members that have defaults here.
    const { dealId, sales, capturedPosts = 0, paidSales = {}, ...rest } = value as KeptCollaboration;
    const deal = account.deals.get(dealId);
    if (deal === undefined) continue;
    enterCollaboration(account, {
      ...rest,
      deal,
      capturedPosts,
      paidSales,
      sales: new Map(sales.map(readSale)),
    });
  }
  return account.deals.size > 0;
}

function readSale([currency, exact]: readonly [string, string]): [string, ExactSum] {
  const sum = { units: 0n, scale: 0 };
  addExact(sum, exact);
  return [currency, sum];
}

/** Returns all deals of an influencer, oldest first. */
export function dealsOf(account: Account, handle: string): readonly Deal[] {
  return account.dealsByHandle.get(handle) ?? account.dealsByHandle.get(foldHandle(handle)) ?? [];
}
