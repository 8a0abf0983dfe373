import { basename, dirname, join, resolve } from 'node:path';
import { proposedJob } from '../../../jobs/attribute-orders/previewed-job.ts';
import { STARTER_REVENUE } from '../../../jobs/attribute-orders/settings.ts';
import { jobKinds } from '../../../jobs/index.ts';
import { waysToSet } from '../../config/environment/read-variable.ts';
import { UNOWNED_CODES } from '../../config/job-fields.ts';
import { layoutFolders } from '../../config/layout-folders.ts';
import { shortPath } from '../../config/locate.ts';
import { sourceAt } from '../../config/source-fields.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { BELOW_ZERO } from '../../core/held/held-order.ts';
import { refusal } from '../../core/known-error.ts';
import { sumOrders } from '../../core/order.ts';
import { foldCode, foldHandle } from '../../core/text/fold.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { plural } from '../../core/text/plural.ts';
import { toPrintableLine } from '../../core/text/printable.ts';
import { loadLayouts } from '../../intake/layout/load-layout.ts';
import { foldWord } from '../../intake/values/clean-text.ts';
import { searchBrands, searchDealflows } from '../../service/account.ts';
import { ApiError } from '../../service/api-error.ts';
import type { Client } from '../../service/client.ts';
import { openSourceClients } from '../../store/source-clients.ts';
import { findConfig } from '../open/find-config.ts';
import { openClient, readServiceVariables } from '../open/open-service.ts';
import { readEnvFile } from '../open/read-env-file.ts';
import { configOption } from '../terminal/complete-commands.ts';
import type { Output } from '../terminal/output.ts';
import { usageError } from '../usage-error.ts';
import {
  type Answers,
  type Asking,
  answerOf,
  askAboutFiles,
  askAnswers,
  askOwners,
  askToWrite,
  assumedOf,
  type BrandChoice,
  isUnclear,
  questionsFor,
  type Refused,
  type SaidOfFiles,
  statedOf,
  takeAnswers,
} from './answers.ts';
import {
  compareFiles,
  composeFiles,
  type Dealflow,
  type FileFate,
  layoutNameOf,
  writeNewFiles,
} from './compose-files.ts';
import { renderFates, renderRefused, renderSource } from './describe-sources.ts';
import {
  type CodeOwner,
  type FoundOwners,
  findOwners,
  findUnknownHandles,
  type ProposedOwner,
} from './find-owners.ts';
import type { InitOptions } from './init-options.ts';
import { readKeptAnswers, readKeptCodes, withKept } from './kept-answers.ts';
import { openAnswers, refuseFaults, supposeAnswers } from './open-answers.ts';
import type { CodeFound, OrdersPreview } from './recognise/preview-orders.ts';
import { type Recognised, type RecognisedSource, recognise } from './recognise/recognise.ts';

/**
 * Recognises exports, shows what they are, asks what they cannot tell, and writes a configuration. It only
 * reads from the service.
 */
