import { DAY_MS } from '../../core/time/day.ts';
import {
  type Account,
  addDeal,
  type Collaboration,
  dealsOf,
  keepCollaboration,
  newDealId,
} from '../account/account.ts';
import { takePayouts } from '../account/commission.ts';
import type { Clock } from '../clock.ts';
import { idFrom, seededRandom } from '../random-id.ts';
import { createDraw, type Draw, type Influencer, type Population } from '../search/population.ts';
import { createCollection, type StateStore } from '../state/state-store.ts';
import { describeHappening } from './describe-happening.ts';
import type { Events } from './events.ts';

// No operation makes an influencer reply, post or request a payout. At the service, people do that some time
// after an operation. In the sandbox it follows from the operation automatically, determined by the sandbox's
// clock and seed:
//
// - submit_influencers → the outreach mail, which creates the deal → in most cases a reply
// - update_post_capture → a few posts while capturing is on
// - new_influencer_referral → a payout request for the commission of all orders since the last one

/** Plans and performs the consequences of operations, in sandbox time. */
export type FollowUps = {
  /** Call when an influencer was added to an outreach campaign: a mail is sent, and may be answered. */
  startOutreach(userId: string, outreachId: string): void;
  /**
   * Call when capturing of posts was switched: the influencer publishes a few posts, or the planned posts are
   * cancelled.
   */
  switchCapture(collaboration: Collaboration): void;
  /** Call when an order was credited: a payout of its commission is requested later. */
  expectPayout(collaboration: Collaboration): void;
  /** Planned events, earliest first. */
  planned(): Iterable<FollowUp>;
  close(): void;
};

type FollowUp = { readonly dueAtMs: number } & (
  | { readonly webhook_type: 'new_email_sent'; readonly user_id: string; readonly outreach_id: string }
  | {
      readonly webhook_type: 'new_influencer_reply' | 'new_influencer_post' | 'new_payout_request';
      readonly collab_id: string;
    }
);

const HOUR_MS = 3_600_000;

/** Time between submission and mail. */
const MAIL_AFTER_MS = HOUR_MS;

/** Range of hours between the mail and the reply, and the share of influencers who reply. */
const REPLY_AFTER_HOURS = [6, 72] as const;
const REPLY_SHARE = 0.75;

/** Maximum number of posts after capturing was switched on, and the range of days before each. */
const MAX_POSTS = 3;
const POST_AFTER_DAYS = [1, 5] as const;

/** Time between the first unpaid order and the payout request. */
const PAYOUT_AFTER_MS = 30 * DAY_MS;

const REPLIES = [
  'Thank you, I would like to work with you. What do you offer?',
  'I know your products. Please send me the details.',
  'Thank you, but I have no time at the moment.',
] as const;

