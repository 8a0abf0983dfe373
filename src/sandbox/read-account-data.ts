import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isMap, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import { EXIT } from '../model/exit-code.ts';
import { KnownError, type Problem } from '../model/known-error.ts';
import { type AccountData, accountData } from './account-data.ts';

/** The account that the sandbox has when it is given none. */
export const DEMO_ACCOUNT = fileURLToPath(new URL('../../config/demo/sandbox.yaml', import.meta.url));

type Path = readonly PropertyKey[];
type Finding = { readonly path: Path; readonly message: string; readonly help: string };

/**
 * Reads an account from YAML and checks it.
 *
 * @throws KnownError `sandbox_data_missing`, `sandbox_data_invalid` (exit 2), the latter with every problem and its line.
 */
export function readAccountData(path: string): AccountData {
  return parseAccountData(readText(path), path);
}

/** @param file its name, as messages say it. */
export function parseAccountData(text: string, file: string): AccountData {
  const lines = new LineCounter();
  // failsafe: every scalar stays text.
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, schema: 'failsafe' });
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${Math.max(1, line)}:${Math.max(1, col)}`;
  };
  if (document.errors.length > 0) {
    const problems = document.errors.map((error) => ({
      where: place(error.pos[0]),
      message: `This is not valid YAML: ${error.message.split('\n')[0] ?? ''}`,
      help: 'Check the indentation, the quotes and the colons on this line and the one before.',
    }));
    throw invalid(file, problems);
  }
  const parsed = accountData.safeParse(document.toJS());
  const findings = parsed.success ? findContradictions(parsed.data) : parsed.error.issues.map(explainIssue);
  if (parsed.success && findings.length === 0) return parsed.data;
  const contents: unknown = document.contents;
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
      help: 'Check the name that --data gives, or leave --data out for the built-in account.',
      exitCode: EXIT.configuration,
      cause,
    });
  }
}

function invalid(file: string, problems: readonly Problem[]): KnownError {
  return new KnownError({
    code: 'sandbox_data_invalid',
    message: problems.length === 1 ? `${file} has a problem.` : `${file} has ${problems.length} problems.`,
    help: 'Mend the file and start the sandbox again.',
    safe: 'The sandbox was not started.',
    problems,
    exitCode: EXIT.configuration,
  });
}

function explainIssue(issue: {
  readonly code?: string;
  readonly path: Path;
  readonly message: string;
  readonly keys?: unknown;
}): Finding {
  const name = issue.path.map(String).join('.') || 'the file';
  if (issue.code === 'unrecognized_keys' && Array.isArray(issue.keys)) {
    const [key] = issue.keys as readonly string[];
    return {
      path: [...issue.path, key ?? ''],
      message: `${name} has no member ${String(key)}.`,
      help: 'Remove it or mend its name.',
    };
  }
  return {
    path: issue.path,
    message: `${name}: ${issue.message}.`,
    help: 'See config/demo/sandbox.yaml for an example.',
  };
}

/** What each record by itself cannot show: ids that stand twice and ids of nothing. */
function findContradictions(data: AccountData): readonly Finding[] {
  const brands = new Set(data.brands.map((brand) => brand.id));
  const dealflows = new Map(data.dealflows.map((flow) => [flow.id, flow.brand_id]));
  const collaborations = data.deals.map((deal) => deal.collab_id);
  return [
    ...repeated(
      data.brands.map((brand) => brand.id),
      'brands',
      'id',
    ),
    ...repeated(
      data.dealflows.map((flow) => flow.id),
      'dealflows',
      'id',
    ),
    ...repeated(collaborations, 'deals', 'collab_id'),
    ...data.dealflows.flatMap((flow, index) =>
      unknownBrand(brands, flow.brand_id, ['dealflows', index, 'brand_id']),
    ),
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
    const message = `${member} ${id} stands twice in ${list}.`;
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
  const brandId = dealflows.get(deal.dealflow_id);
  const help = `Use one of: ${[...dealflows.keys()].join(', ')}.`;
  if (brandId === undefined) return [{ path, message: `There is no dealflow ${deal.dealflow_id}.`, help }];
  if (brandId === deal.brand_id) return [];
  return [
    {
      path,
      message: `Dealflow ${deal.dealflow_id} belongs to brand ${brandId}, not to ${deal.brand_id}.`,
      help,
    },
  ];
}

/** Two entries of one deal are two collaborations of one influencer. */
function otherHandles(deals: AccountData['deals']): readonly Finding[] {
  const handles = new Map<string, string>();
  return deals.flatMap((deal, index) => {
    const first = handles.get(deal.deal_id) ?? deal.influencer_handle;
    handles.set(deal.deal_id, first);
    if (first === deal.influencer_handle) return [];
    const message = `Deal ${deal.deal_id} stands above with another influencer.`;
    return [
      { path: ['deals', index, 'influencer_handle'], message, help: 'Give this deal its own deal_id.' },
    ];
  });
}

/** Where a path stands in the text; of a member that is missing, where its parent stands. */
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