export async function performInit(
  output: Output,
  places: readonly string[],
  typed: InitOptions,
  asking: Asking = { input: process.stdin, output: process.stderr },
): Promise<ExitCode> {
  if (places.length === 0)
    throw usageError(
      'Name the folder, or the S3 address, where your exports are.',
      'For example:  npx influencer-sync init ./exports',
    );
  const given = { ...typed, out: folderOf(typed) };
  if (given.envFile !== undefined) for (const one of readEnvFile(given.envFile)) given.onMisled?.(one);
  const folder = resolve(given.out);
  const kept = readKeptAnswers(folder);
  let options = withKept(given, kept, null);
  const canAsk = !output.json && asking.input.isTTY === true && asking.output.isTTY === true;
  const reading = { output, places, folder, shown: new Set<string>(), terminal: canAsk ? asking : null };
  const understood = await understandFiles(reading, options);
  if (understood === null) return interrupted(output);
  const { said, unclear } = understood;
  let { found } = understood;
  if (found.sources.length + unclear.length === 0)
    throw refusal({
      code: 'nothing_recognised',
      message: 'No file here is an export that the tool can read.',
      where: places.join(', '),
      help: 'Each file is listed above with the reason, and the option that may help. Else export it as CSV, or write your own layout: docs/layouts.md.',
      safe: 'Nothing was written.',
    });
  options = withKept(given, kept, new Set(found.sources.map(({ name }) => name)));

  const client = await openServiceIfGiven();
  const brands = client === null ? [] : await listBrands(client, output);
  const wholly = { places, options, said, found, unclear, brands, codes: codesOf(found.sources) };
  if (canAsk) refuseFaults(wholly);
  const questions = questionsFor(found.sources, options, brands);
  const isConfirmed = options.yes === true || options.dryRun === true;
  const open = canAsk ? null : openAnswers(wholly, { questions, brands });
  if (open !== null) throw open;
  const isAnswered = questions.every(
    (question) => question.isOptional === true || answerOf(question) !== null,
  );
  const answers =
    canAsk && !(isConfirmed && isAnswered)
      ? await askAnswers(questions, { brands, terminal: asking })
      : takeAnswers(questions);
  if (answers === null) return interrupted(output);
  found = await readAnswered(reading, options, { found, said, answers });

  const keptCodes = readKeptCodes(folder);
  const owned = new Set(keptCodes?.codes.map(foldCode));
  const codes = codesOf(found.sources).filter(({ code }) => !owned.has(foldCode(code)));
  const decided = await decideOwners(reading, options, { client, codes, isConfirmed });
  if (decided === null) return interrupted(output);
  const { looked, owners, proposals } = decided;
  const files = composeFiles({
    sources: found.sources,
    answers,
    owners,
    proposals,
    dealflows:
      client === null || !found.sources.some(isOfCreators) ? [] : await listDealflows(client, output),
    codes,
    folder,
    keptCodes,
  });
  const fates = compareFiles(folder, files);
  for (const owner of owners.filter((one) => looked.owners.includes(one))) output.print(describeOwner(owner));
  output.print(renderFates(fates, options.out, output.terminal));
  const without = whyNothingCounts(found);
  if (without !== null) output.print(`\n${output.terminal.style('yellow', '!')} ${without}`);
  const exitCode = without !== null || hasHeld(found) ? EXIT.rowsRejected : EXIT.ok;
  if (options.dryRun === true) {
    output.print(
      client === null
        ? '\nNothing was written.'
        : '\nNothing was written. The service was asked for brands, dealflows and the deals of codes; nothing was changed there.',
    );
    return exitCode;
  }
  const count = fates.filter(({ state }) => state === 'new').length;
  if (count > 0 && canAsk && !isConfirmed && !(await askToWrite(count, asking))) return interrupted(output);
  writeNewFiles(folder, files, fates);
  finish(output, {
    fates,
    found,
    owners,
    proposals,
    codes,
    options,
    without,
    looked: client === null ? null : looked,
  });
  return exitCode;
}

/** How the files are read, and to whom the result is shown. */
type Reading = {
  readonly output: Output;
  readonly places: readonly string[];
  /** The folder that is written to. */
  readonly folder: string;
  /** What was shown so far, and need not be shown again. */
  readonly shown: Set<string>;
  /** Where a person can answer; null if none can. */
  readonly terminal: Asking | null;
};

type Understood = {
  readonly found: Recognised;
  readonly said: SaidOfFiles;
  /** Files about which only a person can say more, if none can be asked. */
  readonly unclear: readonly Refused[];
};

/**
 * Reads the files, and asks about them until they are clear. If no person can be asked, it supposes answers, to find
 * all open questions at once.
 *
 * @returns null if the person cancelled.
 */
async function understandFiles(reading: Reading, options: InitOptions): Promise<Understood | null> {
  const { output, shown, terminal } = reading;
  let said: SaidOfFiles = {
    stated: options.column ?? new Map(),
    encoding: options.encoding ?? null,
    states: new Map((options.paid ?? []).map((word) => [foldWord(word), true])),
  };
  let found = await recogniseAll(reading, { options, said });
  show(output, found, shown);
  const unclear: Refused[] = [];
  for (;;) {
    const open = found.refused.filter(isUnclear);
    const assumed = terminal !== null && options.yes !== true ? assumedOf(found, said) : [];
    if (terminal === null) unclear.push(...open);
    if (open.length + assumed.length === 0) return { found, said, unclear };
    const more =
      terminal === null
        ? supposeAnswers(open, said)
        : await askAboutFiles([...open, ...assumed], { said, terminal });
    if (more === null) return terminal === null ? { found, said, unclear } : null;
    said = more;
    found = await recogniseAll(reading, { options, said });
    if (terminal !== null) show(output, found, shown);
  }
}

