import { readFileSync } from 'node:fs';
import type { StoredSecret, StoredVariables, Variable } from '../../core/variable.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The variable that names a file with the value, for mounted secrets of containers and credentials of
 * systemd.
 */
function fileVariable(name: string): string {
  return `${name}_FILE`;
}

/** Suffixes of the variables that say where AWS stores a value. */
const AWS_SUFFIXES: readonly (readonly [suffix: string, store: StoredSecret['store']])[] = [
  ['_AWS_SECRET', 'Secrets Manager'],
  ['_AWS_PARAMETER', 'Parameter Store'],
];

/** The variables that can set a variable, itself first. */
export function waysToSet(name: string): readonly string[] {
  return [name, fileVariable(name), ...AWS_SUFFIXES.map(([suffix]) => `${name}${suffix}`)];
}

/**
 * Finds the variables whose value AWS stores, and where: `<name>[#key in a JSON object]`. No name in AWS
 * contains a `#`.
 */
export function findStoredSecrets(names: Iterable<string>, env: Environment): readonly StoredSecret[] {
  return [...names].flatMap((name) =>
    AWS_SUFFIXES.flatMap(([suffix, store]) => {
      const variable = `${name}${suffix}`;
      const [id = '', ...jsonKey] = (env[variable] ?? '').split('#');
      if (id === '') return [];
      return [{ name, variable, store, id, jsonKey: jsonKey.length === 0 ? null : jsonKey.join('#') }];
    }),
  );
}

/** @returns true if AWS stores the value of any variable. */
export function storesSecrets(env: Environment): boolean {
  return Object.keys(env).some((name) => AWS_SUFFIXES.some(([suffix]) => name.endsWith(suffix)));
}

/**
 * Reads a variable from the environment, from the file that `<name>_FILE` names, or from the values that AWS
 * returned. One line break at the end of a file or an AWS value is removed. Messages never contain the value,
 * which may be a secret.
 *
 * @param stored the values that AWS returned for the result of {@link findStoredSecrets}.
 * @returns empty text if the variable is not set in any way.
 */
export function readVariable(name: string, env: Environment, stored: StoredVariables): Variable {
  const [first, second] = waysToSet(name).filter((variable) => (env[variable] ?? '') !== '');
  if (first === undefined) return { kind: 'value', text: '' };
  // Neither may take precedence: someone would expect the other one, and orders would go to the account of
  // the wrong key.
  if (second !== undefined)
    return unreadable(`${first} and ${second} are both set.`, `Unset the one that you do not need.`);
  const set = env[first] ?? '';
  if (first === name) return { kind: 'value', text: set };
  if (first === fileVariable(name)) return readVariableFile(first, set);
  const variable = stored.get(name);
  if (variable === undefined) throw new Error(`AWS was not asked for ${first}`);
  if (variable.kind === 'unreadable') return variable;
  const { text } = variable;
  return text === '' ? isNoValue(first, set, 'is empty') : oneLine(text, first, set);
}

function readVariableFile(variable: string, path: string): Variable {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown';
    const help = 'Check that it is a file, and that this user may read it.';
    return unreadable(`${variable} names ${path}, which cannot be read (${code}).`, help);
  }
  return bytes.length === 0
    ? isNoValue(variable, path, 'is empty')
    : oneLine(decode(bytes) ?? '', variable, path);
}

function oneLine(text: string, variable: string, place: string): Variable {
  const value = text.replace(/\r?\n$/, '');
  // An empty value would mean "not set", and so another database or no key.
  if (value !== '' && !/\p{Cc}/u.test(value)) return { kind: 'value', text: value };
  return isNoValue(variable, place, 'is not one line of UTF-8 text');
}

function isNoValue(variable: string, place: string, what: string): Variable {
  const help = 'It must contain the value and nothing else.';
  return unreadable(`${variable} names ${place}, which ${what}.`, help);
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
