import pLimit from 'p-limit';
import type { WebhookType } from '../../service/contract/webhook-types.ts';
import { toServiceEvent } from '../../service/description/events.ts';
import { type EventDescription, specifiedService } from '../../service/description/schema.ts';
import type { Account, Collaboration } from '../account/account.ts';
import type { Clock } from '../clock.ts';
import { createCollection } from '../state/state-store.ts';
import type { Poster } from './post-event.ts';

/** Members that only one kind of event has. */
export type EventDetails = Readonly<Record<string, unknown>>;

/** An event: what happened, for which collaboration, and when. */
type Happened = {
  readonly collaboration: Collaboration;
  readonly details: EventDetails;
  /** Unix milliseconds. */
  readonly atMs: number;
};

/** A past event, whether or not a webhook was registered for it. */
type PastEvent = Happened & {
  readonly kind: WebhookType;
  /** How many webhooks were registered for it. */
  readonly webhooks: number;
};

type Attempt = {
  readonly at: string;
  readonly status: number | null;
  /** Why there is no status, if there is none. */
  readonly error: string | null;
};

/** One event for one webhook, and the attempts to deliver it. */
type Delivery = {
  readonly id: number;
  readonly webhook_type: WebhookType;
  readonly webhook_url: string;
  readonly state: 'pending' | 'delivered' | 'failed';
  /** The body, byte for byte as sent. */
  readonly body: string;
  readonly attempts: readonly Attempt[];
  /** The delivery that this one repeats on request. */
  readonly redelivery_of?: number;
};

export type Events = {
  /**
   * Sends an event to each webhook of its kind, in the background.
   * @returns the number of webhooks.
   */
  fire(kind: WebhookType, event: Happened): number;
  /**
   * Sends the body of an earlier delivery again, to the same webhook.
   * @returns the new delivery; null if there is none with this id.
   */
  redeliver(id: number): Delivery | null;
  /** The latest events since the start, the oldest first. */
  past(): readonly PastEvent[];
  /** Deliveries and their results, oldest first. Of completed deliveries, only the latest are kept. */
  deliveries(): Iterable<Delivery>;
  /** Stops sending. If the state is kept, pending deliveries are sent after the next start. */
  close(): void;
};

type EventsOptions = {
  readonly poster: Poster;
  /** How the service writes its events. */
  readonly description: EventDescription;
  /** Delay before the second attempt; each further delay is twice as long. */
  readonly retryMs: number;
  readonly appUrl: () => string;
  readonly clock: Clock;
  readonly stream: EventStream;
};

/** The first attempt and five retries: half a minute in all if the first delay is one second. */
const MAX_ATTEMPTS = 6;

/** Maximum number of concurrent deliveries. */
const AT_A_TIME = 32;

/** Maximum number of deliveries in the log. */
const MAX_KEPT = 50_000;

/** As many past events as the page shows. */
const MAX_PAST = 100;

/**
 * Creates the sender of an account's events, which works in the background. It first sends deliveries that
 * were pending when the previous process ended.
 */
