import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type Scalar } from 'yaml';
import type { Problem } from '../core/known-error.ts';
import { findYamlProblem } from '../core/text/yaml-problem.ts';
import type { StoredVariables } from '../core/variable.ts';
import { type Environment, readVariable } from './environment/read-variable.ts';
import { type ConfigPath, type Located, type Position, Positions } from './locate.ts';

type ReadYaml = {
  /** False if the text is not YAML; `problems` then contains the reason. */
  readonly isReadable: boolean;
  /** Plain objects, lists and scalars, with variables substituted. */
  readonly content: unknown;
  readonly places: Positions;
  readonly problems: readonly Problem[];
  /** Paths whose value is unknown because a variable is missing. No further problem is reported for them. */
  readonly unresolved: readonly ConfigPath[];
  readonly variables: readonly string[];
};

/** Limit on aliases, which stops circular and deeply nested ones. */
const MAX_ALIASES = 100;

/**
 * Parses YAML, substitutes variables, and records the position of every value.
 *
 * @param file the name of the file in messages.
 */
export function readYaml(
  text: string,
  options: { readonly file: string; readonly env: Environment; readonly stored: StoredVariables },
): ReadYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const places = new Positions(options.file);
  const problem = findYamlProblem(text, { file: options.file, errors: document.errors });
  if (problem !== null)
    return { isReadable: false, content: null, places, problems: [problem], unresolved: [], variables: [] };

  const walker = new Walker(
    lines,
    places,
    (scalar) => substitute(scalar, options.env, options.stored),
    (alias) => (isAlias(alias) ? alias.resolve(document) : undefined),
  );
  const content = walker.read(document.contents, [], { line: 1, column: 1 });
  const { problems, unresolved } = walker;
  return { isReadable: true, content, places, problems, unresolved, variables: [...walker.variables] };
}

function toPosition(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

function kindOf(node: unknown): Located['kind'] {
  if (isMap(node)) return 'section';
  if (isSeq(node)) return 'list';
  return isScalar(node) && node.value !== null ? 'scalar' : 'nothing';
}

/** Converts YAML nodes to plain values; one instance per file. */
class Walker {
  readonly problems: Problem[] = [];
  readonly unresolved: ConfigPath[] = [];
  readonly variables = new Set<string>();
  #aliases = 0;
  readonly #lines: LineCounter;
  readonly #places: Positions;
  readonly #substitute: (text: string) => Substituted;
  readonly #resolve: (node: unknown) => Node | undefined;

  constructor(
    lines: LineCounter,
    places: Positions,
    fillIn: (text: string) => Substituted,
    resolve: (node: unknown) => Node | undefined,
  ) {
    this.#lines = lines;
    this.#places = places;
    this.#substitute = fillIn;
    this.#resolve = resolve;
  }

  read(node: unknown, path: ConfigPath, key: Position): unknown {
    const value = this.#positionOf(node) ?? key;
    this.#places.set(path, {
      key,
      value,
      kind: kindOf(node),
      written: isScalar(node) ? (node.source ?? '') : '',
    });
    if (isAlias(node)) return this.#readAlias(node, path, key);
    if (isMap(node)) return this.#readMap(node.items, path);
    if (isSeq(node)) {
      return node.items.map((item, index) =>
        this.read(item, [...path, index], this.#positionOf(item) ?? value),
      );
    }
    return isScalar(node) ? this.#readScalar(node, path) : null;
  }

  #readAlias(node: unknown, path: ConfigPath, key: Position): unknown {
    this.#aliases += 1;
    if (this.#aliases <= MAX_ALIASES) return this.read(this.#resolve(node), path, key);
    if (this.#aliases === MAX_ALIASES + 1) {
      const help = 'Write the values in full instead.';
      this.problems.push({
        where: this.#places.at(key),
        message: 'Aliases (*name) refer to each other in a circle.',
        help,
      });
    }
    return null;
  }

  #readMap(items: readonly { key: unknown; value: unknown }[], path: ConfigPath): unknown {
    const entries: [string, unknown][] = [];
    for (const { key, value } of items) {
      const position = this.#positionOf(key) ?? { line: 1, column: 1 };
      const name = isScalar(key) ? (key.source ?? String(key.value)) : '?';
      // The schema leaves it out without a word, because it is no ordinary name in JavaScript.
      if (name === '__proto__')
        this.problems.push({
          where: this.#places.at(position),
          message: '"__proto__" cannot be a name.',
          help: 'Choose another name.',
        });
      entries.push([name, this.read(value, [...path, name], position)]);
    }
    return Object.fromEntries(entries);
  }

  #readScalar(node: Scalar, path: ConfigPath): unknown {
    const { value, source } = node;
    // A number that JavaScript would change (a long id, leading zeros) stays text. A number field converts it
    // from there.
    if (typeof value === 'number') return source === undefined || String(value) === source ? value : source;
    if (typeof value !== 'string' || !value.includes('${')) return value;
    const result = this.#substitute(value);
    if (result.kind !== 'malformed') for (const name of result.names) this.variables.add(name);
    if (result.kind === 'value') return result.text;
    this.unresolved.push(path);
    const where = this.#places.where(path);
    if (result.kind === 'missing') {
      const message = `\${${result.name}} is used here, but the environment variable ${result.name} is not set or empty.`;
      const help = `Set ${result.name}, or give a default: \${${result.name}:-default}.`;
      this.problems.push({ where, message, help });
    } else if (result.kind === 'unreadable') {
      this.problems.push({ where, message: result.message, help: result.help });
    } else {
      const help = `Write \${NAME} or \${NAME:-default}, not nested; $\${ is a plain \${.`;
      this.problems.push({
        where,
        message: `${JSON.stringify(result.fragment)} is not a valid reference to a variable.`,
        help,
      });
    }
    return '';
  }

  #positionOf(node: unknown): Position | null {
    const range = node !== null && typeof node === 'object' ? (node as Partial<Node>).range : null;
    return range === null || range === undefined ? null : toPosition(this.#lines, range[0]);
  }
}

