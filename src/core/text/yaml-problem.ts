import type { Problem } from '../known-error.ts';
import { maskAddresses } from './mask-addresses.ts';
import { plural } from './plural.ts';

/** An error of the YAML parser: its code, its message, and the offsets of its range. */
type YamlError = { readonly code: string; readonly message: string; readonly pos: readonly [number, number] };

/** Errors that a wrong indentation can cause, on its own line or on one near it. */
const INDENTATION = [
  'BAD_INDENT',
  'BLOCK_AS_IMPLICIT_KEY',
  'MULTILINE_IMPLICIT_KEY',
  'MISSING_CHAR',
  'UNEXPECTED_TOKEN',
];

const HELP =
  'Check the indentation (spaces, no tabs), the quotes and the colons on this line and the one before.';

/**
 * Finds the problem to fix first in a text that is not valid YAML. The parser reports one mistake many times,
 * and often not on the line that contains it, so errors after the first are ignored.
 *
 * @returns the problem with the line as it is written, without values that may be secrets. Null if there is
 * no error.
 */
export function findYamlProblem(
  text: string,
  { file, errors }: { file: string; errors: readonly YamlError[] },
): Problem | null {
  const [first] = errors.toSorted((one, other) => one.pos[0] - other.pos[0]);
  if (first === undefined) return null;
  const lines = text.split(/\r\n|[\r\n]/);
  const before = text.slice(0, first.pos[0]).split(/\r\n|[\r\n]/);
  const place = { line: before.length, column: (before.at(-1) ?? '').length + 1 };
  const at = ({ line, column }: typeof place): string => `${file}:${line}:${column}`;
  if (first.code === 'TAB_AS_INDENT') {
    return {
      where: at({ ...place, column: 1 }),
      message: withLine('A tab indents this line, but YAML allows only spaces.', lines, place.line),
      help: HELP,
    };
  }
  const odd = INDENTATION.includes(first.code) ? findOddLine(lines) : null;
  if (odd !== null) {
    return {
      where: at({ line: odd.line, column: odd.indent + 1 }),
      message: withLine(
        `This line is indented by ${spaces(odd.indent)}, but the lines around it have ${odd.expected}.`,
        lines,
        odd.line,
      ),
      help: `Indent it by ${spaces(odd.expected)}.`,
    };
  }
  const said = first.message.split('\n')[0]?.replace(/( in YAML stream)?(: ".*)?\.?$/, '') ?? '';
  return {
    where: at(place),
    message: withLine(`This is not valid YAML: ${said}.`, lines, place.line),
    help: HELP,
  };
}

function spaces(count: number): string {
  return plural(count, 'space');
}

/** Longer lines are truncated. Their beginning is enough to identify them. */
const SHOWN_CHARS = 100;

/** Hides the value after one of these names, because it may be a plain-text secret. */
const SECRET = /^(.*?(?:key|secret|password|token|url)["']?\s*:).*$/i;

/**
 * Appends the line as it is written to the message. A line without a name may be the rest of a secret and is
 * not shown.
 */
function withLine(message: string, lines: readonly string[], line: number): string {
  const written = (lines[line - 1] ?? '').trimEnd();
  if (!written.includes(':')) return message;
  const safe = maskAddresses(written.replace(SECRET, '$1 …'));
  const shown = safe.length > SHOWN_CHARS ? `${safe.slice(0, SHOWN_CHARS)}…` : safe;
  return `${message}\n  ${line} | ${shown.replaceAll('\t', '→')}`;
}

/** A line of the form `name:` or `name: value`. */
type KeyLine = { readonly line: number; readonly indent: number; readonly opens: boolean };

const KEY_LINE = /^(?<indent> *)(?:"[^"]*"|'[^']*'|[\w.-]+) *:(?: +(?<value>[^#\s].*))?(?:\s|$)/;

/**
 * Finds the first line whose indentation fits neither the block that contains it nor a block that it could
 * begin. If two lines of a block disagree, the one whose indentation is rarer in the block is reported.
 */
function findOddLine(lines: readonly string[]): { line: number; indent: number; expected: number } | null {
  const keys = lines.flatMap((text, index): KeyLine[] => {
    const { indent, value } = KEY_LINE.exec(text)?.groups ?? {};
    return indent === undefined
      ? []
      : [{ line: index + 1, indent: indent.length, opens: value === undefined }];
  });
  /** Indexes of the lines that began the open blocks. */
  const open: number[] = [];
  for (const [index, key] of keys.entries()) {
    const previous = keys[index - 1];
    if (previous !== undefined && key.indent > previous.indent && !previous.opens)
      return oddOf(keys, { begin: open.at(-1) ?? 0, at: index });
    let closed: number | null = null;
    while (open.length > 0 && (keys[open.at(-1) ?? 0]?.indent ?? 0) > key.indent) closed = open.pop() ?? null;
    const begin = open.at(-1);
    const indent = begin === undefined ? null : (keys[begin]?.indent ?? null);
    if (closed !== null && indent !== key.indent) return oddOf(keys, { begin: closed, at: index });
    if (indent === null || indent < key.indent) open.push(index);
  }
  return null;
}

/** Returns the one of two lines of a block whose indentation is rarer in that block. */
function oddOf(
  keys: readonly KeyLine[],
  { begin, at }: { begin: number; at: number },
): { line: number; indent: number; expected: number } | null {
  const [first, other] = [keys[begin], keys[at]];
  if (first === undefined || other === undefined) return null;
  const outer = keys.slice(0, begin).findLast(({ indent }) => indent < Math.min(first.indent, other.indent));
  const rest = keys.slice(begin);
  const end = outer === undefined ? -1 : rest.findIndex(({ indent }) => indent <= outer.indent);
  const block = end === -1 ? rest : rest.slice(0, end);
  // If the block is too short to decide, the whole file decides.
  const [inBlock, inFile] = [block, keys].map(
    (some) => countAt(some, first.indent) - countAt(some, other.indent),
  );
  const isFirstOdd = (inBlock || inFile || 0) < 0;
  const [odd, expected] = isFirstOdd ? [first, other] : [other, first];
  return { line: odd.line, indent: odd.indent, expected: expected.indent };
}

function countAt(keys: readonly KeyLine[], wanted: number): number {
  return keys.filter(({ indent }) => indent === wanted).length;
}
