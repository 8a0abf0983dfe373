/*
 * Faults in SQL. The text of a template is read as tokens, since it is a fragment more often than a statement: a parser of SQL
 * could not read it. Each `${…}` is one operand.
 */

/** A change of a text: the characters from `start` to before `end` become `text`. */
export type Edit = { readonly start: number; readonly end: number; readonly text: string };

type Token = {
  readonly kind: 'word' | 'string' | 'number' | 'operator' | 'hole' | 'open' | 'close' | 'comma';
  /** In lower case, without surrounding blanks. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** How many parentheses and cases are open around it. Those that open and close are of the level outside. */
  readonly depth: number;
};

const TOKEN =
  /(?<blank>\s+|--[^\n]*|\/\*.*?\*\/)|(?<string>'(?:[^']|'')*')|(?<number>\d+(?:\.\d+)?)|(?<word>(?:"[^"]*"|[a-z_]\w*)(?:\.(?:"[^"]*"|\w+))*)|(?<open>[([])|(?<close>[)\]])|(?<comma>,)|(?<operator>->>|->|<=|>=|<>|!=|\|\||::|<@|@>|=>|.)/gis;

/** Words with which an operand of a condition cannot continue. */
const ENDS = new Set(
  'and or where on when then else having select set from group order limit offset returning union except as by for join left right inner cross full values using do with over partition filter asc desc'.split(
    ' ',
  ),
);
const CONDITIONS = new Set(['where', 'on', 'when', 'having']);
const OPPOSITES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '=': '<>',
    '<>': '=',
    '!=': '=',
    '<': '<=',
    '<=': '<',
    '>': '>=',
    '>=': '>',
    and: 'or',
    or: 'and',
    greatest: 'least',
    least: 'greatest',
    min: 'max',
    max: 'min',
    bool_or: 'bool_and',
    bool_and: 'bool_or',
  }),
);

/**
 * Lists the faults of an SQL template: other operators, conditions that always or never hold, a value of a list or an
 * assignment that is missing, `null` and `not` the other way round, another value.
 *
 * @param source the text of the template, with blanks or anything else in place of its expressions.
 * @param holes where the expressions are, `${` and `}` included.
 */
export function sqlMutants(
  source: string,
  holes: readonly { readonly start: number; readonly end: number }[],
): readonly Edit[] {
  const tokens = tokenize(source, holes);
  const assigned = assignments(tokens);
  const replaced = (token: Token | undefined, text: string): readonly Edit[] =>
    token === undefined ? [] : [{ start: token.start, end: token.end, text }];
  const edits = tokens.flatMap((token, at): readonly Edit[] => {
    const [before, next] = [tokens[at - 1], tokens[at + 1]];
    if (token.kind === 'number') return isPlainNumber(tokens, at) ? replaced(token, zeroed(token.text)) : [];
    if (token.kind === 'string')
      return isAssignedValue(before, assigned) && /^'[a-z_]{3,}'$/.test(token.text)
        ? replaced(token, "'mutated'")
        : [];
    if (token.kind !== 'word' && token.kind !== 'operator') return [];
    switch (token.text) {
      case 'and':
      case 'or':
        return isOfBetween(tokens, at) || before?.text === 'create'
          ? []
          : [
              ...replaced(token, OPPOSITES.get(token.text) ?? ''),
              ...without(tokens, at - 1, assigned),
              ...without(tokens, at + 1, assigned),
            ];
      case 'where':
      case 'on':
      case 'when':
      case 'having':
        return without(tokens, at + 1, assigned);
      case 'is':
        return next?.text === 'not'
          ? [{ start: next.start, end: tokens[at + 2]?.start ?? next.end, text: '' }]
          : [{ start: token.end, end: token.end, text: ' not' }];
      case 'not':
        return before?.text === 'is' || /^(null|materialized)$/.test(next?.text ?? '')
          ? []
          : [{ start: token.start, end: next?.start ?? token.end, text: '' }];
      case 'in':
        return next?.kind === 'open' ? withoutEach(argumentsOf(tokens, at + 1)) : [];
      case 'coalesce': {
        const given = argumentsOf(tokens, at + 1);
        const end = closeOf(tokens, at + 1)?.end ?? token.end;
        return [given[0], given.at(-1)].flatMap((one) =>
          one === undefined ? [] : [{ start: token.start, end, text: source.slice(one.start, one.end) }],
        );
      }
      case 'left':
        return next?.text === 'join' ? [{ start: token.start, end: next.start, text: '' }] : [];
      case 'distinct':
        // An array that is asked whether it has a value says the same if it has it twice.
        return /^(is|not)$/.test(before?.text ?? '') || tokens[at - 5]?.text === 'any'
          ? []
          : [{ start: token.start, end: next?.start ?? token.end, text: '' }];
      case 'desc':
        return replaced(token, 'asc');
      case 'set':
        return withoutEach(assignmentsAfter(tokens, at));
      case 'true':
      case 'false':
        return /^(select|on|lateral)$/.test(before?.text ?? '')
          ? []
          : replaced(token, token.text === 'true' ? 'false' : 'true');
      case '+':
      case '-':
        return isOperand(before) ? replaced(token, token.text === '+' ? '-' : '+') : [];
    }
    const opposite = OPPOSITES.get(token.text);
    if (opposite === undefined || assigned.has(token)) return [];
    // No time is exactly now.
    if (/^[<>]=?$/.test(token.text) && next?.text === 'clock_timestamp') return [];
    return token.kind === 'operator' || next?.kind === 'open' ? replaced(token, opposite) : [];
  });
  const isNew = new Set<string>();
  return edits.filter(({ start, end, text }) => {
    const key = `${start}-${end} ${text}`;
    if (isNew.has(key) || source.slice(start, end) === text) return false;
    isNew.add(key);
    return true;
  });
}

