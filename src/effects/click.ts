import { type RawBuilder, sql } from 'kysely';
import { bodySql } from './body-sql.ts';
import { detail, type EffectKind, namesItsDeal } from './effect.ts';

/** Clicks that are added to the total of a deal. */
export const click: EffectKind = {
  effect: 'click',
  operation: 'new_influencer_click',
  referenceMember: null,
  subject: sql`${detail('clicks')} || ' clicks of ' || (${detail('target')}) || ' on ' || (${detail('day')}) || coalesce(' from ' || nullif(${detail('country')}, ''), '')`,
  namesDeal: true,
  readAcceptance: namesItsDeal,
};

/**
 * The request body of clicks. A deal says enough by itself; a handle is only sent without one.
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

/** Idempotency key of clicks: whose, on which day, as which source counts them, from which country, and how many were posted for that before. */
export function clickKey(row: string): RawBuilder<string> {
  const parts = ['target', 'day', 'source', 'country', 'start_at'].map(
    (name) => sql`to_json(${sql.ref(`${row}.${name}`)})::text`,
  );
  return sql<string>`'[' || concat_ws(',', ${sql.join(parts)}) || ']'`;
}
