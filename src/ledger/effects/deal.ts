import { type RawBuilder, sql } from 'kysely';
import { toSafeText } from '../../service/read-error.ts';
import { bodySql } from './body-sql.ts';
import { detail, type EffectKind, namesItsDeal } from './effect.ts';

/** A deal that is created in a dealflow. */
export const deal: EffectKind = {
  effect: 'create_deal',
  operation: 'create_deal',
  referenceMember: null,
  subject: sql`'deal of ' || (${detail('handle')}) || ' on ' || (${detail('platform')})`,
  namesDeal: true,
  readAcceptance: namesItsDeal,
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
  const parts = ['handle_folded', 'platform', 'brand_id', 'dealflow_id'].map(
    (name) => sql`to_json(${sql.ref(`${row}.${name}`)})::text`,
  );
  return sql<string>`'[' || concat_ws(',', ${sql.join(parts)}) || ']'`;
}

/** A note on a deal. The service answers with only a message. */
export const note: EffectKind = {
  effect: 'note',
  operation: 'create_note',
  referenceMember: null,
  subject: sql`'note at deal ' || (e.body::json ->> 'deal_id')`,
  namesDeal: false,
  readAcceptance: readMessage,
};

/** SQL for the request body of a note. @param row alias of a row with `deal_id, note`. */
export function noteBody(row: string): RawBuilder<string> {
  return bodySql('create_note', {
    deal_id: sql.ref(`${row}.deal_id`),
    note_description: sql.ref(`${row}.note`),
  });
}

/** SQL for the idempotency key of a note: the same text is added to a deal only once. */
export function noteKey(row: string): RawBuilder<string> {
  const text = sql.ref(`${row}.note`);
  return sql<string>`'[' || to_json(${sql.ref(`${row}.deal_id`)})::text || ',"' || encode(sha256(convert_to(${text}, 'UTF8')), 'hex') || '"]'`;
}

function readMessage({ message }: Readonly<Record<string, unknown>>) {
  const text = typeof message === 'string' ? toSafeText(message) : null;
  return text === null ? null : { dealId: null, collabId: null, message: text };
}
