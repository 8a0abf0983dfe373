import { type OperationName, operationOf } from '../contract.ts';
import { exampleOf } from './examples.ts';
import { requestFieldsOf } from './operation-fields.ts';

/**
 * The command that sends the example of an operation: `api create_note --deal_id … --note_description '…'`.
 */
export function exampleCommand(name: OperationName): string {
  const { query, body } = exampleOf(name);
  const { fields } = requestFieldsOf(operationOf(name));
  const given = Object.entries(body ?? query ?? {});
  const options = given.flatMap(([field, value]) => {
    const isList = fields.find((one) => one.name === field)?.takes === 'texts' && Array.isArray(value);
    return (isList ? value : [value]).map((one) => `--${field} ${quote(toText(one))}`);
  });
  return ['api', name, ...options].join(' ');
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Quotes a text for a shell if it needs quotes. */
function quote(text: string): string {
  return /^[\w.,:/@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
