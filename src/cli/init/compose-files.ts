import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { Document, isCollection, parseDocument } from 'yaml';
import { jobKinds } from '../../../jobs/index.ts';
import { CODE_COLUMNS } from '../../codes/parse-codes.ts';
import { UNOWNED_CODES } from '../../config/job-fields.ts';
import { errorCode } from '../../core/error-code.ts';
import { refusal } from '../../core/known-error.ts';
import { foldCode } from '../../core/text/fold.ts';
import { toPrintableLine } from '../../core/text/printable.ts';
import { joinLines, type Lines } from '../../core/text/wrap.ts';
import { renderCsv } from '../../render/csv.ts';
import type { Answers } from './answers.ts';
import type { CodeOwner, ProposedOwner } from './find-owners.ts';
import { NOTHING, type SourceAnswer } from './init-options.ts';
import type { KeptCodes } from './kept-answers.ts';
import type { CodeFound } from './recognise/preview-orders.ts';
import { quote } from './recognise/proposed-text.ts';
import type { RecognisedSource } from './recognise/recognise.ts';

/** A dealflow of the account. Its brand is null if the service does not say it. */
export type Dealflow = { readonly id: string; readonly name: string | null; readonly brandId: string | null };

/** A file to write, relative to the folder of the configuration. */
export type ComposedFile = { readonly path: string; readonly text: string };

export type ComposeOptions = {
  readonly sources: readonly RecognisedSource[];
  readonly answers: Answers;
  readonly owners: readonly CodeOwner[];
  readonly proposals: readonly ProposedOwner[];
  readonly dealflows: readonly Dealflow[];
  readonly codes: readonly CodeFound[];
  /** Absolute path. The paths of sources are written relative to it. */
  readonly folder: string;
  /** The codes.csv that is in the folder. Null if there is none. */
  readonly keptCodes: KeptCodes | null;
};

/** Composes all files that `init` writes. */
export function composeFiles(options: ComposeOptions): readonly ComposedFile[] {
  const { sources, codes, owners, proposals } = options;
  // Several sources may share a proposed layout.
  const layouts = new Map(sources.flatMap(layoutFileOf).map((file) => [file.path, file]));
  const hasCodes = sources.some(({ examined }) => examined.kind === 'orders' || examined.kind === 'clicks');
  const unowned = codes.filter(
    ({ code }) => !owners.some((owner) => owner.code === code) && !isKept(options, code),
  );
  return [
    { path: 'pipeline.yaml', text: pipelineText(options) },
    ...layouts.values(),
    ...(hasCodes ? [{ path: 'codes.csv', text: codesText(options) }] : []),
    ...(unowned.length > 0 ? [{ path: UNOWNED_CODES, text: unownedText(unowned, proposals) }] : []),
    { path: '.env.example', text: environmentText(sources) },
  ];
}

function isKept({ keptCodes }: Pick<ComposeOptions, 'keptCodes'>, code: string): boolean {
  return keptCodes?.codes.some((kept) => foldCode(kept) === foldCode(code)) === true;
}

/**
 * A blank brand is that of every job: with several, each code names those whose orders have it. What people have written
 * is kept, and only codes that are not in it are added.
 */
function codesText(options: ComposeOptions): string {
  const { sources, answers, keptCodes } = options;
  const owners = options.owners.filter(({ code }) => !isKept(options, code));
  const brandOf = brandsOf(answers);
  const brands = new Set(sources.map(({ name }) => brandOf(name)));
  const brandsWith = (code: string): ReadonlySet<string> =>
    new Set(
      sources.flatMap(({ name, examined }) =>
        examined.kind === 'orders' &&
        examined.preview.codes.some((found) => foldCode(found.code) === foldCode(code))
          ? [brandOf(name)]
          : [],
      ),
    );
  const text = toCsv(
    owners.flatMap(({ code, brandId, handle, dealId }) => {
      const isOfJob = brands.size === 1 && (brandId === null || brands.has(brandId));
      const named = brandId === null ? brandsWith(code) : [brandId];
      return (isOfJob ? [''] : [...named]).map((brand) => [code, brand, handle ?? '', dealId, '', '', '']);
    }),
  );
  if (keptCodes === null) return text;
  const added = text.slice(text.indexOf('\n') + 1);
  const isEnded = added === '' || keptCodes.text.endsWith('\n');
  return `${keptCodes.text}${isEnded ? '' : '\n'}${added}`;
}

