import type { z } from 'zod';
import type { PipelineFile, PipelineSchema } from './schema.ts';

type Issue = z.core.$ZodIssue;

/** Each round takes out what the one before found; a file needs few. */
const MAX_ROUNDS = 8;

/**
 * Validates the file, and where it has issues, takes the parts at fault out and validates the rest again, so that what no single
 * value shows can be checked too and all problems are reported at once.
 *
 * @returns the file, or what could be saved of it (null: nothing), and the issues of the file as it stands.
 */
export function parseSalvaging(
  content: unknown,
  schema: PipelineSchema,
): {
  readonly data: PipelineFile | null;
  readonly issues: readonly Issue[];
} {
  let rest = structuredClone(content);
  let issues: readonly Issue[] | null = null;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    const parsed = schema.safeParse(rest);
    if (parsed.success) return { data: parsed.data, issues: issues ?? [] };
    issues ??= parsed.error.issues;
    if (!isSection(rest)) break;
    for (const issue of parsed.error.issues) takeOut(rest, issue);
    rest = { sources: {}, jobs: {}, ...rest };
  }
  return { data: null, issues: issues ?? [] };
}

export function isSection(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function takeOut(rest: Record<string, unknown>, issue: Issue): void {
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys) remove(rest, [...issue.path, key]);
  } else {
    remove(rest, issue.path);
  }
}

/** Stands in for a value that is missing, so that the rest of its section is still checked. */
const PLACEHOLDER = '?';

/** Removes the value at fault, or the list that it is in; then puts a placeholder there; then gives the whole section up. */
function remove(rest: Record<string, unknown>, path: readonly PropertyKey[]): void {
  const item = path.findIndex((part) => typeof part === 'number');
  const keys = (item === -1 ? path : path.slice(0, item)).map(String);
  const key = keys.pop();
  const section = keys.reduce<unknown>((value, part) => (isSection(value) ? value[part] : undefined), rest);
  if (key === undefined || !isSection(section)) return;
  if (section[key] === PLACEHOLDER) remove(rest, keys);
  else if (key in section) delete section[key];
  else section[key] = PLACEHOLDER;
}