/** A scalar after substitution, or the reason why it has no value. */
type Substituted =
  | { readonly kind: 'value'; readonly text: string; readonly names: readonly string[] }
  | { readonly kind: 'missing'; readonly name: string; readonly names: readonly string[] }
  | {
      readonly kind: 'unreadable';
      readonly message: string;
      readonly help: string;
      readonly names: readonly string[];
    }
  | { readonly kind: 'malformed'; readonly fragment: string };

const REFERENCE = /\$\$\{|\$\{(?<body>[^}]*)(?<end>\}?)/g;
const BODY = /^(?<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?<fallback>[^$]*))?$/;

/**
 * Replaces `${VAR}` and `${VAR:-default}` in one scalar that YAML has already parsed, so a value can never
 * become structure. As in a shell, `:-` also covers a variable that is set but empty. `$${` stands for a
 * plain `${`. A file or AWS may also provide the value: see {@link readVariable}.
 */
function substitute(text: string, env: Environment, stored: StoredVariables): Substituted {
  const names: string[] = [];
  let result = '';
  let end = 0;
  for (const match of text.matchAll(REFERENCE)) {
    result += text.slice(end, match.index);
    end = match.index + match[0].length;
    if (match[0] === '$${') {
      result += '${';
      continue;
    }
    const body = BODY.exec(match.groups?.body ?? '');
    const name = body?.groups?.name;
    if (name === undefined || match.groups?.end !== '}') return { kind: 'malformed', fragment: match[0] };
    names.push(name);
    const variable = readVariable(name, env, stored);
    if (variable.kind === 'unreadable') return { ...variable, names };
    const fallback = body?.groups?.fallback;
    if (variable.text !== '') result += variable.text;
    else if (fallback === undefined) return { kind: 'missing', name, names };
    else result += fallback;
  }
  return { kind: 'value', text: result + text.slice(end), names };
}
