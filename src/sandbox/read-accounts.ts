import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isMap, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { z } from 'zod';
import { EXIT } from '../core/exit-code.ts';
import { KnownError, type Problem } from '../core/known-error.ts';
import { packageFile } from '../core/package/package-file.ts';
import { findYamlProblem } from '../core/text/yaml-problem.ts';
import { explainIssue } from '../service/explain-issues.ts';
import { type AccountData, oneAccount, severalAccounts } from './account-data.ts';
import { checkAccounts, type Finding, type Path } from './check-accounts.ts';

/** The default account of the sandbox. */
export const DEMO_ACCOUNT = fileURLToPath(packageFile('config/demo/sandbox.yaml'));

/**
 * Reads accounts from YAML and checks them: one account, or a list under `accounts`.
 *
 * @throws KnownError `sandbox_data_missing`, `sandbox_data_invalid` (exit 2), the latter with every problem and its line.
 */
export function readAccounts(path: string): readonly AccountData[] {
  return parseAccounts(readText(path), path);
}

/** @param file the name of the file, for messages. */
export function parseAccounts(text: string, file: string): readonly AccountData[] {
  const lines = new LineCounter();
  // With the failsafe schema, every scalar stays text.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, schema: 'failsafe' });
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${Math.max(1, line)}:${Math.max(1, col)}`;
  };
  const problem = findYamlProblem(text, { file, errors: document.errors });
  if (problem !== null) throw invalid(file, [problem]);
  const contents: unknown = document.contents;
  const isSeveral = isMap(contents) && contents.has('accounts');
  const parsed = (isSeveral ? severalAccounts : oneAccount).safeParse(document.toJS());
  const findings = parsed.success
    ? checkAccounts(parsed.data.accounts, isSeveral)
    : parsed.error.issues.map(toFinding);
  if (parsed.success && findings.length === 0) return parsed.data.accounts;
  throw invalid(
    file,
    findings.map(({ path, message, help }) => ({ where: place(offsetOf(contents, path)), message, help })),
  );
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new KnownError({
      code: 'sandbox_data_missing',
      message: 'The data file of the sandbox cannot be read.',
      where: path,
      help: 'Check the name that --data gives, or omit --data for the built-in account.',
      exitCode: EXIT.configuration,
      cause,
    });
  }
}

function invalid(file: string, problems: readonly Problem[]): KnownError {
  return new KnownError({
    code: 'sandbox_data_invalid',
    message: problems.length === 1 ? `${file} has a problem.` : `${file} has ${problems.length} problems.`,
    help: 'Fix the file and start the sandbox again.',
    safe: 'The sandbox was not started.',
    problems,
    exitCode: EXIT.configuration,
  });
}

function toFinding(issue: z.core.$ZodIssue): Finding {
  const name = issue.path.map(String).join('.') || 'the file';
  if (issue.code === 'unrecognized_keys') {
    const [key] = issue.keys;
    return {
      path: [...issue.path, key ?? ''],
      message: `${name} has no member ${key}.`,
      help: 'Remove it or correct its name.',
    };
  }
  return {
    path: issue.path,
    message: `${name}: ${explainIssue(issue)}.`,
    help: 'See config/demo/sandbox.yaml for an example.',
  };
}

/** The offset of a path in the text. For a missing member, the offset of its parent. */
function offsetOf(root: unknown, path: Path): number {
  let node = root;
  let offset = startOf(root) ?? 0;
  for (const part of path) {
    const child = childOf(node, part);
    if (child === null) break;
    offset = startOf(child.value) ?? child.keyOffset ?? offset;
    node = child.value;
  }
  return offset;
}

function childOf(
  node: unknown,
  part: PropertyKey,
): { readonly value: unknown; readonly keyOffset: number | null } | null {
  if (isSeq(node)) return { value: node.items[Number(part)], keyOffset: null };
  const pair = isMap(node) ? node.items.find((item) => String(item.key) === String(part)) : undefined;
  return pair === undefined ? null : { value: pair.value, keyOffset: startOf(pair.key) };
}

function startOf(node: unknown): number | null {
  const range = typeof node === 'object' && node !== null ? (node as Partial<Node>).range : null;
  return range?.[0] ?? null;
}
