import { join } from 'node:path';
import { sql } from 'kysely';
import type { Database } from '../../src/db/connect.ts';
import type { ViewLineage } from '../../src/observe/lineage/view-lineage.ts';

export const LINEAGE_FILE = join(import.meta.dirname, '../../sql/lineage.json');

type Node = { readonly tag: string; readonly fields: ReadonlyMap<string, Tree> };
type Tree = string | Node | readonly Tree[];
/** A query and the queries that enclose it, the innermost last. A column may refer to any of them. */
type Scope = readonly Node[];

/** Values of `RTEKind` in the sources of Postgres. */
const KIND = { relation: '0', subquery: '1', join: '2', values: '5', cte: '6', group: '9' } as const;

/**
 * Determines the sources of each column of the views of `bi` from Postgres itself, which stores each view as
 * a query tree (`pg_rewrite.ev_action`). In the tree, each column is identified by numbers of a relation and
 * its column. The result is the same for every version of Postgres.
 */
export async function describeLineage(db: Database): Promise<string> {
  const { rows: views } = await sql<{ name: string; tree: string }>`
    select format('%s.%s', nspname, relname) as name, ev_action::text as tree
    from pg_rewrite join pg_class on pg_class.oid = ev_class join pg_namespace on pg_namespace.oid = relnamespace
    where nspname = 'bi' and rulename = '_RETURN' order by name`.execute(db);
  const { rows: columns } = await sql<{ id: string; name: string }>`
    select format('%s %s', attrelid, attnum) as id, format('%s.%s.%s', nspname, relname, attname) as name
    from pg_attribute join pg_class on pg_class.oid = attrelid join pg_namespace on pg_namespace.oid = relnamespace
    where attnum > 0 and not attisdropped and nspname not like 'pg\\_%' and nspname <> 'information_schema'`.execute(
    db,
  );
  const names = new Map(columns.map(({ id, name }) => [id, name]));
  const name = (ids: Iterable<string>): readonly string[] =>
    [...new Set(ids)].flatMap((id) => names.get(id) ?? []).sort();

  const described = views.map(({ name: view, tree }): readonly [string, ViewLineage] => {
    const [query] = list(parse(tree));
    if (query === undefined || !isNode(query)) throw new Error(`${view} has no query`);
    const shown = targets(query);
    const isOneQuery = isEmpty(field(query, 'setOperations'));
    return [
      view,
      {
        columns: Object.fromEntries(
          shown.map((target, index) => {
            const expression = field(target, 'expr');
            const isTakenOver = isOneQuery && isNode(expression) && expression.tag === 'VAR';
            const from = name(ofColumn(query, index, [query]));
            return [text(field(target, 'resname')), { from, isTakenOver: isTakenOver && from.length === 1 }];
          }),
        ),
        rows: name(ofRows([query])),
      },
    ];
  });
  return `${JSON.stringify(Object.fromEntries(described), null, 1)}\n`;
}

/** The sources of a column of a query. Each is the number of a relation and of its column. */
function ofColumn(query: Node, index: number, scope: Scope): readonly string[] {
  // Each query of a UNION contributes to each column.
  if (!isEmpty(field(query, 'setOperations')))
    return nodes(field(query, 'rtable'))
      .map((entry) => field(entry, 'subquery'))
      .filter(isNode)
      .flatMap((part) => ofColumn(part, index, [...scope, part]));
  const target = targets(query)[index];
  return target === undefined ? [] : ofExpression(field(target, 'expr'), scope);
}

/**
 * The columns that determine which rows a query has: conditions of WHERE, JOIN and HAVING, of the query and
 * of its subqueries.
 */
function ofRows(scope: Scope): readonly string[] {
  const query = scope.at(-1);
  if (query === undefined) return [];
  const inner = [
    ...nodes(field(query, 'rtable')).map((entry) => field(entry, 'subquery')),
    ...nodes(field(query, 'cteList')).map((entry) => field(entry, 'ctequery')),
  ].filter(isNode);
  return [
    ...ofExpression(field(query, 'jointree'), scope),
    ...ofExpression(field(query, 'havingQual'), scope),
    ...inner.flatMap((part) => ofRows([...scope, part])),
  ];
}

