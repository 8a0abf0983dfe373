import { type Expression, parseSync, type Statement, Visitor } from 'oxc-parser';
import { type Edit, sqlFileMutants, sqlMutants, zeroed } from './sql-mutants.ts';

/** One small fault in a file. */
export type Mutant = Edit & {
  /** Path from the root of the checkout. */
  readonly file: string;
  readonly line: number;
  /** Name of the innermost function around it; null if it is outside of all functions that have a name. */
  readonly within: string | null;
  /** What is changed, on one line: `before → after`. */
  readonly change: string;
};

const OPPOSITES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '===': '!==',
    '!==': '===',
    '<': '<=',
    '<=': '<',
    '>': '>=',
    '>=': '>',
    '+': '-',
    '-': '+',
    '*': '/',
    '/': '*',
    '&&': '||',
    '||': '&&',
    some: 'every',
    every: 'some',
    min: 'max',
    max: 'min',
  }),
);

/** Tags of SQL: of a part of a statement, and those that execute one (`src/db/statement.ts`). */
const SQL_TAGS = new Set(['sql', 'rowsOf', 'rowOf', 'finds', 'countsOf', 'countOf', 'execute']);

/** Methods whose result is like the object without the call. */
const NARROWING = /^(filter|sort|toSorted|reverse|toReversed|slice|trim|toLowerCase|toUpperCase|normalize)$/;

/** Methods of Kysely without which a statement concerns other rows. */
const CHOOSING = /^(where|whereRef|orderBy|limit|distinct|forUpdate|onConflict)$/;

