import type { RawBuilder } from 'kysely';
import { parsed, type RowType } from './read-row-types.ts';

/** Rows that are looked at from each end of a result. */
const LOOKED_AT = 5;

/**
 * Makes a typed statement refuse rows that are not what its type says. The compiler believes `sql<Row>`; the
 * server knows better: a `bigint` is a string, a left join has nulls.
 *
 * @param place of the statement, for example `src/ledger/claim.ts:12`.
 * @param statement or its rows, or its first row, if a tag of `src/db/statement.ts` executes it.
 */
export function checkRows<Statement extends RawBuilder<unknown> | Promise<unknown>>(
  place: string,
  row: RowType,
  statement: Statement,
): Statement {
  if (statement instanceof Promise)
    return statement.then((found) => {
      look(found === undefined ? [] : [found].flat());
      return found;
    }) as Statement;
  const execute = statement.execute.bind(statement);
  return Object.assign(statement, {
    async execute(...on: Parameters<typeof execute>) {
      const result = await execute(...on);
      look(result.rows);
      return result;
    },
  });

  function look(rows: readonly unknown[]): void {
    for (const found of [...rows.slice(0, LOOKED_AT), ...rows.slice(-LOOKED_AT)]) {
      for (const [column, kinds] of Object.entries(row)) {
        const value = (found as Record<string, unknown>)[column];
        if (kinds.some((kind) => isOf(kind, value))) continue;
        throw new TypeError(
          `${place}: the type of its rows says that ${column} is ${kinds.join(' | ')}; the database returned ${kindOf(value)} (${JSON.stringify(value)?.slice(0, 60)})`,
        );
      }
    }
  }
}

function isOf(kind: string, value: unknown): boolean {
  return kind === 'any' || kind === kindOf(value) || (parsed(kind) === value && value !== undefined);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (value instanceof Date) return 'Date';
  if (Buffer.isBuffer(value)) return 'Buffer';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

Object.assign(globalThis, { checkRows });
