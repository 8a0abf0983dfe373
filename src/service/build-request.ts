import { parseExactJson } from '../core/json/exact-json.ts';
import type { ExchangeInput } from './client.ts';
import { type OperationName, operationOf } from './contract.ts';
import { explainIssue } from './explain-issues.ts';
import { type Field, requestFieldsOf } from './reference/operation-fields.ts';

/** A request as a person typed it: values as text by field, and optionally a whole body. */
export type TypedRequest = {
  /** A field has several values if it was given several times. */
  readonly fields: Readonly<Record<string, readonly string[]>>;
  /** JSON text. The fields are merged into it. */
  readonly body: string | null;
};

/** A value that does not fit the contract. `place` is the field, or `body` or `query` for the whole. */
export type RequestProblem = { readonly place: string; readonly message: string };

export type BuiltRequest =
  | { readonly kind: 'request'; readonly input: ExchangeInput }
  | { readonly kind: 'problems'; readonly problems: readonly RequestProblem[] };

/**
 * Builds the request of an operation from a person's input, and checks it against the contract before
 * anything is sent. Numbers stay as typed: `12.50` is sent as `12.50`. A body without additional fields is
 * sent byte for byte.
 */
export function buildRequest(name: OperationName, typed: TypedRequest): BuiltRequest {
  const operation = operationOf(name);
  const { place, fields } = requestFieldsOf(operation);
  const problems: RequestProblem[] = [];
  if (place !== 'body' && typed.body !== null)
    problems.push({ place: 'body', message: `${name} has no body; give its fields one by one` });
  const given = place === 'body' ? parseBody(typed.body, problems) : {};
  for (const [field, texts] of Object.entries(typed.fields)) {
    const known = fields.find((one) => one.name === field);
    const read = place === 'query' ? { json: texts.at(-1) } : readJson(known, texts);
    if (read === null) problems.push({ place: field, message: `should be ${known?.type ?? 'JSON'}` });
    else given[field] = read.json;
  }
  if (problems.length > 0) return { kind: 'problems', problems };

  const schema = place === 'body' ? operation.body : operation.query;
  // The schemas expect JavaScript numbers instead of exact ones.
  const result = schema?.safeParse(JSON.parse(JSON.stringify(given)));
  if (result?.success === false) {
    const found = result.error.issues.map((issue) => ({
      place: issue.path.length === 0 ? place : issue.path.join('.'),
      message: explainIssue(issue),
    }));
    return { kind: 'problems', problems: found };
  }
  if (place === 'query') return { kind: 'request', input: { query: given as Record<string, string> } };
  if (place === 'none') return { kind: 'request', input: {} };
  const isUntouched = typed.body !== null && Object.keys(typed.fields).length === 0;
  return { kind: 'request', input: { body: isUntouched ? typed.body : JSON.stringify(given) } };
}

function parseBody(text: string | null, problems: RequestProblem[]): Record<string, unknown> {
  if (text === null) return {};
  try {
    const value = parseExactJson(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>;
  } catch {
    // Reported below, like any other text that is not an object.
  }
  problems.push({ place: 'body', message: 'should be a JSON object' });
  return {};
}

function readJson(field: Field | undefined, texts: readonly string[]): { readonly json: unknown } | null {
  const text = texts.at(-1) ?? '';
  if (field?.isNullable === true && text === 'null') return { json: null };
  if (field?.takes === 'text') return { json: text };
  const isJson = /^\s*\[/.test(text) && texts.length === 1;
  if (field?.takes === 'texts' && !isJson) return { json: texts };
  try {
    return { json: parseExactJson(text) };
  } catch {
    // A field that is not in the contract is text unless it parses as JSON.
    return field === undefined ? { json: text } : null;
  }
}
