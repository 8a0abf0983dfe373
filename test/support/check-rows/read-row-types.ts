import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  type Program,
  parseSync,
  type TSInterfaceDeclaration,
  type TSType,
  type TSTypeAliasDeclaration,
  Visitor,
} from 'oxc-parser';

/**
 * What a value may be: `number`, `string`, `null`, `Date`, … or a literal as JSON. `any` if the type cannot be
 * told from the text alone.
 */
export type Kinds = readonly string[];

/** The columns that a row type states. */
export type RowType = Readonly<Record<string, Kinds>>;

type TypedStatement = {
  /** Offsets of the whole expression. */
  readonly start: number;
  readonly end: number;
  readonly row: RowType;
};

/** Those of a part of a statement, and of a statement whose rows are awaited (`src/db/statement.ts`). */
const TYPED_TAGS = new Set(['sql', 'rowsOf', 'rowOf']);

/** Every `sql<Row>\`…\``, `rowsOf<Row>(db)\`…\`` and `rowOf<Row>(db)\`…\`` of a module whose type is that of a row. */
export function readRowTypes(path: string, source: string): readonly TypedStatement[] {
  const { program } = parseSync(path, source);
  const found: TypedStatement[] = [];
  new Visitor({
    TaggedTemplateExpression(statement) {
      const { start, end } = statement;
      const { tag, typeArguments } =
        statement.tag.type === 'CallExpression'
          ? { tag: statement.tag.callee, typeArguments: statement.tag.typeArguments }
          : statement;
      const asserted = typeArguments?.params[0];
      if (tag.type !== 'Identifier' || !TYPED_TAGS.has(tag.name) || asserted === undefined) return;
      const row = columnsOf(asserted, { path, program });
      if (row !== null) found.push({ start, end, row });
    },
  }).visit(program);
  return found;
}

type Module = { readonly path: string; readonly program: Program };

type Declared = { readonly node: TSTypeAliasDeclaration | TSInterfaceDeclaration; readonly module: Module };

/** The properties of an object type; null if it is none, or cannot be told. */
function columnsOf(type: TSType, module: Module): RowType | null {
  if (type.type === 'TSParenthesizedType') return columnsOf(type.typeAnnotation, module);
  if (type.type === 'TSTypeLiteral') return columnsOfMembers(type.members, module);
  if (type.type === 'TSIntersectionType') {
    const parts = type.types.map((part) => columnsOf(part, module));
    return parts.every((part) => part !== null) ? Object.assign({}, ...parts) : null;
  }
  if (type.type === 'TSUnionType') {
    const parts = type.types.map((part) => columnsOf(part, module));
    return parts.every((part) => part !== null) ? eitherOf(parts) : null;
  }
  if (type.type !== 'TSTypeReference' || type.typeName.type !== 'Identifier') return null;
  const { name } = type.typeName;
  const [of, keys] = type.typeArguments?.params ?? [];
  if ((name === 'Pick' || name === 'Omit') && of !== undefined && keys !== undefined) {
    const columns = columnsOf(of, module);
    const named = kindsOf(keys, module).map((kind) => String(parsed(kind)));
    if (columns === null) return null;
    return Object.fromEntries(
      Object.entries(columns).filter(([column]) => named.includes(column) === (name === 'Pick')),
    );
  }
  if (name === 'Readonly' && of !== undefined) return columnsOf(of, module);
  const declared = findType(name, module);
  if (declared === null || type.typeArguments !== null) return null;
  const { node } = declared;
  if (node.type === 'TSTypeAliasDeclaration') return columnsOf(node.typeAnnotation, declared.module);
  return node.extends.length > 0 ? null : columnsOfMembers(node.body.body, declared.module);
}

function eitherOf(rows: readonly RowType[]): RowType {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return Object.fromEntries(
    columns.map((column) => [column, [...new Set(rows.flatMap((row) => row[column] ?? ['any']))]]),
  );
}

type Members = Extract<TSType, { type: 'TSTypeLiteral' }>['members'];

function columnsOfMembers(members: Members, module: Module): RowType | null {
  const columns: Record<string, Kinds> = {};
  for (const member of members) {
    if (member.type !== 'TSPropertySignature' || member.typeAnnotation === null) return null;
    const { key } = member;
    if (key.type !== 'Identifier' && key.type !== 'Literal') return null;
    const kinds = kindsOf(member.typeAnnotation.typeAnnotation, module);
    columns[key.type === 'Identifier' ? key.name : String(key.value)] = member.optional
      ? [...kinds, 'undefined']
      : kinds;
  }
  return columns;
}

const KEYWORDS: Readonly<Record<string, string>> = {
  TSStringKeyword: 'string',
  TSNumberKeyword: 'number',
  TSBooleanKeyword: 'boolean',
  TSNullKeyword: 'null',
  TSUndefinedKeyword: 'undefined',
  TSArrayType: 'array',
  TSTupleType: 'array',
  TSTypeLiteral: 'object',
  TSTemplateLiteralType: 'string',
};

function kindsOf(type: TSType, module: Module): Kinds {
  const keyword = KEYWORDS[type.type];
  if (keyword !== undefined) return [keyword];
  switch (type.type) {
    case 'TSParenthesizedType':
      return kindsOf(type.typeAnnotation, module);
    case 'TSTypeOperator':
      return type.operator === 'readonly' ? kindsOf(type.typeAnnotation, module) : ['any'];
    case 'TSUnionType':
      return type.types.flatMap((part) => kindsOf(part, module));
    case 'TSLiteralType':
      return type.literal.type === 'Literal' ? [JSON.stringify(type.literal.value)] : ['any'];
    case 'TSTypeReference': {
      if (type.typeName.type !== 'Identifier') return ['any'];
      const { name } = type.typeName;
      if (name === 'Date' || name === 'Buffer') return [name];
      if (name === 'Record') return ['object'];
      if (name === 'ReadonlyArray' || name === 'Array') return ['array'];
      const declared = type.typeArguments === null ? findType(name, module) : null;
      if (declared === null) return ['any'];
      if (declared.node.type === 'TSInterfaceDeclaration') return ['object'];
      return kindsOf(declared.node.typeAnnotation, declared.module);
    }
    default:
      // A branded string is an intersection; other forms are told by the compiler alone.
      return ['any'];
  }
}

/** The declaration of a type, in the module itself or where the module imports it from. */
function findType(name: string, module: Module): Declared | null {
  for (const statement of module.program.body) {
    const node = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    if (node?.type === 'TSTypeAliasDeclaration' || node?.type === 'TSInterfaceDeclaration') {
      if (node.id.name === name && !node.typeParameters) return { node, module };
    }
  }
  for (const statement of module.program.body) {
    if (statement.type !== 'ImportDeclaration' || !statement.source.value.startsWith('.')) continue;
    for (const specifier of statement.specifiers) {
      if (specifier.type !== 'ImportSpecifier' || specifier.local.name !== name) continue;
      const path = join(dirname(module.path), statement.source.value);
      if (!existsSync(path) || specifier.imported.type !== 'Identifier') return null;
      return findDeclared(specifier.imported.name, path);
    }
  }
  return null;
}

function findDeclared(name: string, path: string): Declared | null {
  return findType(name, { path, program: parseSync(path, readFileSync(path, 'utf8')).program });
}

/** A literal kind as the value that it stands for. */
export function parsed(kind: string): unknown {
  try {
    return JSON.parse(kind);
  } catch {
    return undefined;
  }
}
