import { type RawBuilder, sql } from 'kysely';
import { bodySql } from './body-sql.ts';
import { detail, type EffectKind, keyOf, namesItsDeal } from './effect.ts';

/** Clicks that are added to the total of a deal. */
export const click: EffectKind = {
  effect: 'click',
  operation: 'new_influencer_click',
  referenceMember: null,
  subject: sql`${detail('clicks')} || ' clicks of ' || (${detail('target')}) || ' on ' || (${detail('day')}) || coalesce(' from ' || nullif(${detail('country')}, ''), '')`,
  namesDeal: true,
  ifRepeated: 'the clicks count twice',
  readAcceptance: namesItsDeal,
  findContradiction({ new_clicks_value: total }, { increase_clicks: added }) {
    return Number(total ?? Number.NaN) < Number(added)
      ? 'that counts fewer clicks than were sent'
      : undefined;
  },
};

/**
 * SQL for the request body of clicks. A deal identifies the influencer, so a handle is sent only without a
 * deal.
 *
 * @param row alias of a row with `deal_id, collab_id, influencer_handle, brand_id, clicks, country_code`.
 */
export function clickBody(row: string): RawBuilder<string> {
  const column = (name: string) => sql.ref(`${row}.${name}`);
  return bodySql('new_influencer_click', {
    influencer_handle: sql`case when ${column('deal_id')} is null then ${column('influencer_handle')} end`,
    deal_id: column('deal_id'),
    collab_id: column('collab_id'),
    brand_id: column('brand_id'),
    increase_clicks: sql`${column('clicks')}::text`,
    country_code: column('country_code'),
  });
}

/**
 * SQL for the idempotency key of clicks: target, day, source, country, and the number of clicks that were
 * already posted for them.
 */
export function clickKey(row: string): RawBuilder<string> {
  return keyOf(['target', 'day', 'source', 'country', 'start_at'].map((name) => sql.ref(`${row}.${name}`)));
}