/** Returns a function that names the brand of a source. */
function brandsOf({ brandId, sources }: Answers): (name: string | undefined) => string {
  return (name) => sources.get(name ?? '')?.brand ?? brandId;
}

/** The codes without an owner, with the best proposal behind the columns of codes.csv. */
function unownedText(codes: readonly CodeFound[], proposals: readonly ProposedOwner[]): string {
  const blank = CODE_COLUMNS.slice(1).map(() => '');
  const rows = codes.map(({ code }) => {
    const own = proposals.filter((one) => one.code === code);
    const names = own.map(({ handle, dealId }) => handle ?? dealId).join(' or ');
    return [code, ...blank, ...(proposals.length === 0 ? [] : [names, own[0]?.evidence ?? ''])];
  });
  return toCsv(rows, proposals.length === 0 ? [] : ['proposed_owner', 'evidence']);
}

function toCsv(rows: readonly (readonly string[])[], more: readonly string[] = []): string {
  return renderCsv([[...CODE_COLUMNS, ...more], ...rows], {
    delimiter: ',',
    escapeFormulas: true,
    lineEnd: '\n',
  });
}

/** The name of a source's layout. A modified layout gets its own name. */
export function layoutNameOf({ examined, name, proposed }: RecognisedSource): string {
  const layout = examined.layout.name;
  if (proposed !== null || examined.kind !== 'orders' || examined.changes.length === 0) return layout;
  return layout.startsWith(name) ? `${layout}-own` : `${name}-${layout}`;
}

/**
 * The layout file of a source, with the changes that the files need: a proposed layout, or one that extends the layout
 * that knows them.
 */
export function layoutFileOf(source: RecognisedSource): readonly ComposedFile[] {
  const { proposed, examined } = source;
  const path = `layouts/${layoutNameOf(source)}.yaml`;
  const changes = examined.kind === 'orders' ? examined.changes : [];
  if (changes.length === 0) return proposed === null ? [] : [{ path, text: proposed.text }];
  const document =
    proposed === null ? new Document({ extends: examined.layout.name }) : parseDocument(proposed.text);
  for (const { path: key, value } of changes) {
    const node = document.createNode(value);
    if (isCollection(node)) node.flow = true;
    document.setIn(key, node);
  }
  const whys = changes.map(({ why }) => why).join('; ');
  const head =
    proposed === null ? `# ${examined.layout.name}, changed by \`influencer-sync init\`: ${whys}.\n` : '';
  return [{ path, text: `${head}${document.toString({ lineWidth: 0 })}` }];
}

function pipelineText({ sources, answers, dealflows, folder }: ComposeOptions): string {
  const planned = jobKinds.find(({ starter }) =>
    sources.some(({ examined }) => examined.kind === starter?.reads),
  )?.kind;
  return joinLines(
    `# Written by \`influencer-sync init\`. Paths are relative to this file. Any value may be \${VAR} or \${VAR:-default} from the environment.`,
    `# Check it:  npx influencer-sync doctor${planned === undefined ? '' : `   What a run would post:  npx influencer-sync plan ${planned}`}`,
    '',
    'api:',
    `  url: ${variable('INFLUENCER_API_URL')} # empty: \`run\` stops and says how to start the sandbox`,
    `  key: ${variable('INFLUENCER_API_KEY')}`,
    '',
    'database:',
    `  url: ${variable('DATABASE_URL')} # empty: an embedded database in .data/ next to this file`,
    sources.some(isOfCustomers) && [
      '',
      'customers: # they are stored without their addresses',
      `  hash_key: ${variable('CUSTOMER_HASH_KEY')}`,
    ],
    '',
    'sources:',
    sources.map((source) => sourceLines(source, answers.sources.get(source.name) ?? NOTHING, folder)),
    '',
    'jobs:',
    jobLines(sources, answers, dealflows),
    '',
  );
}

/** A reference to an environment variable; empty if it is not set. */
function variable(name: string): string {
  return `\${${name}:-}`;
}

function isOfCustomers({ examined }: RecognisedSource): boolean {
  return examined.kind === 'customers';
}

