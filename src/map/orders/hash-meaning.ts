import { hash } from 'node:crypto';
import { ORDER_COLUMNS, type StagedOrder } from '../../model/order.ts';

/** Never part of a value: control characters are cleaned or refused. */
const BETWEEN_FIELDS = '\u001f';
const BETWEEN_ITEMS = '\u001e';
const ABSENT = '\u0000';

const FIELDS = ORDER_COLUMNS.map(({ field }) => field);

/** Equal for equal meaning, whatever file, line or number of rows it came from. */
export function hashMeaning(order: Omit<StagedOrder, 'contentHash'>): string {
  let text = '';
  for (const field of FIELDS) {
    const value = order[field];
    text += `${typeof value === 'string' ? value : (value?.join(BETWEEN_ITEMS) ?? ABSENT)}${BETWEEN_FIELDS}`;
  }
  return hash('sha256', text, 'base64url');
}
