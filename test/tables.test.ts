import { globSync, readFileSync } from 'node:fs';
import { parseSync, Visitor } from 'oxc-parser';
import { describe, expect, it } from 'vitest';

const ROOT = new URL('../', import.meta.url).pathname;
const SCHEMAS = 'intake|ledger|mirror|ops|reporting';

/** Matches statements that write to a table of the project, in SQL or with Kysely. */
const WRITES = new RegExp(
  `(?:insert\\s+into|update|delete\\s+from|copy|truncate(?:\\s+table)?)\\s+(?:only\\s+)?((?:${SCHEMAS})\\.[a-z_]+)` +
    `|(?:insertInto|updateTable|deleteFrom)\\('((?:${SCHEMAS})\\.[a-z_]+)'`,
  'gi',
);
const READS_MIRROR =
  /(?:from|join)\s+mirror\.[a-z_]+|selectFrom\('mirror\.|innerJoin\('mirror\.|leftJoin\('mirror\./i;

const modules = globSync('{src,jobs}/**/*.ts', { cwd: ROOT }).map((path) => ({
  path,
  folder: path.split('/').slice(0, 2).join('/'),
  text: readFileSync(`${ROOT}${path}`, 'utf8'),
}));

/** Returns the folders that write each table. */
function writers(): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const { folder, text } of modules)
    for (const [, inSql, inKysely] of text.matchAll(WRITES)) {
      const table = (inSql ?? inKysely ?? '').toLowerCase();
      found.set(table, (found.get(table) ?? new Set()).add(folder));
    }
  return found;
}

/** Tags that execute a template (`src/db/statement.ts`). */
const TAGS = /^(rowsOf|rowOf|finds|countsOf|countOf|execute)$/;

const TYPE = String.raw`::\w+(?: precision| with time zone)?(?:\[\])?`;
const VALUE = String.raw`(?:\$(?:${TYPE})?|'\w*'(?:${TYPE})?|\d+|null|true|false|(?:now|clock_timestamp)\(\))`;
const TEST = String.raw`\w+ (?:[=<>]{1,2} ${VALUE}|is (?:not )?null|in \([^()]*\))`;
const WHERE = `(?: where ${TEST}(?: and ${TEST})*)?`;

/** Matches a statement that needs nothing but the columns of one table. `$` stands for a parameter. */
const PLAIN = new RegExp(
  [
    String.raw`^select [\w ,"]*from \w+\.\w+${WHERE}(?: order by [\w ,]+)?(?: limit ${VALUE})?(?: for update)?$`,
    String.raw`^insert into \w+\.\w+ \([\w, ]+\) values \(${VALUE}(?:, ${VALUE})*\)(?: on conflict (?:\([\w, ]+\) )?do nothing)?(?: returning [\w ,"]+)?$`,
    String.raw`^update \w+\.\w+ set \w+ = ${VALUE}(?:, \w+ = ${VALUE})*${WHERE}(?: returning [\w ,"]+)?$`,
    String.raw`^delete from \w+\.\w+${WHERE}(?: returning [\w ,"]+)?$`,
  ].join('|'),
);

/** The statements of a module that are executed as templates. */
function templatesOf({ path, text }: (typeof modules)[number]): readonly string[] {
  const found: string[] = [];
  if (!text.includes('/statement.ts')) return found;
  new Visitor({
    TaggedTemplateExpression({ tag, quasi }) {
      if (tag.type !== 'CallExpression' || tag.callee.type !== 'Identifier' || !TAGS.test(tag.callee.name))
        return;
      found.push(
        quasi.quasis
          .map(({ value }) => value.raw)
          .join('$')
          .replace(/\s+/g, ' ')
          .trim(),
      );
    },
  }).visit(parseSync(path, text).program);
  return found;
}

/** Creates the tables. The rule below is for what comes after it. */
const BASELINE = '0095_baseline.sql';

/**
 * Changes that break a program of the previous version, which may still need what they remove. A CHECK may be
 * dropped, because it is replaced by a more permissive one, and an amount may get all decimals: `type numeric`.
 */
const TAKES_AWAY =
  /\bdrop\s+(table|column|schema|function|type|view|sequence)\b|\brename\b|\bset\s+not\s+null\b|\balter\s+column\s+\w+\s+(set\s+data\s+)?type\b(?!\s+numeric\s*[,;])|\badd\s+column\s+(?![^,;]*\b(default|generated)\b)[^,;]*\bnot\s+null\b/i;

/** Deletes expired rows from tables of any folder; it never inserts or updates. */
const PRIVACY = 'src/privacy';

