// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the code under test is text here.
import { describe, expect, it } from 'vitest';
import { applyMutant, listMutants } from '../../tools/mutants/list-mutants.ts';

/** The text of a module with each of its faults. */
function faultsOf(source: string): readonly string[] {
  return listMutants('one.ts', source).map((mutant) => applyMutant(source, mutant));
}

/** The same for what is between the backticks of an SQL template. */
function sqlFaultsOf(text: string): readonly string[] {
  const [begin, end] = ['const q = sql`', '`;'];
  return faultsOf(begin + text + end).map((source) => source.slice(begin.length, -end.length));
}

describe('the faults of TypeScript', () => {
  it('negate and remove conditions, move boundaries, and leave out either side of `&&`, `||` and `??`', () => {
    expect(faultsOf('if (a < b) c();')).toEqual([
      'if (!(a < b)) c();',
      'if (false) c();',
      'if (a <= b) c();',
      'if (a < b) ;',
    ]);
    expect(faultsOf('const d = a && b;')).toEqual(['const d = a;', 'const d = b;', 'const d = a || b;']);
    expect(faultsOf('const d = a ?? b;')).toEqual(['const d = b;']);
    expect(faultsOf('const d = a === b ? c : e;')).toEqual([
      'const d = !(a === b) ? c : e;',
      'const d = a !== b ? c : e;',
    ]);
  });

  it('leave out statements, items of lists and calls that narrow, and change values', () => {
    expect(faultsOf('function f() { g(); return [1, 2]; }')).toEqual([
      'function f() { ; return [1, 2]; }',
      'function f() { g(); return [0, 2]; }',
      'function f() { g(); return [2]; }',
      'function f() { g(); return [1, ]; }',
      'function f() { g(); return [1, 0]; }',
    ]);
    expect(faultsOf("const a = { kind: 'done', is: true, why: 'It ended.' };")).toEqual([
      "const a = { kind: 'mutated', is: true, why: 'It ended.' };",
      "const a = { kind: 'done', is: false, why: 'It ended.' };",
    ]);
    expect(faultsOf('const a = b.filter(c).some(d);')).toEqual([
      'const a = b.some(d);',
      'const a = b.filter(c).every(d);',
    ]);
    expect(faultsOf('const a = Math.max(0, b - c);')).toEqual([
      'const a = Math.min(0, b - c);',
      'const a = Math.max(1, b - c);',
      'const a = Math.max(0, b + c);',
    ]);
  });

  it('leave out what chooses the rows of a statement that is built, and compare otherwise', () => {
    expect(
      faultsOf("db.selectFrom('a').where('b', '>', c).where((eb) => eb.and({ d, e })).limit(f);"),
    ).toEqual([
      "db.selectFrom('a').where((eb) => eb.and({ d, e })).limit(f);",
      "db.selectFrom('a').where('b', '>=', c).where((eb) => eb.and({ d, e })).limit(f);",
      "db.selectFrom('a').where('b', '>', c).limit(f);",
      "db.selectFrom('a').where('b', '>', c).where((eb) => eb.and({ e })).limit(f);",
      "db.selectFrom('a').where('b', '>', c).where((eb) => eb.and({ d,  })).limit(f);",
      "db.selectFrom('a').where('b', '>', c).where((eb) => eb.and({ d, e }));",
    ]);
  });

  it('leave statements alone that only make others quicker', () => {
    const source =
      'async function f() { await execute(trx)`analyze t`; await suitLargeStatements(trx); g(); }';
    expect(faultsOf(source)).toEqual([source.replace('g();', ';')]);
  });

  it('leave types, imports, names and messages alone', () => {
    const source =
      "import a from 'a';\ntype T = 1 | true;\nconst b = (c: Array<0>) => `no ${c} + 1`;\nb.toString();";
    expect(listMutants('one.ts', source).map(({ change }) => change)).toEqual([]);
  });

  it('are described with their line, on one line', () => {
    const [first] = listMutants('src/a.ts', 'const a = 1;\nconst d = b(\n  1,\n) && c;');
    expect(first).toMatchObject({ file: 'src/a.ts', line: 1, change: '1 → 0' });
    expect(listMutants('src/a.ts', '\nconst d = b(\n  x,\n) && c;')[0]).toMatchObject({
      line: 2,
      change: 'b( x, ) && c → b( x, )',
    });
  });
});