export function createFollowUps({
  account,
  population,
  events,
  clock,
}: {
  account: Account;
  population: Population;
  events: Events;
  clock: Clock;
}): FollowUps {
  const schedule = createSchedule<FollowUp>(perform, { stateStore: account.stateStore, clock });
  const drawFor = (...about: readonly string[]): Draw =>
    createDraw(seededRandom([account.seed, ...about].join('/')));

  function perform(item: FollowUp): void {
    if (item.webhook_type === 'new_email_sent') {
      sendMail(item);
      return;
    }
    const collaboration = account.collaborations.get(item.collab_id);
    if (collaboration === undefined) return;
    if (item.webhook_type === 'new_influencer_reply') reply(collaboration, item.dueAtMs);
    else if (item.webhook_type === 'new_influencer_post') publish(collaboration, item.dueAtMs);
    else requestPayouts(collaboration, item.dueAtMs);
  }

  function tell(
    kind: FollowUp['webhook_type'],
    collaboration: Collaboration,
    { atMs, ...settings }: Readonly<Record<string, unknown>> & { readonly atMs: number },
  ): void {
    const details = describeHappening(kind, collaboration, { settings, atMs });
    events.fire(kind, { collaboration, details, atMs });
  }

  function sendMail({ user_id, outreach_id, dueAtMs }: FollowUp & { webhook_type: 'new_email_sent' }): void {
    const influencer = population.find(user_id);
    const collaboration = influencer === null ? null : openDeal(account, influencer, outreach_id);
    if (collaboration === null) return;
    const { brand, sender, influencerAddress } = correspondents(account, collaboration);
    tell('new_email_sent', collaboration, {
      atMs: dueAtMs,
      subject: `Working with ${brand}`,
      body: `Hello! We like what you post. Would you work with ${brand}?`,
      from: sender,
      to: influencerAddress,
    });
    const draw = drawFor('reply', user_id);
    if (!draw.chance(REPLY_SHARE)) return;
    schedule.add(`reply ${collaboration.id}`, {
      dueAtMs: dueAtMs + draw.whole(...REPLY_AFTER_HOURS) * HOUR_MS,
      webhook_type: 'new_influencer_reply',
      collab_id: collaboration.id,
    });
  }

  function reply(collaboration: Collaboration, atMs: number): void {
    const { brand, sender, influencerAddress } = correspondents(account, collaboration);
    tell('new_influencer_reply', collaboration, {
      atMs,
      subject: `Re: Working with ${brand}`,
      body: drawFor('reply text', collaboration.id).one(REPLIES),
      from: influencerAddress,
      to: sender,
    });
  }

  function publish(collaboration: Collaboration, atMs: number): void {
    collaboration.capturedPosts += 1;
    keepCollaboration(account, collaboration);
    const { id, code, deal, capturedPosts } = collaboration;
    const post = idFrom(account.seed, 'post', id, capturedPosts);
    tell('new_influencer_post', collaboration, {
      atMs,
      post_url: `https://${encodeURIComponent(deal.platform)}.example/p/${post}`,
      post_type: deal.platform === 'instagram' ? 'post' : 'video',
      caption: code === null ? 'Look what I found' : `Look what I found, with code ${code}`,
    });
  }

  function requestPayouts(collaboration: Collaboration, atMs: number): void {
    const payouts = takePayouts(collaboration);
    keepCollaboration(account, collaboration);
    for (const { currency, amount } of payouts)
      tell('new_payout_request', collaboration, {
        atMs,
        payout_comment: `Commission until ${new Date(atMs).toISOString().slice(0, 10)}`,
        payout_currency: currency,
        payout_amount: amount,
      });
  }

  return {
    startOutreach(user_id, outreach_id) {
      schedule.add(`mail ${user_id}`, {
        dueAtMs: clock.now() + MAIL_AFTER_MS,
        webhook_type: 'new_email_sent',
        user_id,
        outreach_id,
      });
    },
    switchCapture({ id, capturesPosts, capturedPosts }) {
      const ids = Array.from({ length: MAX_POSTS }, (_, index) => `post ${id} ${index}`);
      if (!capturesPosts) {
        for (const post of ids) schedule.cancel(post);
        return;
      }
      const draw = drawFor('posts', id, String(capturedPosts));
      let dueAtMs = clock.now();
      for (const post of ids.slice(0, draw.whole(1, MAX_POSTS))) {
        dueAtMs += draw.whole(...POST_AFTER_DAYS) * DAY_MS;
        schedule.add(post, { dueAtMs, webhook_type: 'new_influencer_post', collab_id: id });
      }
    },
    expectPayout({ id }) {
      const payout = `payout ${id}`;
      if (schedule.items.has(payout)) return;
      const dueAtMs = clock.now() + PAYOUT_AFTER_MS;
      schedule.add(payout, { dueAtMs, webhook_type: 'new_payout_request', collab_id: id });
    },
    planned: () => [...schedule.items.values()].toSorted((a, b) => a.dueAtMs - b.dueAtMs),
    close: schedule.close,
  };
}