describe('tables', () => {
  it('are each written by one folder: have the others call it, or pass it a temporary table', () => {
    const shared = [...writers()]
      .map(([table, folders]) => [table, [...folders].filter((folder) => folder !== PRIVACY)] as const)
      .filter(([, folders]) => folders.length > 1);
    expect(shared.map(([table, folders]) => `${table}: ${folders.toSorted().join(', ')}`)).toEqual([]);
  });

  it('of a schema are written by the folders that docs/architecture.md names for it', () => {
    const page = readFileSync(`${ROOT}docs/architecture.md`, 'utf8');
    const rows = [...page.matchAll(/^\| `(\w+)` \|.*\| ([^|]+) \|$/gm)];
    const documented = new Map(
      rows.map(([, schema, folders = '']) => [
        schema,
        [...folders.matchAll(/`((?:src|jobs)\/[\w-]+)`/g)].map(([, folder]) => folder).toSorted(),
      ]),
    );
    for (const schema of SCHEMAS.split('|')) {
      const own = [...writers()].filter(([table]) => table.startsWith(`${schema}.`));
      const folders = new Set(own.flatMap(([, found]) => [...found])).difference(new Set([PRIVACY]));
      expect([schema, documented.get(schema)]).toEqual([schema, [...folders].toSorted()]);
    }
  });

  it('of intake and ops are the only ones that src/privacy changes, and it only deletes', () => {
    const own = modules.filter(({ folder }) => folder === PRIVACY);
    const writes = own.flatMap(({ text }) => [...text.matchAll(WRITES)].map(([statement]) => statement));
    expect(writes.length).toBeGreaterThan(0);
    expect(writes.filter((statement) => !/^delete\s+from\s+(intake|ops)\./i.test(statement))).toEqual([]);
  });

  it('are read and written with the types of their columns: a statement that needs one of them, and only its columns, is built with Kysely', () => {
    expect(PLAIN.test('select state from ops.slots where job = $ and slot > $::timestamptz limit 1')).toBe(
      true,
    );
    expect(
      PLAIN.test('update ops.slots set settled_at = now(), lag = $::double precision, ids = $::uuid[]'),
    ).toBe(true);
    expect(PLAIN.test('select max(slot) from ops.slots where job = $')).toBe(false);
    const found = modules.map((module) => [module.path, templatesOf(module)] as const);
    expect(found.flatMap(([, statements]) => statements).length).toBeGreaterThan(100);
    expect(
      found.flatMap(([path, statements]) =>
        statements.filter((one) => PLAIN.test(one)).map((one) => `${path}: ${one}`),
      ),
    ).toEqual([]);
  });

  it('are created by the baseline, and changed by later migrations with a number of their own, so that they have one order', () => {
    const names = globSync('*.sql', { cwd: `${ROOT}sql/migrations` });
    expect(names.toSorted()[0]).toBe(BASELINE);
    const numbers = names.map((name) => name.slice(0, 4));
    const twice = numbers.filter((number, index) => numbers.indexOf(number) !== index);
    expect(twice).toEqual([]);
  });

  it('are only extended by a migration, so that the previous version can run beside it; one that removes something begins with "-- contract: <who must be stopped>"', () => {
    expect(TAKES_AWAY.test('alter table ops.runs add column x text not null')).toBe(true);
    expect(
      TAKES_AWAY.test('alter table ops.runs add column x int not null default 0, add column y text'),
    ).toBe(false);
    expect(TAKES_AWAY.test('alter table ops.runs alter column x type numeric(9,2);')).toBe(true);
    expect(TAKES_AWAY.test('alter table ops.runs alter column x type numeric;')).toBe(false);
    const migrations = globSync('sql/migrations/*.sql', { cwd: ROOT }).filter(
      (path) => path > `sql/migrations/${BASELINE}`,
    );
    const undeclared = migrations.filter((path) => {
      const text = readFileSync(`${ROOT}${path}`, 'utf8');
      return TAKES_AWAY.test(text.replaceAll(/--.*$/gm, '')) && !text.startsWith('-- contract: ');
    });
    expect(undeclared).toEqual([]);
  });

  it('of schemas ledger and mirror are written by the folder of that name', () => {
    const found = writers();
    expect(found.size).toBeGreaterThan(55);
    for (const schema of ['ledger', 'mirror']) {
      const own = [...found].filter(([table]) => table.startsWith(`${schema}.`));
      expect(own.length).toBeGreaterThan(10);
      expect(own.filter(([, folders]) => !folders.has(`src/${schema}`))).toEqual([]);
    }
  });

  it('of the mirror are read only by the folders listed here: it may lag behind the service, so each reader must tolerate that', () => {
    const readers = new Set(
      modules.filter(({ text }) => READS_MIRROR.test(text)).map(({ folder }) => folder),
    );
    expect([...readers].toSorted()).toEqual([
      // Reads which creators have a deal; without the mirror it refuses to run.
      'jobs/import-deals',
      // Reads the data for its own report.
      'jobs/mirror-account',
      // Leaves out influencers who have a deal. The service skips the ones that it misses, at no cost.
      'jobs/submit-outreach',
      // Removes codes from deals of another brand, and never adds any.
      'src/codes',
      'src/mirror',
      // Reads the service's own rates. An order without a known rate is in no statement.
      'src/money',
      // Lists the deals of a handle for an operator who settles a doubt.
      'src/reports',
    ]);
  });
});
