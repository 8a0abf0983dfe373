import { type RawBuilder, sql } from 'kysely';
import type { z } from 'zod';
import { type OperationName, operationOf } from '../api/contract.ts';

/** The value of a member: a column of a row. Null leaves the member out. */
export type MemberColumns = Readonly<Record<string, RawBuilder<unknown>>>;

/**
 * The request body of an operation as exact JSON text, built by the database, where the exact amounts are. How each member is written
 * follows from the contract's schema: a text as a JSON string, a number as its digits, a boolean as its word, a text[] as a list of strings.
 *
 * @param members in the order in which they are written; the contract must know each of them.
 */
export function bodySql(operation: OperationName, members: MemberColumns): RawBuilder<string> {
  const written = Object.entries(members).map(([name, column]) => {
    const start = sql.lit(`${JSON.stringify(name)}:`);
    return sql`${start} || ${valueSql(typeOf(operation, name), column)}`;
  });
  return sql<string>`'{' || concat_ws(',', ${sql.join(written)}) || '}'`;
}

type MemberType = 'text' | 'texts' | 'number' | 'integer' | 'boolean';

function valueSql(type: MemberType, column: RawBuilder<unknown>): RawBuilder<unknown> {
  if (type === 'number') return sql`trim_scale(${column})::text`;
  if (type === 'text' || type === 'texts') return sql`to_json(${column})::text`;
  if (type === 'boolean') return sql`${column}::text`;
  // An id that is no number is sent as it was given: the service then says what is wrong with it.
  return sql`case when ${column} ~ '^[0-9]{1,30}$' then ${column}::numeric::text else to_json(${column})::text end`;
}

/** @throws Error where the contract knows no such member, or one that is no plain value. */
function typeOf(operation: OperationName, member: string): MemberType {
  const body = operationOf(operation).body as unknown as { readonly shape?: Record<string, z.core.$ZodType> };
  let schema = body.shape?.[member];
  while (schema?._zod.def.type === 'optional')
    schema = (
      schema as unknown as { readonly _zod: { readonly def: { readonly innerType: z.core.$ZodType } } }
    )._zod.def.innerType;
  const type = schema?._zod.def.type;
  if (type === 'string' || type === 'enum') return 'text';
  if (type === 'array') return 'texts';
  if (type === 'boolean') return type;
  if (type === 'number') return 'format' in (schema?._zod.def ?? {}) ? 'integer' : 'number';
  throw new Error(`the contract of ${operation} has no member ${member} that is text, a number or a boolean`);
}