/**
 * Returns the influencer's deal if one was created in the meantime, otherwise creates one in the campaign's
 * dealflow. Null if the account has no dealflow.
 */
function openDeal(account: Account, influencer: Influencer, outreachId: string): Collaboration | null {
  const { handle, platform, fullName, email } = influencer;
  const deal = dealsOf(account, handle).find((one) => one.platform === platform);
  const dealflow = account.dealflows.get(account.outreaches.get(outreachId)?.dealflowId ?? '');
  if (deal !== undefined) return deal.collaborations[0] ?? null;
  if (dealflow === undefined) return null;
  const [first_name, ...last] = fullName.split(' ');
  return addDeal(account, {
    deal_id: newDealId(account),
    influencer_handle: handle,
    platform,
    brand_id: dealflow.brandId,
    dealflow_id: dealflow.id,
    code: null,
    collab_id: null,
    details: { first_name, last_name: last.join(' '), ...(email === null ? {} : { email }) },
  });
}

function correspondents(
  account: Account,
  { brandId, deal }: Collaboration,
): { readonly brand: string; readonly sender: string; readonly influencerAddress: string } {
  const { email } = deal.details;
  return {
    brand: account.brands.get(brandId)?.name ?? String(brandId),
    sender: `brand-${brandId}@outreach.example`,
    influencerAddress: typeof email === 'string' ? email : `${deal.influencerHandle}@creators.example`,
  };
}

/**
 * Planned items, performed at their time, earliest first. They are part of the state, so they survive a
 * restart.
 */
type Schedule<Item> = {
  readonly items: ReadonlyMap<string, Item>;
  /** Plans an item. It replaces an item with the same id. */
  add(id: string, item: Item): void;
  cancel(id: string): void;
  /** Stops performing items. Planned items stay in the state. */
  close(): void;
};

/**
 * Performs items when the clock reaches their time. Items that are due together are performed in the order of
 * their times, together with the items that result from them: if the clock is advanced by a month, all days
 * of that month are played.
 */
function createSchedule<Item extends { readonly dueAtMs: number }>(
  perform: (item: Item) => void,
  { stateStore, clock }: { stateStore: StateStore; clock: Clock },
): Schedule<Item> {
  const planned = createCollection<Item>(stateStore, 'planned');
  /** Ids by due time; those with the same time in the order in which they were planned. */
  const queue: string[] = [];
  let cancelTimer: (() => void) | null = null;
  let isPerforming = false;

  const dueAt = (id: string | undefined): number =>
    (id === undefined ? undefined : planned.items.get(id)?.dueAtMs) ?? Number.POSITIVE_INFINITY;

  function enqueue(id: string): void {
    const dueAtMs = dueAt(id);
    let place = queue.length;
    while (place > 0 && dueAt(queue[place - 1]) > dueAtMs) place -= 1;
    queue.splice(place, 0, id);
  }

  function wait(): void {
    if (isPerforming) return;
    cancelTimer?.();
    const [first] = queue;
    cancelTimer = first === undefined ? null : clock.schedule(dueAt(first), performDue);
  }

  function performDue(): void {
    isPerforming = true;
    while (dueAt(queue[0]) <= clock.now()) {
      const id = queue.shift() ?? '';
      const item = planned.items.get(id);
      planned.delete(id);
      if (item !== undefined) perform(item);
    }
    isPerforming = false;
    stateStore.commit();
    wait();
  }

  function cancel(id: string): void {
    if (!planned.delete(id)) return;
    const place = queue.indexOf(id);
    queue.splice(place, 1);
    if (place === 0) wait();
  }

  for (const id of planned.items.keys()) enqueue(id);
  wait();

  return {
    items: planned.items,
    add(id, item) {
      cancel(id);
      planned.set(id, item);
      enqueue(id);
      if (queue[0] === id) wait();
    },
    cancel,
    close() {
      cancelTimer?.();
      queue.length = 0;
    },
  };
}
