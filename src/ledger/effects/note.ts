import { type RawBuilder, sql } from 'kysely';
import { toSafeText } from '../../service/read-error.ts';
import { bodySql } from './body-sql.ts';
import { type EffectKind, keyOf } from './effect.ts';

/** A note on a deal. The service answers with only a message. */
export const note: EffectKind = {
  effect: 'note',
  operation: 'create_note',
  referenceMember: null,
  subject: sql`'note at deal ' || (e.body::json ->> 'deal_id')`,
  namesDeal: false,
  ifRepeated: 'the deal has the note twice',
  readAcceptance: readMessage,
};

/** A task on a deal, which is answered in the same way. */
export const task: EffectKind = {
  ...note,
  effect: 'task',
  operation: 'create_task',
  ifRepeated: 'the deal has the task twice',
  subject: sql`'task at deal ' || (e.body::json ->> 'deal_id')`,
};

/** SQL for the request body of a note. @param row alias of a row with `deal_id, note`. */
export function noteBody(row: string): RawBuilder<string> {
  return bodySql('create_note', {
    deal_id: sql.ref(`${row}.deal_id`),
    note_description: sql.ref(`${row}.note`),
  });
}

/**
 * SQL for the request body of a task.
 *
 * @param row alias of a row with `deal_id, note, title, deadline` as DD-MM-YYYY, and `assigned_to`; null: nobody.
 */
export function taskBody(row: string): RawBuilder<string> {
  const column = (name: string) => sql.ref(`${row}.${name}`);
  return bodySql('create_task', {
    deal_id: column('deal_id'),
    tasktype: sql`'todo_task'::text`,
    task_title: column('title'),
    task_description: column('note'),
    deadline: column('deadline'),
    assigned_to: column('assigned_to'),
  });
}

/** SQL for the idempotency key of a note: the same text is added to a deal only once. */
export function noteKey(row: string): RawBuilder<string> {
  const text = sql.ref(`${row}.note`);
  return keyOf([sql.ref(`${row}.deal_id`), sql`encode(sha256(convert_to(${text}, 'UTF8')), 'hex')`]);
}

function readMessage({ message }: Readonly<Record<string, unknown>>) {
  const text = typeof message === 'string' ? toSafeText(message) : null;
  return text === null ? null : { dealId: null, collabId: null, message: text };
}