/**
 * Lists the faults of a file of SQL statements, such as a migration: a condition of a column, a view or a CHECK decides as much as
 * one of the code. Comments on tables and columns are text.
 */
export function sqlFileMutants(source: string): readonly Edit[] {
  const ends = tokenize(source, []).filter(({ text }) => text === ';');
  return ends.flatMap(({ start: end }, at) => {
    const begin = ends[at - 1]?.end ?? 0;
    const statement = source.slice(begin, end);
    const [first] = tokenize(statement, []);
    if (first === undefined || first.text === 'comment') return [];
    return sqlMutants(statement, []).map((edit) => ({
      ...edit,
      start: edit.start + begin,
      end: edit.end + begin,
    }));
  });
}

/** A number as another one that means something else. */
export function zeroed(number: string): string {
  return Number(number.replaceAll('_', '')) === 0 ? '1' : '0';
}

function tokenize(source: string, holes: readonly { start: number; end: number }[]): readonly Token[] {
  const tokens: Token[] = [];
  let depth = 0;
  const add = (kind: Token['kind'], text: string, start: number, end: number): void => {
    const isClose = kind === 'close' || (kind === 'word' && text === 'end');
    if (isClose) depth -= 1;
    tokens.push({ kind, text, start, end, depth });
    if (kind === 'open' || (kind === 'word' && text === 'case')) depth += 1;
  };
  const between = (from: number, to: number): void => {
    for (const match of source.slice(from, to).matchAll(TOKEN)) {
      const { blank, ...kinds } = match.groups ?? {};
      if (blank !== undefined) continue;
      const [kind = 'operator'] = Object.entries(kinds).find(([, text]) => text !== undefined) ?? [];
      const start = from + match.index;
      const text = kind === 'string' ? match[0] : match[0].toLowerCase();
      add(kind as Token['kind'], text, start, start + match[0].length);
    }
  };
  let from = 0;
  for (const hole of holes) {
    between(from, hole.start);
    add('hole', '', hole.start, hole.end);
    from = hole.end;
  }
  between(from, source.length);
  return tokens;
}

type Range = { readonly start: number; readonly end: number };

/** Replaces the operand of a condition that contains a token by what makes it count for nothing. */
function without(tokens: readonly Token[], at: number, assigned: ReadonlySet<Token>): readonly Edit[] {
  const depth = tokens[at]?.depth ?? 0;
  const isOf = (token: Token | undefined) =>
    token !== undefined &&
    token.depth >= depth &&
    (token.depth > depth ||
      (token.kind !== 'comma' &&
        !(token.kind === 'word' && ENDS.has(token.text) && !isPartOf(tokens, token)) &&
        !assigned.has(token)));
  let [first, last] = [at, at];
  if (!isOf(tokens[at])) return [];
  while (isOf(tokens[first - 1])) first -= 1;
  while (isOf(tokens[last + 1])) last += 1;
  const [start, end, before] = [tokens[first], tokens[last], tokens[first - 1]];
  if (start === undefined || end === undefined || /^(conflict|commit|update)$/.test(start.text)) return [];
  if (start === end && /^(true|false)$/.test(start.text)) return [];
  if (before?.text === 'when' && !isSearched(tokens, first - 1)) return [];
  const words = [before?.text, tokens[last + 1]?.text];
  const isNeeded =
    words.includes('and') ||
    (before !== undefined && /^(where|on|having)$/.test(before.text) && !words.includes('or'));
  return [{ start: start.start, end: end.end, text: isNeeded ? 'true' : 'false' }];
}