/** Reads the files again if answers let files or orders count that were held before, to find their codes. */
async function readAnswered(
  reading: Reading,
  options: InitOptions,
  { found, said, answers }: Pick<Understood, 'found' | 'said'> & { readonly answers: Answers },
): Promise<Recognised> {
  const decided = (['missingColumns', 'status', 'renewals'] as const).flatMap((key) => {
    const answered = [...answers.sources].flatMap(([name, { [key]: value }]) =>
      value === null || statedOf(options, name)[key] !== null ? [] : [[name, value] as const],
    );
    return answered.length === 0 ? [] : [[key, new Map([...(options[key] ?? []), ...answered])] as const];
  });
  if (decided.length === 0) return found;
  const again = await recogniseAll(reading, {
    options: { ...options, ...Object.fromEntries(decided) },
    said,
  });
  show(reading.output, again, reading.shown);
  return again;
}

/**
 * Decides who owns each code: as a person has stated or confirms, else as one deal of the account says.
 *
 * @returns null if the person cancelled.
 */
async function decideOwners(
  { output, terminal }: Reading,
  options: InitOptions,
  {
    client,
    codes,
    isConfirmed,
  }: { readonly client: Client | null; readonly codes: readonly CodeFound[]; readonly isConfirmed: boolean },
): Promise<{
  readonly looked: FoundOwners;
  readonly owners: readonly CodeOwner[];
  readonly proposals: readonly ProposedOwner[];
} | null> {
  const looked = client === null ? NOT_LOOKED_UP : await findOwners(client, codes);
  if (client !== null) await warnOfHandles(client, options, output);
  const stated = statedOwners(options, codes, looked.proposals);
  const unowned = looked.proposals.filter(({ code }) => !stated.some((owner) => owner.code === code));
  const confirmed = terminal === null || isConfirmed ? [] : await askOwners(unowned, terminal);
  if (confirmed === null) return null;
  const known = [...stated, ...confirmed];
  const owners = [
    ...known,
    ...looked.owners.filter(({ code }) => known.every((owner) => owner.code !== code)),
  ];
  const proposals = unowned.filter(({ code }) => confirmed.every((owner) => owner.code !== code));
  return { looked, owners, proposals };
}

/** Says by which deal of the account a code has its owner. */
function describeOwner({ code, handle, dealId }: CodeOwner): string {
  return `${toPrintableLine(maskAddresses(code))} is a code of deal ${toPrintableLine(dealId)}${handle === null ? '' : `, of ${toPrintableLine(handle)}`}.`;
}

/** Ends after Ctrl-C, or a no. */
function interrupted(output: Output): ExitCode {
  output.warn('Nothing was written.');
  return EXIT.interrupted;
}

/**
 * The folder that is written to. `--config my-shop/pipeline.yaml` names it, too, as for the commands that read the file.
 *
 * @throws KnownError `usage` (exit 2) if `init` would write another file than the named one.
 */
function folderOf({ config, out }: InitOptions): string {
  if (config === undefined) return out;
  const isNamed = basename(config) === 'pipeline.yaml';
  if (isNamed && (out === '.' || resolve(out) === resolve(dirname(config)))) return dirname(config);
  throw usageError(
    isNamed
      ? '--config and --out name different folders.'
      : `init writes a file called pipeline.yaml, and not ${basename(config)}.`,
    'Name only the folder that it is written to:  --out FOLDER',
  );
}

const NOT_LOOKED_UP: FoundOwners = { owners: [], proposals: [], left: 0, fault: null };

/** The owners that a person has stated, with the deal if it was proposed. */
function statedOwners(
  { owner = new Map() }: InitOptions,
  codes: readonly CodeFound[],
  proposals: readonly ProposedOwner[],
): readonly CodeOwner[] {
  return [...owner].map(([folded, handle]) => {
    const code = codes.find((one) => foldCode(one.code) === folded)?.code ?? folded;
    const proposed = proposals.find(
      (one) => one.code === code && foldHandle(one.handle ?? '') === foldHandle(handle),
    );
    return proposed ?? { code, handle, dealId: '', brandId: null };
  });
}

