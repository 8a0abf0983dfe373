import { createHash } from 'node:crypto';
import type { CodeChange, OrderEvent, WebhookEvent } from '../../core/http/webhook-event.ts';
import { isObject, parseExactJson, parseJsonWith } from '../../core/json/exact-json.ts';
import { parseStorable } from '../../core/json/storable-json.ts';
import { toNfc } from '../../core/text/normal-form.ts';
import { fromServiceEvent, hasOwnPayloads } from '../../service/description/events.ts';
import type { EventDescription } from '../../service/description/schema.ts';
import { readTimestamp } from '../../service/description/signature.ts';
import { isFilled } from '../../service/description/verdict.ts';

/** A delivery whose signature was verified. */
export type Delivery = {
  readonly body: Buffer;
  /**
   * The last part of the address, if each kind is registered with an address of its own. Null if it has none.
   * Not signed.
   */
  readonly addressKind: string | null;
  /** The timestamp header. Usually not signed. */
  readonly timestamp: string | undefined;
  /** How the service writes its payloads. Default: in our words. */
  readonly events?: EventDescription;
};

/** Events contain no kind, but most kinds have a distinctive member. */
const KIND_BY_MEMBER: Readonly<Record<string, string>> = {
  order_information: 'new_influencer_order',
  code_information: 'update_discount_code',
  commission_information: 'update_commission',
  custom_link_information: 'update_custom_link',
  max_bid_information: 'new_max_bid',
  send_product_info: 'product_sent',
  payout_amount: 'new_payout_request',
};

const KIND = /^[a-z][a-z0-9_]{0,63}$/;

/** Longer texts are not valid ids or codes. */
const MAX_TEXT = 500;

type Members = Readonly<Record<string, unknown>>;

/**
 * Reads the members of an event that we need. Never throws: an event that cannot be interpreted is stored
 * too.
 */
export function readEvent({ body, addressKind, timestamp, events }: Delivery): WebhookEvent {
  const received = body.toString('utf8');
  const text = events === undefined || hasOwnPayloads(events) ? received : inOurWords(events, received);
  const members = readMembers(text);
  const kind = kindOf(members, addressKind);
  return {
    kind,
    // JSON text that Postgres accepts. Nothing of a body is stored that is no JSON, or is nested absurdly deep.
    body: JSON.stringify(redactEvent(parseStorable(text)?.value ?? text)),
    bodySha256: createHash('sha256').update(body).digest('hex'),
    dealId: textOf(members.deal_id),
    collabId: textOf(members.collab_id),
    sentAt: toInstant(readTimestamp(timestamp, events?.timestamp ?? 'seconds')),
    order: readOrder(textOf(members.webhook_type) ?? kind, members),
    codeChange: readCodeChange(kind, members),
  };
}

/**
 * The record of an event that was refused because it is signed in another way than described: no part of the event, only
 * the settings that fit.
 */
export function toMismatch(body: Buffer, proposal: Partial<EventDescription>): WebhookEvent {
  return {
    kind: 'signature_mismatch',
    body: JSON.stringify(proposal),
    // Not that of the body: once it is described, the service may send the same event again.
    bodySha256: createHash('sha256').update('signature_mismatch ').update(body).digest('hex'),
    dealId: null,
    collabId: null,
    sentAt: null,
    order: null,
    codeChange: null,
  };
}

/** Numbers are kept as the text that was sent, so that no id or amount loses a digit. */
function readMembers(text: string): Members {
  try {
    return membersOf(parseJsonWith(text, (value, digits) => digits ?? value));
  } catch {
    return {};
  }
}

function membersOf(value: unknown): Members {
  return isObject(value) ? value : {};
}

function kindOf(members: Members, addressKind: string | null): string {
  const said = textOf(members.webhook_type);
  if (said !== null && KIND.test(said)) return said;
  const member = Object.keys(KIND_BY_MEMBER).find((name) => name in members);
  const told = member === undefined ? undefined : KIND_BY_MEMBER[member];
  if (told !== undefined) return told;
  return addressKind !== null && KIND.test(addressKind) ? addressKind : 'unknown';
}

