import { type RawBuilder, sql } from 'kysely';

/**
 * The request body of a referral as exact JSON text, built where the exact amount is. A deal says enough by itself; a handle is only
 * sent without one. `order_notes` is added when the request is sent.
 *
 * @param row alias of a row with `deal_id, collab_id, influencer_handle, brand_id, order_id, amount, order_platform, codes, currency`.
 */
export function referralBody(row: string): RawBuilder<string> {
  const column = (name: string) => sql.ref(`${row}.${name}`);
  const text = (name: string) => sql`to_json(${column(name)})::text`;
  return sql<string>`'{' || concat_ws(',',
    case when ${column('deal_id')} is null then '"influencer_handle":' || ${text('influencer_handle')} end,
    '"deal_id":' || ${text('deal_id')},
    '"collab_id":' || ${text('collab_id')},
    '"brand_id":' || case when ${column('brand_id')} ~ '^[0-9]{1,30}$' then ${column('brand_id')}::numeric::text
                     else ${text('brand_id')} end,
    '"order_id":' || ${text('order_id')},
    '"order_revenue":' || trim_scale(${column('amount')})::text,
    '"order_platform":' || ${text('order_platform')},
    '"order_discount_codes_used":' || to_json(nullif(array_to_string(${column('codes')}, ', '), ''))::text,
    '"currency":' || ${text('currency')}) || '}'`;
}

/** Idempotency key of a referral: platform and order id as JSON, so that no two orders share one. */
export function referralKey(row: string): RawBuilder<string> {
  const text = (name: string) => sql`to_json(${sql.ref(`${row}.${name}`)})::text`;
  return sql<string>`'[' || ${text('order_platform')} || ',' || ${text('order_id')} || ']'`;
}