/** Names the handles of `--owner` that no deal has: a run would credit no order to them. */
async function warnOfHandles(
  client: Client,
  { owner = new Map() }: InitOptions,
  output: Output,
): Promise<void> {
  for (const [handle, alike] of await findUnknownHandles(client, [...new Set(owner.values())])) {
    const named = alike.map(toPrintableLine).join(' or ');
    output.warn(
      `No deal has the handle ${JSON.stringify(toPrintableLine(handle))}, which --owner names.${named === '' ? '' : ` Did you mean ${named}?`}`,
    );
  }
}

function isOfCreators({ examined }: RecognisedSource): boolean {
  return examined.kind === 'creators';
}

/**
 * Shows what was recognised, and what is not read.
 *
 * @param shown what was shown before. After an answer, only what has changed is shown.
 */
function show(output: Output, found: Recognised, shown: Set<string>): void {
  const isNew = (text: string): boolean => !shown.has(text) && shown.add(text) !== undefined;
  for (const source of found.sources) {
    const first = found.sources.find(({ proposed }) => proposed !== null && proposed === source.proposed);
    const shownAt = first === undefined || first === source ? null : first.name;
    const text = renderSource(source, output.terminal, shownAt);
    if (!isNew(text)) continue;
    output.emit(sourceEvent(source));
    output.print(text);
  }
  const refused = found.refused.filter(({ name, why }) => isNew(`${name}: ${why}`));
  for (const { name, code, why, unclear = [], possible = [] } of refused)
    output.emit({ event: 'file_refused', name, code, why, unclear, possible });
  const skipped = isNew(`${found.skipped} skipped`) ? found.skipped : 0;
  output.print(renderRefused({ ...found, refused, skipped }, output.terminal));
}

/** Why exports that have sales, or people who may have refused, are not read. */
const THAT_MATTER =
  'not_orders item_rows rows_unreadable header_mismatch ambiguous_header lines_in_quotes addresses_only';

/** Returns true if a run would hold files or orders or reject rows, or if files that matter were refused. */
function hasHeld({ sources, refused }: Recognised): boolean {
  return (
    refused.some(({ code }) => THAT_MATTER.split(' ').includes(code)) ||
    sources.some((source) => {
      const { examined } = source;
      if (examined.kind === 'customers') return examined.held.length + unusableRows(source) > 0;
      if (examined.kind !== 'orders') return false;
      const { held, heldOrders, excluded } = examined.preview;
      const below = excluded.filter(({ reason }) => reason === BELOW_ZERO);
      return (
        examined.problems.length + held.length + heldOrders.length + below.length + unusableRows(source) > 0
      );
    })
  );
}

/** Says why nothing at all would be credited or submitted by the configuration, and what to do. Null if something would be. */
function whyNothingCounts({ sources }: Recognised): string | null {
  const orders = sources.flatMap(({ examined }) => (examined.kind === 'orders' ? [examined.preview] : []));
  const customers = sources.flatMap(({ examined }) => (examined.kind === 'customers' ? [examined] : []));
  const counts =
    orders.some(({ credited }) => credited > 0) || customers.some(({ submitted }) => submitted > 0);
  if (counts || orders.length + customers.length < sources.length || sources.length === 0) return null;
  const sum = (countOf: (preview: OrdersPreview) => number): number =>
    orders.reduce((all, preview) => all + countOf(preview), 0);
  const reasons = [
    [sum(({ ordersInHeldFiles }) => ordersInHeldFiles), 'in files that would be held'],
    [sum(({ heldOrders }) => sumOrders(heldOrders)), 'held'],
    [sum(({ excluded }) => sumOrders(excluded)), 'never posted'],
    [sum(({ organic }) => organic), 'without a code, link or influencer'],
  ] as const;
  const listed = reasons.flatMap(([count, why]) => (count === 0 ? [] : [`${plural(count, 'order')} ${why}`]));
  const ofOrders = orders.length > 0 && listed.length === 0 ? ['no order could be read'] : listed;
  const all = [...ofOrders, ...(customers.length === 0 ? [] : ['no customer to be submitted'])];
  const what =
    orders.length === 0 ? 'No customer would be submitted' : `Nothing would be credited: ${all.join(', ')}`;
  return `${what}. The reasons are above. Correct the export or the answers; if the configuration is written already, correct it there, or move it and layouts/ away and run the command again.`;
}

/** Number of rows that a run would reject. */
function unusableRows({ examined }: RecognisedSource): number {
  if (examined.kind === 'customers') return examined.rejected;
  return examined.kind === 'orders' ? examined.preview.rejected.reduce((sum, { rows }) => sum + rows, 0) : 0;
}

