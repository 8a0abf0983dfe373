import type { z } from 'zod';
import type { PipelineFile, PipelineSchema } from './schema.ts';

type Issue = z.core.$ZodIssue;

/** Each round removes the values that the previous one found invalid; a file needs few rounds. */
const MAX_ROUNDS = 8;

/**
 * Validates the file. If it has issues, removes the invalid parts and validates the rest again, so that it
 * can be cross-checked too and all problems are reported at once.
 *
 * @returns the file, or the valid rest of it (null if there is none), and the issues of the original file.
 */
export function parseSalvaging(
  content: unknown,
  schema: PipelineSchema,
): { readonly data: PipelineFile | null; readonly issues: readonly Issue[] } {
  let rest = structuredClone(content);
  let issues: readonly Issue[] | null = null;
  for (let round = 0; round < MAX_ROUNDS; round += 1) {
    // To compile the schema, as Zod does by default, takes longer than to validate the file of a command.
    const parsed = schema.safeParse(rest, { jitless: true });
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

/** Placeholder for a missing value, so that the rest of its section is still checked. */
const PLACEHOLDER = '?';

/**
 * Removes an invalid value, or the list that contains it. If it is missing, inserts a placeholder; if that is
 * invalid too, removes the whole section.
 */
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