export function createEvents(
  account: Account,
  { poster, description, retryMs, appUrl, clock, stream }: EventsOptions,
): Events {
  const log = createCollection<Delivery>(account.stateStore, 'delivery');
  const limit = pLimit(AT_A_TIME);
  const waiting = new Set<() => void>();
  const past: PastEvent[] = [];
  let lastId = Math.max(0, ...[...log.items.values()].map(({ id }) => id));
  let isClosed = false;

  async function attempt(delivery: Delivery): Promise<void> {
    if (isClosed) return;
    const at = new Date(clock.now()).toISOString();
    const isRegistered = account.webhooks.items.has(`${delivery.webhook_type} ${delivery.webhook_url}`);
    const { status, error } = isRegistered
      ? await poster.post({ url: delivery.webhook_url, body: delivery.body })
      : { status: null, error: 'the webhook was deleted' };
    // If closing cut the connection, the failure says nothing about the receiver.
    if (isClosed) return;
    const attempts = [...delivery.attempts, { at, status, error }];
    const isDelivered = status !== null && status >= 200 && status <= 299;
    const isOver = !isRegistered || attempts.length >= MAX_ATTEMPTS;
    const state = isDelivered ? 'delivered' : isOver ? 'failed' : 'pending';
    const next: Delivery = { ...delivery, state, attempts };
    log.set(String(delivery.id), next);
    account.stateStore.commit();
    if (state === 'pending') wait(next);
  }

  function send(delivery: Delivery): void {
    void limit(attempt, delivery);
  }

  function begin(event: Pick<Delivery, 'webhook_type' | 'webhook_url' | 'body' | 'redelivery_of'>): Delivery {
    lastId += 1;
    const delivery: Delivery = { ...event, id: lastId, state: 'pending', attempts: [] };
    log.set(String(lastId), delivery);
    send(delivery);
    return delivery;
  }

  function wait(delivery: Delivery): void {
    const waitMs = retryMs * 2 ** (delivery.attempts.length - 1);
    const cancel = clock.schedule(clock.now() + waitMs, () => {
      waiting.delete(cancel);
      send(delivery);
    });
    waiting.add(cancel);
  }

  function forgetOldest(): void {
    for (const [id, { state }] of log.items) {
      if (log.items.size <= MAX_KEPT) return;
      if (state !== 'pending') log.delete(id);
    }
  }

  for (const delivery of log.items.values()) if (delivery.state === 'pending') send(delivery);

  return {
    past: () => past,
    fire(kind, event) {
      const urls = account.webhooks.items.size === 0 ? [] : listening(account, kind);
      past.push({ ...event, kind, webhooks: urls.length });
      if (past.length > MAX_PAST) past.shift();
      if (urls.length === 0 && !stream.isWatched()) return 0;
      const payload = describeEvent(account, event, appUrl());
      // Events name their kind only if the description says where.
      const named = description.kind === specifiedService.events.kind ? null : kind;
      const body = JSON.stringify(toServiceEvent(description, payload, named));
      stream.publish({ accountId: account.id, kind, body });
      for (const url of urls) begin({ webhook_type: kind, webhook_url: url, body });
      if (log.items.size > MAX_KEPT) forgetOldest();
      return urls.length;
    },
    redeliver(id) {
      const earlier = log.items.get(String(id));
      return earlier === undefined ? null : begin({ ...earlier, redelivery_of: id });
    },
    deliveries: () => log.items.values(),
    close() {
      isClosed = true;
      limit.clearQueue();
      for (const cancel of waiting) cancel();
      poster.close();
    },
  };
}

/** The addresses that are registered for a kind of event. */
export function listening(account: Account, kind: WebhookType): readonly string[] {
  return [...account.webhooks.items.values()]
    .filter(({ webhook_type }) => webhook_type === kind)
    .map(({ webhook_url }) => webhook_url);
}

/** Builds the body of an event: the members common to all kinds, and the details of its kind. */
function describeEvent(
  account: Account,
  { collaboration, details, atMs }: Happened,
  appUrl: string,
): unknown {
  const { deal } = collaboration;
  const dealflow = account.dealflows.get(collaboration.dealflowId);
  return {
    deal_id: deal.id,
    collab_id: collaboration.id,
    deal_url: `${appUrl}/deal/${deal.id}`,
    webhook_timestamp: String(Math.floor(atMs / 1000)),
    deal_info: {
      deal_name: deal.influencerHandle,
      is_active: deal.isActive,
      dealflow_funnel_step: deal.funnelStep,
      dealflow_type: 'crm',
      dealflow_name: dealflow?.name ?? null,
      picture_url: null,
      nr_followers: null,
      full_name: fullName(deal.details),
      platform: deal.platform,
      profile_url: `https://${encodeURIComponent(deal.platform)}.example/${encodeURIComponent(deal.influencerHandle)}`,
    },
    ...details,
  };
}

function fullName({ first_name: first, last_name: last }: Readonly<Record<string, unknown>>): string | null {
  const name = [first, last].filter((part) => typeof part === 'string' && part !== '').join(' ');
  return name === '' ? null : name;
}

/** An event of one account, with its body as sent. */
type StreamedEvent = { readonly accountId: string; readonly kind: WebhookType; readonly body: string };

/** Passes events to subscribers in addition to webhooks. `webhooks listen` uses it and needs no webhook. */
export type EventStream = {
  /** Whether there are subscribers. */
  isWatched(): boolean;
  publish(event: StreamedEvent): void;
  /** @returns a function that ends the subscription. */
  watch(take: (event: StreamedEvent) => void): () => void;
};

export function createEventStream(): EventStream {
  const watchers = new Set<(event: StreamedEvent) => void>();
  return {
    isWatched: () => watchers.size > 0,
    publish(event) {
      for (const take of watchers) take(event);
    },
    watch(take) {
      watchers.add(take);
      return () => {
        watchers.delete(take);
      };
    },
  };
}
