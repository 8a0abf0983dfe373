import { readFileSync } from 'node:fs';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The value of a variable, or why its file gives none. */
export type Variable =
  | { readonly kind: 'value'; readonly text: string }
  | { readonly kind: 'unreadable'; readonly message: string; readonly help: string };

/** The variable that names a file with the value, as secrets of containers and credentials of systemd are mounted. */
export function fileVariable(name: string): string {
  return `${name}_FILE`;
}

/**
 * Reads a variable from the environment, or from the file that `<name>_FILE` names. One line break at the end of the file is no part
 * of the value. Nothing of the file is in a message: it is a secret.
 *
 * @returns empty text where neither is set.
 */
export function readVariable(name: string, env: Environment): Variable {
  const text = env[name] ?? '';
  const variable = fileVariable(name);
  const path = env[variable] ?? '';
  if (path === '') return { kind: 'value', text };
  // Whichever took precedence, somebody would expect the other one, and send to the account of the wrong key.
  if (text !== '')
    return unreadable(`${name} and ${variable} are both set.`, `Unset the one that is not meant.`);
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown';
    const help = 'Check that it is a file, and that this user may read it.';
    return unreadable(`${variable} names ${path}, which cannot be read (${code}).`, help);
  }
  const value = decode(bytes)?.replace(/\r?\n$/, '') ?? '';
  // An empty value would mean "not set": another database, or no key.
  if (value === '' || /\p{Cc}/u.test(value)) {
    const what = bytes.length === 0 ? 'is empty' : 'is not one line of UTF-8 text';
    return unreadable(
      `${variable} names ${path}, which ${what}.`,
      'It must contain the value and nothing else.',
    );
  }
  return { kind: 'value', text: value };
}

function decode(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function unreadable(message: string, help: string): Variable {
  return { kind: 'unreadable', message, help };
}

/** A scalar after substitution, or what keeps it from having a value. */
export type Substituted =
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
 * Replaces `${VAR}` and `${VAR:-default}` in one scalar that YAML has already parsed, so a value can never become structure.
 * As in a shell, `:-` also covers a variable that is set but empty. `$${` stands for a plain `${`. The value may be in the file that
 * `VAR_FILE` names.
 */
export function substitute(text: string, env: Environment): Substituted {
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
    const variable = readVariable(name, env);
    if (variable.kind === 'unreadable') return { ...variable, names };
    const fallback = body?.groups?.fallback;
    if (variable.text !== '') result += variable.text;
    else if (fallback === undefined) return { kind: 'missing', name, names };
    else result += fallback;
  }
  return { kind: 'value', text: result + text.slice(end), names };
}