/** True for the `from` of `is distinct from` and of `extract(… from …)`, and the `and` of `between`. */
function isPartOf(tokens: readonly Token[], token: Token): boolean {
  const at = tokens.indexOf(token);
  if (token.text === 'from') return tokens[at - 1]?.text === 'distinct';
  return token.text === 'and' && isOfBetween(tokens, at);
}

function isOfBetween(tokens: readonly Token[], at: number): boolean {
  const depth = tokens[at]?.depth;
  for (let before = at - 1; before >= 0; before -= 1) {
    const token = tokens[before];
    if (token === undefined || token.depth < (depth ?? 0)) return false;
    if (token.depth > (depth ?? 0) || token.kind !== 'word') continue;
    if (token.text === 'between') return true;
    if (ENDS.has(token.text)) return false;
  }
  return false;
}

/** True if a `when` is one of `case when …`, and not of `case x when …`. */
function isSearched(tokens: readonly Token[], at: number): boolean {
  const depth = tokens[at]?.depth ?? 0;
  for (let before = at - 1; before >= 0; before -= 1)
    if (tokens[before]?.text === 'case' && tokens[before]?.depth === depth - 1)
      return tokens[before + 1]?.text === 'when';
  // The case begins in another template.
  return true;
}

/** The `=` that assign, and do not compare. */
function assignments(tokens: readonly Token[]): ReadonlySet<Token> {
  const found = new Set<Token>();
  for (const [at, { kind, text }] of tokens.entries())
    if (kind === 'word' && text === 'set')
      for (const { equals } of assignmentsAfter(tokens, at)) found.add(equals);
  return found;
}

function assignmentsAfter(tokens: readonly Token[], set: number): readonly (Range & { equals: Token })[] {
  const depth = tokens[set]?.depth ?? 0;
  const found: (Range & { equals: Token })[] = [];
  let begin = set + 1;
  for (let at = set + 1; at <= tokens.length; at += 1) {
    const token = tokens[at];
    const isEnd =
      token === undefined ||
      token.depth < depth ||
      (token.depth === depth && /^(from|where|returning)$/.test(token.text));
    if (!isEnd && !(token.depth === depth && token.kind === 'comma')) continue;
    const equals = tokens.slice(begin, at).find((one) => one.text === '=' && one.depth === depth);
    const [start, end] = [tokens[begin], tokens[at - 1]];
    if (equals !== undefined && start !== undefined && end !== undefined)
      found.push({ start: start.start, end: end.end, equals });
    if (isEnd) break;
    begin = at + 1;
  }
  return found;
}

/** Leaves each of several items of a list out, with the comma beside it. */
function withoutEach(items: readonly Range[]): readonly Edit[] {
  if (items.length < 2) return [];
  return items.map(({ start, end }, at) => {
    const [before, next] = [items[at - 1], items[at + 1]];
    return before === undefined
      ? { start, end: next?.start ?? end, text: '' }
      : { start: before.end, end, text: '' };
  });
}

/** The items between the parentheses that open at a token. */
function argumentsOf(tokens: readonly Token[], open: number): readonly Range[] {
  const close = closeOf(tokens, open);
  const depth = (tokens[open]?.depth ?? 0) + 1;
  const items: Range[] = [];
  let begin = open + 1;
  for (let at = open + 1; close !== undefined && at < tokens.length; at += 1) {
    const token = tokens[at];
    if (token !== close && !(token?.kind === 'comma' && token.depth === depth)) continue;
    const [start, end] = [tokens[begin], tokens[at - 1]];
    if (at > begin && start !== undefined && end !== undefined)
      items.push({ start: start.start, end: end.end });
    begin = at + 1;
    if (token === close) break;
  }
  return items;
}

function closeOf(tokens: readonly Token[], open: number): Token | undefined {
  const depth = tokens[open]?.depth;
  return tokens.find(({ kind, depth: its }, at) => at > open && kind === 'close' && its === depth);
}

function isOperand(token: Token | undefined): boolean {
  if (token === undefined || token.kind === 'operator' || token.kind === 'comma' || token.kind === 'open')
    return false;
  return token.kind !== 'word' || !(ENDS.has(token.text) || CONDITIONS.has(token.text));
}

/** False for how many rows are read, for what a row without columns is called, and for the precision of a type. */
function isPlainNumber(tokens: readonly Token[], at: number): boolean {
  const [before, earlier] = [tokens[at - 1]?.text ?? '', tokens[at - 2]?.text ?? ''];
  return (
    !/^(limit|offset|select|returning)$/.test(before) &&
    !/^numeric$/.test(earlier) &&
    !(before === ',' && tokens[at - 4]?.text === 'numeric')
  );
}

/** True after `then`, `else`, or the `=` of an assignment. */
function isAssignedValue(before: Token | undefined, assigned: ReadonlySet<Token>): boolean {
  return before !== undefined && (/^(then|else)$/.test(before.text) || assigned.has(before));
}