function sourceLines(source: RecognisedSource, answer: SourceAnswer, folder: string): Lines {
  const { name, encoding, examined, proof, proposed } = source;
  const { dateOrder = 'open', decimalMark = 'open' } = examined.kind === 'orders' ? examined : {};
  const known =
    proposed === null
      ? `known by ${proof.length === 1 ? 'a column' : `${proof.length} columns`} of its own`
      : 'proposed: check layouts/';
  const settings: readonly (readonly [key: string, value: string | null, comment?: string])[] = [
    ['uri', uriOf(source, folder)],
    ['layout', layoutNameOf(source), known],
    [
      'order_platform',
      answer.platform,
      'part of what keeps an order from being posted twice: never change it',
    ],
    ['time_zone', answer.timeZone, 'of times without a zone'],
    ['currency', answer.currency, 'of amounts without a currency'],
    ['date_order', answer.dateOrder ?? (typeof dateOrder === 'object' ? dateOrder.order : null)],
    [
      'decimal_mark',
      answer.decimalMark ?? (decimalMark === 'open' ? null : decimalMark),
      'no amount shows it',
    ],
    ['consent', answer.consent, 'no column says who agreed: customers who did not refuse are submitted'],
    ['encoding', encoding],
  ];
  const missing =
    examined.kind === 'orders' && answer.missingColumns !== null ? [...examined.missing.keys()] : [];
  return [
    `  ${name}:`,
    settings.map(
      ([key, value, comment]) =>
        value !== null && `    ${key}: ${scalar(value)}${comment === undefined ? '' : ` # ${comment}`}`,
    ),
    missing.length > 0 && [
      '    missing_columns:',
      missing.map((name) => `      ${quote(name)}: ${quote(answer.missingColumns ?? '')}`),
    ],
  ];
}

/** Writes a scalar: plain if YAML reads it as text, else quoted. */
function scalar(text: string): string {
  return /^[A-Za-z./][\w./:*-]*$/.test(text) && !/^(?:true|false|null|yes|no|on|off)$/i.test(text)
    ? text
    : quote(text);
}

function uriOf({ place, path }: RecognisedSource, folder: string): string {
  if (/^s3:/i.test(place))
    return `${/[*?[{]/.test(place) ? place : place.slice(0, place.lastIndexOf('/') + 1)}${path}`;
  // `place` is a single file or a folder.
  const isFile = path === '' && /\.[a-z0-9]+$/i.test(place);
  const below = relative(folder, place).replaceAll('\\', '/');
  const start = below === '' ? '.' : /^\.\.?(?:\/|$)/.test(below) ? below : `./${below}`;
  return isFile ? start : `${start}/${path}`;
}

/**
 * One job of each kind that has a source to read, and of each kind that reads no source. Sources of which every order
 * counts have a job of their own, so that `include: any` is not about the others; so have those whose renewals do not
 * count, and those of another brand.
 */
function jobLines(
  sources: readonly RecognisedSource[],
  answers: Answers,
  dealflows: readonly Dealflow[],
): Lines {
  const brandOf = brandsOf(answers);
  return jobKinds.map(({ kind, starter }) => {
    if (starter === undefined) return null;
    const { reads, comment, settings = [] } = starter;
    const names = sources.filter(({ examined }) => examined.kind === reads).map(({ name }) => name);
    const isAny = (name: string): boolean => answers.sources.get(name)?.status === 'any';
    const renewalsOf = (name: string): string | null => answers.sources.get(name)?.renewals ?? null;
    const isFirstOnly = (name: string): boolean => renewalsOf(name) === 'exclude';
    const brands = [...new Set(names.map(brandOf))].sort(
      (one, other) => Number(other === answers.brandId) - Number(one === answers.brandId),
    );
    const rulesOf = (name: string): string => [isAny(name), isFirstOnly(name)].map(Number).join('');
    const groups = brands.flatMap((brand) => {
      const alike = Map.groupBy(
        names.filter((name) => brandOf(name) === brand),
        rulesOf,
      );
      return [...alike].sort(([one], [other]) => one.localeCompare(other)).map(([, group]) => group);
    });
    if (reads === null) groups.push([]);
    const nameOf = (group: readonly string[], at: number): string =>
      [
        kind,
        ...(at === 0 || brandOf(group[0]) === brands[0] ? [] : [brandOf(group[0])]),
        ...(at > 0 && group.some(isAny) ? ['any-status'] : []),
        ...(at > 0 && group.some(isFirstOnly) ? ['first-orders'] : []),
      ].join('-');
    return groups.map((group, at) => [
      `  ${nameOf(group, at)}:${comment === undefined ? '' : ` # ${comment}`}`,
      `    kind: ${kind}`,
      reads !== null && [
        `    source: ${group.length === 1 ? group[0] : `[${group.join(', ')}]`}`,
        `    brand_id: ${brandOf(group[0])}`,
      ],
      group.some(isAny) && '    include: any # the export does not say which orders were paid: all count',
      group.some(isFirstOnly)
        ? '    renewals: exclude # of a subscription, only the first order counts'
        : group.some((name) => renewalsOf(name) !== null) &&
          '    renewals: credit # each renewal of a subscription counts, too',
      settings.map((line) => `    ${line}`),
      reads === 'creators' && dealflowLines(dealflows, brandOf(group[0])),
    ]);
  });
}

