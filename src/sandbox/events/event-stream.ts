import type { WebhookType } from '../../api/contract/webhook-types.ts';

/** An event of one account, with its body as it is sent. */
export type StreamedEvent = {
  readonly accountId: string;
  readonly kind: WebhookType;
  readonly body: string;
};

/** Hands events to whoever watches, beside the webhooks: `webhooks listen` needs none. */
export type EventStream = {
  /** Whether anyone watches. */
  isWatched(): boolean;
  publish(event: StreamedEvent): void;
  /** @returns how to stop watching. */
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