function ofExpression(tree: Tree, scope: Scope): readonly string[] {
  if (typeof tree === 'string') return [];
  if (!isNode(tree)) return tree.flatMap((one) => ofExpression(one, scope));
  if (tree.tag === 'VAR') return ofVariable(tree, scope);
  if (tree.tag === 'QUERY') {
    const inner = [...scope, tree];
    return [...targets(tree).flatMap((_, index) => ofColumn(tree, index, inner)), ...ofRows(inner)];
  }
  return [...tree.fields.values()].flatMap((one) => ofExpression(one, scope));
}

function ofVariable(variable: Node, scope: Scope): readonly string[] {
  const outer = scope.slice(0, scope.length - Number(text(field(variable, 'varlevelsup'))));
  const query = outer.at(-1);
  const entry = query && nodes(field(query, 'rtable'))[Number(text(field(variable, 'varno'))) - 1];
  if (entry === undefined) return [];
  const column = Number(text(field(variable, 'varattno')));
  const inner = field(entry, 'subquery');
  switch (text(field(entry, 'rtekind'))) {
    case KIND.relation:
      return [`${text(field(entry, 'relid'))} ${column}`];
    case KIND.subquery:
      return isNode(inner) ? ofColumn(inner, column - 1, [...outer, inner]) : [];
    case KIND.join:
      return ofExpression(list(field(entry, 'joinaliasvars'))[column - 1] ?? '', outer);
    case KIND.group:
      return ofExpression(list(field(entry, 'groupexprs'))[column - 1] ?? '', outer);
    case KIND.values:
      return list(field(entry, 'values_lists')).flatMap((row) =>
        ofExpression(list(row)[column - 1] ?? '', outer),
      );
    case KIND.cte: {
      const around = outer.slice(0, outer.length - Number(text(field(entry, 'ctelevelsup'))));
      const holder = around.at(-1);
      const name = text(field(entry, 'ctename'));
      const found =
        holder && nodes(field(holder, 'cteList')).find((cte) => text(field(cte, 'ctename')) === name);
      const ctequery = found && field(found, 'ctequery');
      // A recursive query refers to itself, which adds nothing.
      return ctequery !== undefined && isNode(ctequery) && !outer.includes(ctequery)
        ? ofColumn(ctequery, column - 1, [...around, ctequery])
        : [];
    }
    default:
      // A function or similar: all its arguments.
      return [...entry.fields].flatMap(([key, value]) =>
        key === 'functions' ? ofExpression(value, outer) : [],
      );
  }
}

function targets(query: Node): readonly Node[] {
  return nodes(field(query, 'targetList')).filter((target) => text(field(target, 'resjunk')) !== 'true');
}

function isNode(tree: Tree): tree is Node {
  return typeof tree === 'object' && 'tag' in tree;
}

function isEmpty(tree: Tree): boolean {
  return tree === '<>' || tree === '';
}

function list(tree: Tree): readonly Tree[] {
  return typeof tree === 'object' && !isNode(tree) ? tree : [];
}

function nodes(tree: Tree): readonly Node[] {
  return list(tree).filter(isNode);
}

function field({ fields }: Node, name: string): Tree {
  return fields.get(name) ?? '';
}

function text(tree: Tree): string {
  return typeof tree === 'string' ? tree : '';
}

/**
 * Parses the text of a Postgres tree: `{TAG :field value …}` for a node, `(…)` for a list, words for
 * everything else.
 */
function parse(written: string): Tree {
  const words = written.match(/[(){}]|"(?:\\.|[^"\\])*"|(?:\\.|[^\s(){}\\])+/gs) ?? [];
  let at = 0;
  function read(): Tree {
    const word = words[at++] ?? '';
    if (word === '(') {
      const items: Tree[] = [];
      while (at < words.length && words[at] !== ')') items.push(read());
      at += 1;
      return items;
    }
    if (word !== '{') return word.replace(/^"(.*)"$/s, '$1').replace(/\\(.)/gs, '$1');
    const tag = words[at++] ?? '';
    const fields = new Map<string, Tree>();
    while (at < words.length && words[at] !== '}') {
      const name = (words[at++] ?? '').slice(1);
      const values: Tree[] = [];
      while (at < words.length && words[at] !== '}' && !words[at]?.startsWith(':')) values.push(read());
      const [only = ''] = values;
      fields.set(name, values.length === 1 ? only : values);
    }
    at += 1;
    return { tag, fields };
  }
  return read();
}