/** The dealflows of a brand, for a person to choose where deals are created. */
function dealflowLines(dealflows: readonly Dealflow[], brandId: string): readonly string[] {
  return dealflows
    .filter((one) => one.brandId === null || one.brandId === brandId)
    .map(
      ({ id, name }) =>
        `    # dealflow_id: ${scalar(id)}${name === null ? '' : ` # ${toPrintableLine(name)}`}`,
    );
}

function environmentText(sources: readonly RecognisedSource[]): string {
  return joinLines(
    '# Copy to .env and name it:  npx influencer-sync run attribute-orders --env-file .env',
    '# The tool reads .env only if you name it, because a live run must be deliberate.',
    '',
    '# The service. Empty: `run` stops and says how to start the sandbox.',
    'INFLUENCER_API_URL=',
    'INFLUENCER_API_KEY=',
    '',
    '# postgres://user:password@host:5432/name. Empty: an embedded database in .data/ next to pipeline.yaml.',
    'DATABASE_URL=',
    sources.some(isOfCustomers) && [
      '',
      "# Key for the hashes of customers' addresses: create it once with `openssl rand -hex 32`, and keep it for as long as you keep the database.",
      'CUSTOMER_HASH_KEY=',
    ],
    sources.some(({ place }) => /^s3:/i.test(place)) && [
      '',
      '# S3: the standard credential chain of the AWS SDK (profiles, SSO and roles work too).',
      '#AWS_REGION=eu-west-1',
      '#AWS_PROFILE=',
      '#AWS_ENDPOINT_URL_S3=',
    ],
    '',
  );
}

/** What happens to a file. `differs`: it exists with other content and is not overwritten. */
export type FileFate =
  | { readonly path: string; readonly state: 'new' | 'same' }
  | { readonly path: string; readonly state: 'differs'; readonly diff: string };

/** Compares the files to write with existing ones, without writing anything. */
export function compareFiles(folder: string, files: readonly ComposedFile[]): readonly FileFate[] {
  return files.map(({ path, text }): FileFate => {
    const there = join(folder, path);
    if (!existsSync(there)) return { path, state: 'new' };
    const before = readFileSync(there, 'utf8');
    if (before === text) return { path, state: 'same' };
    return { path, state: 'differs', diff: createTwoFilesPatch(path, `${path} (proposed)`, before, text) };
  });
}

/**
 * Writes the files that do not exist. If one was created in the meantime, the write fails instead of
 * overwriting it (flag `wx`).
 *
 * @throws KnownError `file_not_written` (exit 2).
 */
export function writeNewFiles(
  folder: string,
  files: readonly ComposedFile[],
  fates: readonly FileFate[],
): void {
  const isNew = new Set(fates.filter(({ state }) => state === 'new').map(({ path }) => path));
  for (const { path, text } of files) {
    if (!isNew.has(path)) continue;
    try {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text, { flag: 'wx' });
    } catch (cause) {
      throw refusal({
        code: 'file_not_written',
        message: `${path} could not be written (${errorCode(cause) ?? 'unknown'}).`,
        where: folder,
        help: 'Give --out a folder that this user may write to and that has space, or a name that does not exist yet.',
        safe: 'No file was overwritten. The files listed before it were written.',
        cause,
      });
    }
  }
}
