import type { DecimalText } from '../money.ts';
import type { InstantText } from '../order.ts';

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
  /** The order that the event names. Null for other kinds. */
  readonly order: OrderEvent | null;
  /** The change of a code or link in the event. Null for other kinds. */
  readonly codeChange: CodeChange | null;
};

/** An order that an event names. */
export type OrderEvent = {
  /** True if the event is known to say that the order is credited. Another kind may say that it no longer is. */
  readonly isCredit: boolean;
  /** False if the event states something about the order that cannot be read, such as the amount `1,5`. */
  readonly isLegible: boolean;
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