async function recogniseAll(
  { output, places, folder, shown }: Reading,
  { options, said }: { readonly options: InitOptions; readonly said: SaidOfFiles },
): Promise<Recognised> {
  const layouts = loadLayouts(layoutFolders(join(folder, 'pipeline.yaml')));
  const clients = openSourceClients();
  const progress = output.createProgress();
  let { sources, refused, skipped }: Recognised = { sources: [], refused: [], skipped: 0 };
  try {
    for (const place of places) {
      // A place that is looked into again is not named again.
      const note = `Looking into ${place}.`;
      if (!shown.has(note)) progress.note(note);
      shown.add(note);
      const taken = new Set(sources.map(({ name }) => name));
      const found = await recognise({
        source: sourceAt(place),
        clients,
        layouts,
        taken,
        settingsOf: (name) => {
          const { brand, status, renewals, missingColumns, ...stated } = statedOf(options, name);
          const job = proposedJob({ brandId: brand, include: status, revenue: STARTER_REVENUE, renewals });
          return { stated, missingReason: missingColumns, job };
        },
        stated: said.stated,
        accepted: options.saveLayout,
        consentWords: new Set(options.consentYes?.map(foldWord)),
        paidWords: new Set([...said.states].flatMap(([word, isPaid]) => (isPaid ? [word] : []))),
        assumedEncoding: said.encoding,
      });
      sources = [...sources, ...found.sources];
      refused = [...refused, ...found.refused];
      skipped += found.skipped;
    }
  } finally {
    clients.close();
  }
  return { sources, refused, skipped };
}

/**
 * A client of the service if the environment contains its address and a key; otherwise null, and the service
 * is not used.
 */
async function openServiceIfGiven(): Promise<Client | null> {
  const { url, key } = await readServiceVariables();
  return url === '' || key === '' ? null : openClient({ url, key, timeoutSeconds: 15 });
}

/** Lists what the account has; nothing if the service does not say. @param help what a person can do instead. */
async function listIfTold<Item extends { readonly id: string }>(
  search: () => Promise<readonly Item[]>,
  { output, what, help = '' }: { output: Output; what: string; help?: string },
): Promise<readonly Item[]> {
  try {
    return (await search()).filter(({ id }) => id !== '');
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    output.warn(`The service did not list its ${what} (${error.message}).${help}`);
    return [];
  }
}

async function listBrands(client: Client, output: Output): Promise<readonly BrandChoice[]> {
  const help = ' Name the brand by its id.';
  return listIfTold(() => searchBrands(client), { output, what: 'brands', help });
}

async function listDealflows(client: Client, output: Output): Promise<readonly Dealflow[]> {
  const listed = await listIfTold(() => searchDealflows(client), { output, what: 'dealflows' });
  return listed.map(({ id, name, raw }) => ({ id, name, brandId: String(raw.brand_id ?? '') || null }));
}

/** The codes of all sources without duplicates; the codes of each source are ordered by revenue. */
function codesOf(sources: readonly RecognisedSource[]): readonly CodeFound[] {
  const first = new Map<string, CodeFound>();
  for (const { examined } of sources)
    for (const found of examined.kind === 'orders' ? examined.preview.codes : [])
      if (!first.has(foldCode(found.code))) first.set(foldCode(found.code), found);
  return [...first.values()];
}

type Finish = {
  readonly fates: readonly FileFate[];
  readonly found: Recognised;
  readonly owners: readonly CodeOwner[];
  readonly proposals: readonly ProposedOwner[];
  readonly codes: readonly CodeFound[];
  /** Null: no service was asked. */
  readonly looked: FoundOwners | null;
  readonly options: InitOptions;
  /** Why nothing would be credited or submitted; null if something would be. */
  readonly without: string | null;
};

const PROPOSALS_SHOWN = 10;

