import { type RawBuilder, sql } from 'kysely';
import { bodySql } from './body-sql.ts';
import { detail, type EffectKind, keyOf, namesItsDeal } from './effect.ts';
import { isOther } from './find-other.ts';

/** A deal that is created in a dealflow. */
export const deal: EffectKind = {
  effect: 'create_deal',
  operation: 'create_deal',
  referenceMember: null,
  subject: sql`'deal of ' || (${detail('handle')}) || ' on ' || (${detail('platform')})`,
  namesDeal: true,
  ifRepeated: 'the influencer may have two deals',
  readAcceptance: namesItsDeal,
  findContradiction({ deal_id: id, deal_page_url: page }) {
    const [, named] = /\/deal\/([^/?#]+)/.exec(typeof page === 'string' ? page : '') ?? [];
    return isOther(id, named) ? 'whose page is that of another deal' : undefined;
  },
};

/**
 * SQL for the request body of a deal.
 *
 * @param row alias of a row with `influencer_handle, platform, brand_id, dealflow_id, stage, code,
 * code_percent, custom_link, custom_link_target, commission_percent, create_affiliate_details`.
 */
export function dealBody(row: string): RawBuilder<string> {
  const column = (name: string) => sql.ref(`${row}.${name}`);
  return bodySql('create_deal', {
    influencer_handle: column('influencer_handle'),
    platform: column('platform'),
    brand_id: column('brand_id'),
    dealflow_id: column('dealflow_id'),
    funnel_step: sql`${column('stage')}::text`,
    code: column('code'),
    code_perc: column('code_percent'),
    custom_url: column('custom_link'),
    custom_url_target: column('custom_link_target'),
    commission_perc: column('commission_percent'),
    create_affiliate_details: column('create_affiliate_details'),
  });
}

/** SQL for the idempotency key of a deal: handle, platform, brand and dealflow. */
export function dealKey(row: string): RawBuilder<string> {
  return keyOf(
    ['handle_folded', 'platform', 'brand_id', 'dealflow_id'].map((name) => sql.ref(`${row}.${name}`)),
  );
}
