import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isMap, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { z } from 'zod';
import { configurationError, type KnownError, type Problem } from '../../core/known-error.ts';
import { packageFile } from '../../core/package.ts';
import { findYamlProblem } from '../../core/text/yaml-problem.ts';
import { explainIssue } from '../../service/explain-issues.ts';
import { type AccountData, oneAccount, severalAccounts } from './account-data.ts';

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
    throw configurationError({
      code: 'sandbox_data_missing',
      message: 'The data file of the sandbox cannot be read.',
      where: path,
      help: 'Check the name that --data gives, or omit --data for the built-in account.',
      cause,
    });
  }
}

function invalid(file: string, problems: readonly Problem[]): KnownError {
  return configurationError({
    code: 'sandbox_data_invalid',
    message: problems.length === 1 ? `${file} has a problem.` : `${file} has ${problems.length} problems.`,
    help: 'Fix the file and start the sandbox again.',
    safe: 'The sandbox was not started.',
    problems,
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

type Path = readonly PropertyKey[];

/** A problem in a data file, and its place. */
type Finding = { readonly path: Path; readonly message: string; readonly help: string };

/**
 * Finds problems that a single record cannot show: duplicate ids, and references to ids that do not exist.
 *
 * @param isListed true if the file lists its accounts, false if it is one account.
 */
function checkAccounts(accounts: readonly AccountData[], isListed: boolean): readonly Finding[] {
  const own = accounts.flatMap((account, index) =>
    findInAccount(account).map((finding) => ({
      ...finding,
      path: isListed ? ['accounts', index, ...finding.path] : finding.path,
    })),
  );
  const keys = accounts.flatMap((account, index) =>
    account.keys.map((key, place) => ({
      key,
      path: [...(isListed ? ['accounts', index] : []), 'keys', place],
    })),
  );
  const keysTwice = keys
    .filter(({ key }, index) => keys.findIndex((one) => one.key === key) < index)
    .map(({ path }) => ({
      path,
      message: 'This key is already used above.',
      help: 'Give each account and each user its own key.',
    }));
  const ids = accounts.map(({ id }) => id);
  return [...own, ...keysTwice, ...(isListed ? repeated(ids, 'accounts', 'id') : [])];
}

/** Checks one account. Accounts are independent, so two may use the same ids. */
function findInAccount(data: AccountData): readonly Finding[] {
  const brands = new Set(data.brands.map((brand) => brand.id));
  const { dealflows: given = [], outreaches = [] } = data;
  const dealflows = new Map(given.map((flow) => [flow.id, flow.brand_id]));
  const collaborations = data.deals.map((deal) => deal.collab_id);
  return [
    ...repeated(
      data.brands.map((brand) => brand.id),
      'brands',
      'id',
    ),
    ...repeated(
      given.map((flow) => flow.id),
      'dealflows',
      'id',
    ),
    ...repeated(
      outreaches.map((outreach) => outreach.id),
      'outreaches',
      'id',
    ),
    ...repeated(collaborations, 'deals', 'collab_id'),
    ...outreaches.flatMap(({ dealflow_id: id }, index) =>
      id === null ? [] : unknownDealflow(dealflows, id, ['outreaches', index, 'dealflow_id']),
    ),
    ...given.flatMap((flow, index) => unknownBrand(brands, flow.brand_id, ['dealflows', index, 'brand_id'])),
    ...data.deals.flatMap((deal, index) => {
      const missing = unknownBrand(brands, deal.brand_id, ['deals', index, 'brand_id']);
      return missing.length > 0 ? missing : wrongDealflow(dealflows, deal, ['deals', index, 'dealflow_id']);
    }),
    ...otherHandles(data.deals),
  ];
}

function repeated(
  ids: readonly (string | number | null)[],
  list: string,
  member: string,
): readonly Finding[] {
  const seen = new Set<string | number>();
  return ids.flatMap((id, index) => {
    if (id === null) return [];
    if (!seen.has(id)) {
      seen.add(id);
      return [];
    }
    const message = `${member} ${id} appears twice in ${list}.`;
    return [{ path: [list, index, member], message, help: 'Give each its own id.' }];
  });
}

function unknownBrand(brands: ReadonlySet<number>, brandId: number, path: Path): readonly Finding[] {
  if (brands.has(brandId)) return [];
  return [{ path, message: `There is no brand ${brandId}.`, help: `Use one of: ${[...brands].join(', ')}.` }];
}

function wrongDealflow(
  dealflows: ReadonlyMap<string, number>,
  deal: AccountData['deals'][number],
  path: Path,
): readonly Finding[] {
  const { dealflow_id: id, brand_id: brandId } = deal;
  const owner = dealflows.get(id);
  if (owner === undefined) return unknownDealflow(dealflows, id, path);
  if (owner === brandId) return [];
  const message = `Dealflow ${id} belongs to brand ${owner}, not to ${brandId}.`;
  return [{ path, message, help: namesOf(dealflows) }];
}

function unknownDealflow(dealflows: ReadonlyMap<string, number>, id: string, path: Path): readonly Finding[] {
  if (dealflows.has(id)) return [];
  return [{ path, message: `There is no dealflow ${id}.`, help: namesOf(dealflows) }];
}

function namesOf(dealflows: ReadonlyMap<string, number>): string {
  return dealflows.size === 0
    ? 'List it under dealflows.'
    : `Use one of: ${[...dealflows.keys()].join(', ')}.`;
}

/**
 * Two entries with the same deal id are two collaborations of one influencer, so their handles must be equal.
 */
function otherHandles(deals: AccountData['deals']): readonly Finding[] {
  const handles = new Map<string, string>();
  return deals.flatMap((deal, index) => {
    const first = handles.get(deal.deal_id) ?? deal.influencer_handle;
    handles.set(deal.deal_id, first);
    if (first === deal.influencer_handle) return [];
    const message = `Deal ${deal.deal_id} already appears above with another influencer.`;
    return [
      { path: ['deals', index, 'influencer_handle'], message, help: 'Give this deal its own deal_id.' },
    ];
  });
}
