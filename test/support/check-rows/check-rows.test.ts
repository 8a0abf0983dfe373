import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { rowOf, rowsOf } from '../../../src/db/statement.ts';
import { setup } from '../setup.ts';
import { checkRows } from './check-rows.ts';
import { readRowTypes } from './read-row-types.ts';

const EXAMPLES: readonly (readonly [type: string, statement: string, problem: string | null])[] = [
  ['{ n: number }', 'select 1 as n', null],
  ['{ n: number }', 'select 1::bigint as n', 'says that n is number; the database returned string ("1")'],
  ['{ at: Date }', 'select null::timestamptz as at', 'says that at is Date; the database returned null'],
  ['{ at: Date | null }', 'select null::timestamptz as at', null],
  ["{ state: 'read' | 'held' }", "select 'held' as state", null],
  ["{ state: 'read' | 'held' }", "select 'sealed' as state", 'the database returned string ("sealed")'],
  ['{ missing: string }', 'select 1 as n', 'the database returned undefined'],
  ['{ n: number } & ({ by: string } | { by: null })', 'select 1 as n, null as by', null],
  ['Row', "select 1 as n, 'a' as names", 'says that names is array; the database returned string'],
  ["Pick<Row, 'n'>", 'select 1 as n', null],
  ["Omit<Row, 'n'>", 'select 1 as n', 'says that names is array; the database returned undefined'],
  ['unknown', 'select 1 as n', null],
];

it('a statement whose rows are not of its type fails, with the column and what the database returned', async () => {
  const { db } = await setup();
  for (const [type, statement, problem] of EXAMPLES) {
    const made = (tag: string) => {
      const source = `type Row = { readonly n: number; readonly names: readonly string[] };\n${tag}\`${statement}\`;`;
      return readRowTypes('example.ts', source)[0]?.row ?? {};
    };
    for (const executed of [
      () => checkRows('example.ts:2', made(`sql<${type}>`), sql.raw(statement)).execute(db),
      () => checkRows('example.ts:2', made(`rowsOf<${type}>(db)`), rowsOf(db)`${sql.raw(statement)}`),
      () => checkRows('example.ts:2', made(`rowOf<${type}>(db)`), rowOf(db)`${sql.raw(statement)}`),
    ]) {
      if (problem === null) await executed();
      else await expect(executed(), type).rejects.toThrow(problem);
    }
  }
});