function readOrder(kind: string, event: Members): OrderEvent | null {
  const order = membersOf(event.order_information);
  const orderId = textOf(order.order_id);
  if (orderId === null) return null;
  const revenue = textOf(order.order_revenue) ?? '';
  const currencyCode = textOf(order.order_currency)?.toUpperCase() ?? '';
  const orderPlatform = textOf(order.platform);
  const amount = /^-?\d{1,14}(\.\d{1,100})?$/.test(revenue) ? revenue : null;
  const currency = /^[A-Z]{3}$/.test(currencyCode) ? currencyCode : null;
  const stated: readonly (readonly [unknown, string | null])[] = [
    [order.order_revenue, amount],
    [order.order_currency, currency],
    [order.platform, orderPlatform],
    [event.deal_id, textOf(event.deal_id)],
    [event.collab_id, textOf(event.collab_id)],
  ];
  return {
    isCredit: kind === 'new_influencer_order',
    isLegible: stated.every(([value, read]) => read !== null || !isFilled(value)),
    orderId: toNfc(orderId),
    orderPlatform,
    amount,
    currency,
  };
}

function readCodeChange(kind: string, members: Members): CodeChange | null {
  if (kind !== 'update_discount_code' && kind !== 'update_custom_link') return null;
  const code = membersOf(members.code_information);
  const link = membersOf(members.custom_link_information);
  const change =
    kind === 'update_discount_code'
      ? ({
          kind: 'discount_code',
          oldValue: textOf(code.old_discount_code),
          newValue: textOf(code.new_discount_code),
        } as const)
      : ({
          kind: 'custom_link',
          oldValue: textOf(link.old_custom_link),
          newValue: textOf(link.new_custom_link),
        } as const);
  return change.oldValue === null && change.newValue === null ? null : change;
}

/** Non-empty text that Postgres accepts. */
function textOf(value: unknown): string | null {
  if (typeof value !== 'string') return null;
  const text = value.replaceAll('\u0000', '').toWellFormed().trim();
  return text === '' || text.length > MAX_TEXT ? null : text;
}

/** A time of this century; other Unix seconds are not one. */
function toInstant(seconds: number | null): string | null {
  const isTime = seconds !== null && seconds >= 100_000_000 && seconds < 10_000_000_000;
  return isTime ? new Date(seconds * 1000).toISOString() : null;
}

function inOurWords(events: EventDescription, text: string): string {
  try {
    return JSON.stringify(fromServiceEvent(events, parseExactJson(text)));
  } catch {
    return text;
  }
}

/** Placeholder for a value that is not stored. */
const NOT_STORED = '[not stored]';

/**
 * Members of events whose values are stored: ids, amounts, codes, links, dates, and public properties of a
 * deal. All others may be personal: the postal address of `product_sent`, the text of a reply, a name, a
 * comment. An event of an unknown kind may contain anything.
 */
const STORED: ReadonlySet<string> = new Set([
  'deal_id',
  'collab_id',
  'brand_id',
  'deal_url',
  'webhook_timestamp',
  'webhook_type',
  'deal_name',
  'dealflow_funnel_step',
  'dealflow_type',
  'dealflow_name',
  'nr_followers',
  'platform',
  'order_id',
  'order_name',
  'order_revenue',
  'order_currency',
  'order_timestamp',
  'match_types',
  'account_currency',
  'account_currency_revenue',
  'paid_commission',
  'commission_rate',
  'discount_codes',
  'old_discount_code',
  'new_discount_code',
  'old_discount_perc',
  'new_discount_perc',
  'old_custom_link',
  'new_custom_link',
  'old_custom_link_target',
  'new_custom_link_target',
  'old_commission_perc',
  'new_commission_perc',
  'payout_currency',
  'payout_amount',
  'post_url',
  'post_type',
  'published_time',
  'received_time',
  'quantity',
]);

/**
 * Returns an event as it may be stored. Values are kept only for members in `STORED`. Of all other members,
 * only their presence is kept, and whether they were null, true or false.
 */
export function redactEvent(event: unknown, isStored = false): unknown {
  if (Array.isArray(event)) return event.map((item) => redactEvent(item, isStored));
  if (isObject(event))
    return Object.fromEntries(
      Object.entries(event).map(([name, value]) => [name, redactEvent(value, STORED.has(name))]),
    );
  return isStored || event === null || typeof event === 'boolean' ? event : NOT_STORED;
}
