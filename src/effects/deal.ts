import { sql } from 'kysely';
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

/** A note at a deal. The answer is a message alone. */
export const note: EffectKind = {
  effect: 'note',
  operation: 'create_note',
  referenceMember: null,
  subject: sql`'note at deal ' || (e.body::json ->> 'deal_id')`,
  namesDeal: false,
  readAcceptance: readMessage,
};

/** A task at a deal. The answer is a message alone. */
export const task: EffectKind = {
  effect: 'task',
  operation: 'create_task',
  referenceMember: null,
  subject: sql`'task at deal ' || (e.body::json ->> 'deal_id')`,
  namesDeal: false,
  readAcceptance: readMessage,
};

function readMessage({ message }: Readonly<Record<string, unknown>>) {
  return typeof message === 'string' ? { dealId: null, collabId: null, message } : null;
}