describe('the faults of an SQL template', () => {
  it('are conditions that count for nothing, connect otherwise, and compare otherwise', () => {
    expect(sqlFaultsOf('select from t where a = 2 and b >= ${c}')).toEqual([
      'select from t where true and b >= ${c}',
      'select from t where a <> 2 and b >= ${c}',
      'select from t where a = 0 and b >= ${c}',
      'select from t where a = 2 or b >= ${c}',
      'select from t where a = 2 and true',
      'select from t where a = 2 and b > ${c}',
    ]);
    expect(sqlFaultsOf('(a or b)')).toEqual(['(false or b)', '(a and b)', '(a or false)']);
    expect(sqlFaultsOf('select a, case when b then c end')).toEqual(['select a, case when false then c end']);
  });

  it('know the `and` of between, the `from` of distinct, and the `=` that assigns', () => {
    expect(sqlFaultsOf('where a between b and c')).toEqual(['where true']);
    expect(sqlFaultsOf('where a is distinct from b')).toEqual([
      'where true',
      'where a is not distinct from b',
    ]);
    expect(sqlFaultsOf('select distinct a from t')).toEqual(['select a from t']);
    expect(sqlFaultsOf('a = any (array(select distinct b from t))')).toEqual([
      'a <> any (array(select distinct b from t))',
    ]);
    expect(sqlFaultsOf('update t set a = b, c = d where e')).toEqual([
      'update t set c = d where e',
      'update t set a = b where e',
      'update t set a = b, c = d where true',
    ]);
  });

  it('turn null, not, values, lists, defaults and extremes round', () => {
    expect(sqlFaultsOf('where a is not null')).toEqual(['where true', 'where a is null']);
    expect(sqlFaultsOf('where not exists (select from t)')).toEqual([
      'where exists (select from t)',
      'where true',
    ]);
    expect(sqlFaultsOf("a in ('x', 'y', 'z')")).toEqual([
      "a in ('y', 'z')",
      "a in ('x', 'z')",
      "a in ('x', 'y')",
    ]);
    expect(sqlFaultsOf('coalesce(a, b)')).toEqual(['a', 'b']);
    expect(sqlFaultsOf('greatest(a, b) + 1')).toEqual([
      'least(a, b) + 1',
      'greatest(a, b) - 1',
      'greatest(a, b) + 0',
    ]);
    expect(sqlFaultsOf("case when a then 'held' else 'ready' end")).toEqual([
      "case when false then 'held' else 'ready' end",
      "case when a then 'mutated' else 'ready' end",
      "case when a then 'held' else 'mutated' end",
    ]);
    expect(sqlFaultsOf('select a from t left join u on b order by a desc')).toEqual([
      'select a from t join u on b order by a desc',
      'select a from t left join u on true order by a desc',
      'select a from t left join u on b order by a asc',
    ]);
  });

  it('are none in comments, texts and limits, nor whether a time is exactly now', () => {
    expect(sqlFaultsOf("-- a and b = 1\nselect 'a = b' from t limit 1")).toEqual([]);
    expect(sqlFaultsOf('where a > clock_timestamp()')).toEqual(['where true']);
  });

  it('are those of a statement that a tag executes, too, and of no other template', () => {
    const changes = (source: string) => listMutants('a.ts', source).map(({ change }) => change);
    expect(changes('const a = rowsOf<Row>(db)`select from t where b = c`')).toEqual([
      'b = c → true',
      '= → <>',
    ]);
    expect(changes('const a = text(db)`where b = c`')).toEqual([]);
  });

  it('are also those of a template inside a template, each once', () => {
    expect(sqlFaultsOf('where ${a ? sql`b = c` : d}')).toEqual([
      'where true',
      'where ${!(a) ? sql`b = c` : d}',
      'where ${a ? sql`b <> c` : d}',
    ]);
  });
});

it('the faults of a migration are those of its statements, without the comments on what it creates', () => {
  const statements =
    "create or replace view v as select a from t where b = c;\ncomment on view v is 'a and b';\n";
  expect(listMutants('sql/migrations/0001_one.sql', statements).map(({ change }) => change)).toEqual([
    'b = c → true',
    '= → <>',
  ]);
});
