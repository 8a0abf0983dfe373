import type { StoredVariables } from '../../core/variable.ts';
import { type Environment, readVariable } from './read-variable.ts';

/** A scalar after substitution, or the reason why it has no value. */
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
 * Replaces `${VAR}` and `${VAR:-default}` in one scalar that YAML has already parsed, so a value can never
 * become structure. As in a shell, `:-` also covers a variable that is set but empty. `$${` stands for a
 * plain `${`. A file or AWS may also provide the value: see {@link readVariable}.
 */
export function substitute(text: string, env: Environment, stored: StoredVariables): Substituted {
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
