import type { WebhookType } from '../../service/contract/webhook-types.ts';

/** An event of one account, with its body as sent. */
export type StreamedEvent = {
  readonly accountId: string;
  readonly kind: WebhookType;
  readonly body: string;
};

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
