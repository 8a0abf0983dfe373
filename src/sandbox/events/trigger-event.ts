import { z } from 'zod';
import { type WebhookType, webhookTypes } from '../../service/contract/webhook-types.ts';
import { explainIssues } from '../../service/explain-issues.ts';
import type { Account, Collaboration } from '../account/account.ts';
import { changeTerms, type Terms } from '../account/commission.ts';
import { findCollaboration } from '../account/find-collaboration.ts';
import { type Answer, answer, refuse, type World } from '../operations/operation.ts';
import { describeHappening } from './describe-happening.ts';
import { listening } from './events.ts';

const amount = z.coerce.number();
const text = z.string().min(1);

/** Identifies the collaboration. Without deal, handle and collaboration id, it is the account's first. */
const named = {
  deal_id: z.string().optional(),
  influencer_handle: z.string().optional(),
  collab_id: z.string().optional(),
  brand_id: z.coerce.number().int().optional(),
};

/** Settings of the kinds that no operation causes, with defaults. All values may be given as text. */
const happenings = {
  new_payout_request: z.strictObject({
    ...named,
    payout_comment: z.string().default('Payout for last month'),
    payout_currency: text.default('EUR'),
    payout_amount: amount.default(125),
  }),
  new_max_bid: z.strictObject({ ...named, max_bid_comment: z.string().default('Max bid of 400 EUR') }),
  product_sent: z.strictObject({
    ...named,
    product: text.default('Sample product'),
    quantity: z.coerce.number().int().min(1).default(1),
    customer_email: text.default('creator@example.com'),
    phone: z.string().default('+31000000000'),
  }),
  new_email_sent: z.strictObject({ ...named, ...emailWith('Our collaboration') }),
  new_influencer_reply: z.strictObject({ ...named, ...emailWith('Re: Our collaboration') }),
  new_influencer_post: z.strictObject({
    ...named,
    post_url: text.default('https://posts.example/1'),
    post_type: text.default('post'),
    caption: z.string().default('A new post'),
  }),
} as const;

/**
 * Settings of the kinds that a change of state causes. `new_influencer_order` is missing because it takes the
 * fields of a referral.
 */
const terms = z.strictObject({
  ...named,
  code: z.string().optional(),
  code_perc: amount.optional(),
  commission_perc: amount.optional(),
  custom_url: z.string().optional(),
  custom_url_target: z.string().optional(),
});

function emailWith(subject: string) {
  return {
    subject: text.default(subject),
    body: z.string().default('Hello!'),
    from: text.default('sender@example.com'),
    to: text.default('receiver@example.com'),
  };
}

/** @returns true if the text is one of the ten kinds. */
export function isWebhookType(kind: string): kind is WebhookType {
  return (webhookTypes as readonly string[]).includes(kind);
}

/**
 * Triggers an event. A kind that no operation causes is sent without any change of state. For a kind that
 * reports a change of code, commission or link, the change is made. For an order, `refer` runs the referral
 * operation itself.
 */
export function triggerEvent(
  world: World,
  kind: WebhookType,
  { input, refer }: { input: unknown; refer: (order: unknown) => Answer },
): Answer {
  if (kind === 'new_influencer_order') return triggerOrder(world, { input, refer });
  const schema = kind in happenings ? happenings[kind as keyof typeof happenings] : terms;
  const read = schema.safeParse(input ?? {});
  if (!read.success) return refuse(400, explainIssues(read.error.issues));
  const found = findCollaboration(world.account, nameSomeone(world.account, read.data));
  if (found.kind === 'refused') return found.answer;
  const { collaboration } = found;
  if (!(kind in happenings)) {
    changeTerms(world, collaboration, chooseTerms(kind, collaboration, read.data as Terms));
    return told(kind, collaboration, listening(world.account, kind).length);
  }
  const atMs = world.clock.now();
  const details = describeHappening(kind, collaboration, { settings: withoutNames(read.data), atMs });
  return told(kind, collaboration, world.events.fire(kind, { collaboration, details, atMs }));
}

/** The number of the next order in the account, so that the same seed and requests give the same ids. */
function nextNumber({ collaborations }: Account): number {
  return [...collaborations.values()].reduce((sum, { referrals }) => sum + referrals, 1);
}

function triggerOrder(
  { account }: World,
  { input, refer }: { input: unknown; refer: (order: unknown) => Answer },
): Answer {
  const given =
    typeof input === 'object' && input !== null ? (input as Readonly<Record<string, unknown>>) : {};
  const { order_revenue: revenue = 49.5, brand_id: brand, ...rest } = given;
  const order = {
    order_id: `triggered-${nextNumber(account)}`,
    order_platform: 'sandbox',
    ...nameSomeone(account, rest),
    ...(brand === undefined ? {} : { brand_id: Number(brand) }),
    order_revenue: Number(revenue),
  };
  return refer(order);
}

/** Returns the input, with the account's first collaboration if it identifies none. */
function nameSomeone<Input extends Readonly<Record<string, unknown>>>(account: Account, input: Input): Input {
  if (input.deal_id || input.influencer_handle || input.collab_id) return input;
  const [first] = account.collaborations.keys();
  return { ...input, collab_id: first ?? '' };
}

/** Returns the given terms, or terms that differ from the current ones, so that something changes. */
function chooseTerms(kind: WebhookType, { code, details }: Collaboration, given: Terms): Terms {
  const { code: newCode, code_perc, commission_perc, custom_url, custom_url_target } = given;
  switch (kind) {
    case 'update_discount_code':
      return {
        ...(newCode === undefined && code_perc === undefined ? { code: `${code ?? 'CODE'}X` } : {}),
        ...(newCode === undefined ? {} : { code: newCode }),
        ...(code_perc === undefined ? {} : { code_perc }),
      };
    case 'update_commission':
      return { commission_perc: commission_perc ?? Number(details.commission_perc ?? 10) + 1 };
    default:
      return {
        custom_url: custom_url ?? nextLink(details.custom_url),
        ...(custom_url_target === undefined ? {} : { custom_url_target }),
      };
  }
}

/** Returns a link that differs from the current one. */
function nextLink(before: unknown): string {
  const number = /\/go\/(\d+)$/.exec(typeof before === 'string' ? before : '')?.[1] ?? '0';
  return `https://shop.example/go/${Number(number) + 1}`;
}

/** Removes the members that identify the collaboration. */
function withoutNames(settings: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { deal_id: _d, influencer_handle: _h, collab_id: _c, brand_id: _b, ...rest } = settings;
  return rest;
}

function told(kind: WebhookType, { id, deal }: Collaboration, deliveries: number): Answer {
  return answer({ webhook_type: kind, deal_id: deal.id, collab_id: id, deliveries });
}