/** Statements that change only how quick the others are. */
const ONLY_QUICKER = /^await (?:execute\(\w+\)`(?:analyze|create index)\b|suitLargeStatements\()/;

/** Lists the faults that can be put into a module or a migration, one at a time, in the order of its text. */
export function listMutants(file: string, source: string): readonly Mutant[] {
  const isMigration = file.endsWith('.sql');
  const { program, errors } = parseSync(file, isMigration ? '' : source);
  if (errors.length > 0) throw new Error(`${file} does not parse: ${errors[0]?.message}`);
  const edits: Edit[] = isMigration ? [...sqlFileMutants(source)] : [];
  const skipped: { readonly start: number; readonly end: number }[] = [];
  const functions: { readonly name: string; readonly start: number; readonly end: number }[] = [];
  const text = ({ start, end }: { readonly start: number; readonly end: number }) => source.slice(start, end);
  const replace = ({ start, end }: { readonly start: number; readonly end: number }, by: string) =>
    edits.push({ start, end, text: by });
  const skip = (node: { readonly start: number; readonly end: number }) => skipped.push(node);
  const note = (
    key: { readonly type: string; readonly start: number; readonly end: number },
    value: typeof key,
  ) => {
    if (key.type === 'Identifier' && /^(?:Arrow)?Function/.test(value.type))
      functions.push({ name: text(key), start: value.start, end: value.end });
  };
  const negate = (test: Expression) => replace(test, `!(${text(test)})`);
  /** The operator between two operands, without a comment that mentions it. */
  const operator = (left: Expression, right: Expression, written: string) => {
    const start = source.indexOf(written, left.end);
    if (start < right.start)
      replace({ start, end: start + written.length }, OPPOSITES.get(written) ?? written);
  };
  const dropStatements = (
    statements: readonly (Statement | { type: string; start: number; end: number })[],
  ) => {
    for (const statement of statements)
      if (statement.type === 'ExpressionStatement' && !ONLY_QUICKER.test(text(statement)))
        replace(statement, ';');
  };
  new Visitor({
    TSTypeAnnotation: skip,
    TSTypeParameterInstantiation: skip,
    TSTypeParameterDeclaration: skip,
    TSTypeAliasDeclaration: skip,
    TSInterfaceDeclaration: skip,
    ImportDeclaration: skip,
    TSAsExpression: ({ typeAnnotation }) => skip(typeAnnotation),
    TSSatisfiesExpression: ({ typeAnnotation }) => skip(typeAnnotation),
    BinaryExpression({ left, operator: written, right }) {
      const isText = [left, right].some(
        (side) =>
          side.type === 'TemplateLiteral' || (side.type === 'Literal' && typeof side.value === 'string'),
      );
      if (OPPOSITES.get(written) !== undefined && !(written === '+' && isText))
        operator(left, right, written);
    },
    LogicalExpression(node) {
      const { left, operator: written, right } = node;
      if (written !== '??') {
        operator(left, right, written);
        replace(node, text(left));
      }
      replace(node, right.type === 'ObjectExpression' ? `(${text(right)})` : text(right));
      // Which default a counter has is rarely a fault of its own: `right` in the place of the whole is one.
      if (written === '??' && right.type === 'Literal') skip(right);
    },
    IfStatement({ test, consequent }) {
      negate(test);
      replace(test, 'false');
      dropStatements([consequent]);
    },
    ConditionalExpression: ({ test }) => negate(test),
    WhileStatement: ({ test }) => replace(test, 'false'),
    BlockStatement: ({ body }) => dropStatements(body),
    SwitchCase: ({ consequent }) => dropStatements(consequent),
    UnaryExpression(node) {
      if (node.operator === '!') replace(node, text(node.argument));
    },
    AssignmentExpression({ left, operator: written, right }) {
      if (written !== '+=' && written !== '-=') return;
      const start = source.indexOf(written, left.end);
      if (start < right.start) replace({ start, end: start + 2 }, written === '+=' ? '-=' : '+=');
    },
    Literal(node) {
      if (typeof node.value === 'number') replace(node, zeroed(text(node)));
      if (typeof node.value === 'boolean') replace(node, String(!node.value));
      if (/^'[<>]=?'$/.test(text(node))) replace(node, `'${OPPOSITES.get(String(node.value))}'`);
    },
    ArrayExpression({ elements }) {
      if (!elements.every((element) => element?.type === 'Literal')) return;
      for (const [at, element] of elements.entries()) {
        const next = elements[at + 1];
        if (element !== null) replace({ start: element.start, end: next?.start ?? element.end }, '');
      }
    },
    FunctionDeclaration({ id, start, end }) {
      if (id !== null) functions.push({ name: id.name, start, end });
    },
    VariableDeclarator({ id, init }) {
      if (init !== null) note(id, init);
    },
    Property({ key, value }) {
      note(key, value);
      if (value.type === 'Literal' && typeof value.value === 'string' && /^[a-z_]+$/.test(value.value))
        replace(value, "'mutated'");
    },
    CallExpression(node) {
      const { callee } = node;
      if (callee.type !== 'MemberExpression' || callee.computed || callee.property.type !== 'Identifier')
        return;
      const { name } = callee.property;
      if (NARROWING.test(name)) replace(node, text(callee.object));
      if (CHOOSING.test(name)) replace({ start: callee.object.end, end: node.end }, '');
      const [operand] = node.arguments;
      if (name === 'and' && operand?.type === 'ObjectExpression')
        for (const [at, property] of operand.properties.entries())
          replace({ start: property.start, end: operand.properties[at + 1]?.start ?? property.end }, '');
      const opposite = OPPOSITES.get(name);
      if (opposite !== undefined) replace(callee.property, opposite);
    },
    TaggedTemplateExpression({ tag, quasi }) {
      const { name = '' } = (tag.type === 'CallExpression' ? tag.callee : tag) as { readonly name?: string };
      if (!SQL_TAGS.has(name)) return;
      const [begin, end] = [quasi.start + 1, quasi.end - 1];
      // The parts of a template include the delimiters around them.
      const holes = quasi.quasis
        .slice(0, -1)
        .map((part, at) => ({
          start: part.end - 2 - begin,
          end: (quasi.quasis[at + 1]?.start ?? end) + 1 - begin,
        }));
      for (const edit of sqlMutants(source.slice(begin, end), holes))
        edits.push({ start: edit.start + begin, end: edit.end + begin, text: edit.text });
    },
  }).visit(program);
  return edits
    .filter(({ start, end }) => !skipped.some((node) => node.start <= start && end <= node.end))
    .sort((one, other) => one.start - other.start || one.end - other.end)
    .map((edit) => {
      const from = edit.start + Math.max(0, text(edit).search(/[^\s,]/));
      return {
        ...edit,
        file,
        line: source.slice(0, from).split('\n').length,
        within: innermost(functions, edit),
        change: `${shorten(text(edit))} → ${shorten(edit.text) || 'nothing'}`,
      };
    });
}

function innermost(
  functions: readonly { readonly name: string; readonly start: number; readonly end: number }[],
  edit: Edit,
): string | null {
  const around = functions.filter(({ start, end }) => start <= edit.start && edit.end <= end);
  return (
    around.reduce<(typeof around)[number] | null>(
      (inner, one) => (inner === null || one.start >= inner.start ? one : inner),
      null,
    )?.name ?? null
  );
}

/** Enough to recognise a statement by. */
const SHOWN = 90;

function shorten(part: string): string {
  const line = part.replace(/\s+/g, ' ').replace(/^, /, '').trim();
  return line.length <= SHOWN ? line : `${line.slice(0, SHOWN - 1)}…`;
}

/** Returns the text of a file with the fault. */
export function applyMutant(source: string, { start, end, text }: Edit): string {
  return source.slice(0, start) + text + source.slice(end);
}
