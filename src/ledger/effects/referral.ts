import { type RawBuilder, sql } from 'kysely';
import { bodySql } from './body-sql.ts';
import { type EffectKind, namesItsDeal } from './effect.ts';

/** An order that is credited to an influencer. `order_notes` contains the reference of the attempt. */
export const referral: EffectKind = {
  effect: 'referral',
  operation: 'new_influencer_referral',
  referenceMember: 'order_notes',
  subject: sql`coalesce(e.order_platform || ' ', '') || 'order ' || coalesce(e.order_id, '?')`,
  namesDeal: true,
  ifRepeated: 'the influencer is credited twice',
  readAcceptance: namesItsDeal,
};

/**
 * SQL for the request body of a referral, without its reference. A deal identifies the influencer, so a
 * handle is sent only without a deal.
 *
 * @param row alias of a row with `deal_id, collab_id, influencer_handle, brand_id, order_id, amount,
 * order_platform, codes, currency`.
 */
export function referralBody(row: string): RawBuilder<string> {
  const column = (name: string) => sql.ref(`${row}.${name}`);
  return bodySql('new_influencer_referral', {
    influencer_handle: sql`case when ${column('deal_id')} is null then ${column('influencer_handle')} end`,
    deal_id: column('deal_id'),
    collab_id: column('collab_id'),
    brand_id: column('brand_id'),
    order_id: column('order_id'),
    order_revenue: column('amount'),
    order_platform: column('order_platform'),
    order_discount_codes_used: sql`nullif(array_to_string(${column('codes')}, ', '), '')`,
    currency: column('currency'),
  });
}

/** What `order_notes` contains: the reference of the attempt, the notes of the shop, or both. */
export type OrderNotes = 'ours' | 'theirs' | 'both';

/**
 * SQL for the details of a referral: the note that is sent with it, and whether without the reference. It is no part of
 * the body, so another note is no other order. Null if the order has none.
 *
 * @param note SQL for the note of the order.
 */
export function referralDetails(note: RawBuilder<unknown>, orderNotes: OrderNotes): RawBuilder<unknown> {
  if (orderNotes === 'ours') return sql`null::jsonb`;
  const alone = sql.lit(orderNotes === 'theirs');
  return sql`case when ${note} is not null then jsonb_build_object('note', ${note}, 'is_note_alone', ${alone}) end`;
}

/**
 * SQL for the idempotency key of a referral: folded platform and order id as JSON, so that no two orders share a
 * key, and no order has two.
 */
export function referralKey(row: string): RawBuilder<string> {
  return sql<string>`ledger.order_key(${sql.ref(`${row}.order_platform`)}, ${sql.ref(`${row}.order_id`)})`;
}

/**
 * SQL for the body of `row`, with the order id and the platform as the request `sent` spells them. The service knows the
 * order under that spelling, so it is no change. A body without them stays as it is.
 *
 * @param row alias of a row with `body, order_id, order_platform`.
 */
export function respelledBody(row: string, sent: string): RawBuilder<string> {
  const respelled = (text: RawBuilder<unknown>, name: string) => {
    const member = (value: RawBuilder<unknown>) => sql`${sql.lit(`"${name}":`)} || to_json(${value})::text`;
    const known = sql`${sql.ref(sent)}::json ->> ${sql.lit(name)}`;
    return sql<string>`coalesce(replace(${text}, ${member(sql.ref(`${row}.${name}`))}, ${member(known)}), ${text})`;
  };
  return respelled(respelled(sql.ref(`${row}.body`), 'order_id'), 'order_platform');
}
