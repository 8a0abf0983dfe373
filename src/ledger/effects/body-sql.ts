import { type RawBuilder, sql } from 'kysely';
import type { z } from 'zod';
import { type OperationName, operationOf } from '../../service/contract.ts';

/**
 * SQL for the value of each member of a body. A null value omits the member, or is written as null if the contract
 * requires the member.
 */
export type MemberColumns = Readonly<Record<string, RawBuilder<unknown>>>;

/**
 * Builds the request body of an operation as exact JSON text in the database, where the exact amounts are.
 * The contract's schema determines how each member is written: text as a JSON string, a number as its digits,
 * a boolean as a word, a text[] as a list of strings, and null as null where the contract requires the member.
 *
 * @param members in the order in which they are written. The contract must define each of them.
 */
export function bodySql(operation: OperationName, members: MemberColumns): RawBuilder<string> {
  const written = Object.entries(members).map(([name, column]) => {
    const start = sql.lit(`${JSON.stringify(name)}:`);
    const { type, isNullable } = typeOf(operation, name);
    const value = valueSql(type, column);
    return sql`${start} || ${isNullable ? sql`coalesce(${value}, 'null')` : value}`;
  });
  return sql<string>`'{' || concat_ws(',', ${sql.join(written)}) || '}'`;
}

type MemberType = 'text' | 'texts' | 'number' | 'integer' | 'boolean';

function valueSql(type: MemberType, column: RawBuilder<unknown>): RawBuilder<unknown> {
  if (type === 'number') return sql`trim_scale(${column})::text`;
  if (type === 'text' || type === 'texts') return sql`to_json(${column})::text`;
  if (type === 'boolean') return sql`${column}::text`;
  // An id that is not a number is sent as it is; the service then reports what is wrong with it.
  return sql`case when ${column} ~ '^[0-9]{1,30}$' then ${column}::numeric::text else to_json(${column})::text end`;
}

/**
 * Returns the type of a member. @throws Error if the contract does not define the member, or defines it with
 * another type.
 */
function typeOf(
  operation: OperationName,
  member: string,
): { readonly type: MemberType; readonly isNullable: boolean } {
  const body = operationOf(operation).body as unknown as { readonly shape?: Record<string, z.core.$ZodType> };
  let schema = body.shape?.[member];
  // A member that may be missing is left out instead.
  const isNullable = schema?._zod.def.type === 'nullable';
  while (schema?._zod.def.type === 'optional' || schema?._zod.def.type === 'nullable')
    schema = (
      schema as unknown as { readonly _zod: { readonly def: { readonly innerType: z.core.$ZodType } } }
    )._zod.def.innerType;
  const type = schema?._zod.def.type;
  if (type === 'string' || type === 'enum') return { type: 'text', isNullable };
  if (type === 'array') return { type: 'texts', isNullable };
  if (type === 'boolean') return { type, isNullable };
  if (type === 'number')
    return { type: 'format' in (schema?._zod.def ?? {}) ? 'integer' : 'number', isNullable };
  throw new Error(`the contract of ${operation} has no member ${member} that is text, a number or a boolean`);
}