/** Prints what is left to do, and the next command. */
function finish(output: Output, finished: Finish): void {
  const { fates, found, owners, proposals, codes, looked, options, without } = finished;
  const hasOrders = found.sources.some(({ examined }) => examined.kind === 'orders');
  const written = join(resolve(options.out), 'pipeline.yaml');
  const isFound = findConfig(undefined).path === written;
  const { envFile } = options;
  const option = configOption({
    ...(isFound ? {} : { config: shortPath(written) }),
    ...(envFile === undefined ? {} : { envFile }),
  });
  const first = hasOrders ? 'orders' : found.sources[0]?.examined.kind;
  const job = jobKinds.find(({ starter }) => starter?.reads === first)?.kind;
  // Codes are filled in by people.
  const kept = fates.flatMap(({ path, state }) =>
    state === 'differs' && path.endsWith('.yaml') ? [path] : [],
  );
  const next =
    job !== undefined && kept.length === 0 && without === null
      ? `npx influencer-sync plan ${job}${option}`
      : `npx influencer-sync doctor${option}`;
  const unowned = codes.length - owners.length;
  const unusable = found.sources.filter((source) => unusableRows(source) > 0);
  // Of a held file, nothing is kept: the reason above names its commonest fault.
  const isHeld = ({ examined }: RecognisedSource): boolean =>
    examined.kind === 'orders' && examined.preview.held.length > 0;
  const todo = [
    kept.length > 0 &&
      `${kept.join(', ')} ${kept.length === 1 ? 'is' : 'are'} as before, so what is shown above does not count yet. Take over the lines that begin with + and -, or move the file away and run the command again.`,
    ...unusable.map(
      (source) =>
        `${plural(unusableRows(source), 'row')} of ${source.name} cannot be used${source.examined.kind === 'orders' ? ', and codes that no other row has are not listed' : ''}. Correct the export.${isHeld(source) ? '' : ` After a run, this shows each row:  npx influencer-sync rejected${option}`}`,
    ),
    unowned > 0 &&
      hasOrders &&
      `${unowned === 1 ? '1 code has' : `${unowned} codes have`} no known owner: fill in influencer_handle in ${UNOWNED_CODES} and move the rows into codes.csv.`,
    // Not by `--owner`: a later run keeps the files that are written by now.
    ...proposals
      .slice(0, PROPOSALS_SHOWN)
      .map(
        ({ code, handle, dealId, evidence }) =>
          `${toPrintableLine(maskAddresses(code))} may belong to ${toPrintableLine(handle ?? dealId)}: ${toPrintableLine(evidence)}. If so, write that into ${handle === null ? 'deal_id' : 'influencer_handle'} of its row in ${UNOWNED_CODES}, and move the row into codes.csv, without the last two columns.`,
      ),
    found.sources.some(({ examined }) => examined.kind === 'customers') &&
      !waysToSet('CUSTOMER_HASH_KEY').some((name) => (process.env[name] ?? '') !== '') &&
      'Customers are stored under a key of yours: create it once (openssl rand -hex 32), set CUSTOMER_HASH_KEY to it before the first run, and keep it as long as the database.',
    looked !== null &&
      looked.left > 0 &&
      `${plural(looked.left, 'code was', 'codes were')} not looked up${looked.fault === null ? ', because there are too many' : `: ${toPrintableLine(looked.fault)}`}.`,
    looked === null &&
      hasOrders &&
      'The owners of codes were not looked up: set INFLUENCER_API_URL and INFLUENCER_API_KEY, or start the sandbox:  npx influencer-sync sandbox --port 4010',
  ].filter((line) => line !== false);
  for (const { path, state } of fates) output.emit({ event: 'file', path, state });
  output.emit({ event: 'init_finished', codes: codes.length, owners: owners.length, todo, next });
  output.print([...todo, `Next:  ${next}`].map((line) => `\n${line}`).join(''));
}

function sourceEvent(source: RecognisedSource): object {
  const { name, path, files, proposed, proof, encoding, examined } = source;
  const { kind } = examined;
  return {
    event: 'source',
    name,
    layout: layoutNameOf(source),
    path,
    files: files.length,
    proposed: proposed !== null,
    proof,
    encoding,
    kind,
    ...(proposed !== null && {
      columns: proposed.columns,
      unknownStates: [...new Set([...proposed.unknownStates.values()].flat())],
    }),
    ...(kind === 'orders' && {
      preview: { ...examined.preview, codes: examined.preview.codes.slice(0, 100) },
      changes: examined.changes,
      problems: examined.problems,
    }),
    ...(kind === 'customers' && {
      rows: examined.rows,
      submitted: examined.submitted,
      passedOver: examined.passedOver,
      rejected: examined.rejected,
      consent: examined.consent,
    }),
  };
}
