import type { DecimalText, InstantText } from '../order.ts';

/** How the receiver of events listens and whom it believes. */
export type WebhookSettings = {
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  /** Where events are posted to, beginning with a slash and without one at its end. */
  readonly path: string;
  /** Signing secrets that are accepted: one, or two while they are rotated. None: nothing can be received. */
  readonly secrets: readonly string[];
  /** What the names of the two headers begin with: `X-Service` for `X-Service-Signature`. */
  readonly headerPrefix: string;
  /** How the signature is written. */
  readonly encoding: 'hex' | 'base64';
  /** A larger body is refused, in bytes. */
  readonly maxBodyBytes: number;
  /** Connections of one address at most; one more ends the one that has waited longest. */
  readonly maxConnectionsPerAddress: number;
  /** How far the timestamp header may be from now; 0 or not given: any, or none at all. */
  readonly maxAgeSeconds?: number;
};

/** A signed event of the service. */
export type WebhookEvent = {
  /** As `webhook_type`; `unknown` where neither the body nor the address tells. */
  readonly kind: string;
  /** JSON text that Postgres takes, without values that are not needed (`redactEvent`). */
  readonly body: string;
  /** Of the raw body, in hex. */
  readonly bodySha256: string;
  readonly dealId: string | null;
  readonly collabId: string | null;
  /** By the timestamp header, which is not signed. */
  readonly sentAt: InstantText | null;
  /** What it says about an order; null for other kinds. */
  readonly order: OrderEvent | null;
  /** What it says about a code or link; null for other kinds. */
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

/** A discount code or link of a deal that was set, changed or taken away. */
export type CodeChange = {
  readonly kind: 'discount_code' | 'custom_link';
  readonly oldValue: string | null;
  readonly newValue: string | null;
};
