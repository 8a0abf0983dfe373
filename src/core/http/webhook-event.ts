import type { DecimalText, InstantText } from '../order.ts';
import type { EventDescription } from './service-description.ts';

/** How the webhook receiver listens, and which requests it accepts. */
export type WebhookSettings = {
  readonly host: string;
  /** 0 selects a free port. */
  readonly port: number;
  /** Path to which events are posted. It begins with a slash and does not end with one. */
  readonly path: string;
  /** Accepted signing secrets: one, or two during a rotation. Without any, no event can be received. */
  readonly secrets: readonly string[];
  /** How the service signs and writes its events. */
  readonly events: EventDescription;
  /** Maximum size of a body in bytes. A larger one is refused. */
  readonly maxBodyBytes: number;
  /** Maximum number of connections from one address. One more closes the one that has been idle longest. */
  readonly maxConnectionsPerAddress: number;
  /**
   * Maximum difference between the timestamp header and the current time. 0 or omitted: the header is not
   * checked and need not be present.
   */
  readonly maxAgeSeconds?: number;
};

/** A signed event of the service. */
export type WebhookEvent = {
  /** The `webhook_type`. `unknown` if neither the body nor the path contains it. */
  readonly kind: string;
  /** JSON text that Postgres accepts, without values that are not needed (`redactEvent`). */
  readonly body: string;
  /** SHA-256 of the raw body, in hex. */
  readonly bodySha256: string;
  readonly dealId: string | null;
  readonly collabId: string | null;
  /** From the timestamp header, which is not signed. */
  readonly sentAt: InstantText | null;
  /** The order in the event. Null for other kinds. */
  readonly order: OrderEvent | null;
  /** The change of a code or link in the event. Null for other kinds. */
  readonly codeChange: CodeChange | null;
};

/** An order that the service has attributed to an influencer. */
export type OrderEvent = {
  readonly orderId: string;
  readonly orderPlatform: string | null;
  /** In `currency`. */
  readonly amount: DecimalText | null;
  readonly currency: string | null;
};

/** A discount code or link of a deal that was set, changed or removed. */
export type CodeChange = {
  readonly kind: 'discount_code' | 'custom_link';
  readonly oldValue: string | null;
  readonly newValue: string | null;
};
