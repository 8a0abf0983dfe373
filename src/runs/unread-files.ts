import { dirname, join, matchesGlob } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type JobSettings, UNOWNED_CODES } from '../config/job-fields.ts';
import { layoutFolders } from '../config/layout-folders.ts';
import type { PipelineConfig } from '../config/schema.ts';
import type { SourceSettings } from '../config/source-fields.ts';
import { EXIT } from '../core/exit-code.ts';
import type { Finding } from '../core/finding.ts';
import { FileHeld } from '../core/held/file-held.ts';
import { KnownError } from '../core/known-error.ts';
import type { CsvChunk } from '../core/record.ts';
import { fileName } from '../core/text/file-name.ts';
import { maskAddresses } from '../core/text/mask-addresses.ts';
import { WILDCARD } from '../core/time/dated-names.ts';
import { type Database, rowsOf } from '../db/statement.ts';
import { smellOf } from '../intake/customers/map/consent-words.ts';
import { headerWords, isOfAddresses, means } from '../intake/layout/column-words.ts';
import { loadLayout, loadOtherLayouts } from '../intake/layout/load-layout.ts';
import type { Layout } from '../intake/layout/to-layout.ts';
import { openRecords } from '../intake/read/open-records.ts';
import { createSkipRule, SOME_BYTES } from '../store/exclude.ts';
import { coversFile, listFiles } from '../store/list-files.ts';
import { nameInSource, parseSourceUri, pathOfFileUri } from '../store/parse-source-uri.ts';
import type { SourceClients } from '../store/source-clients.ts';
import type { Heeded, NewestFile, RunnableKind } from './runnable-kind.ts';
import { unlessAbandoned } from './watch-run.ts';

/*
 * Exports whose names no pattern matches. A shop that names its files otherwise from one month to the next is read no
 * more, and a run that reads nothing new looks like one without new orders. And tables that say more about what a source
 * states: who unsubscribed, or which orders were refunded.
 */

/** A table beside the files of a source that no source of the configuration reads. */
export type UnreadFile = {
  readonly uri: string;
  readonly source: string;
  /**
   * Whether a run of the job would read it if the pattern of the source matched its name. Null: it was not opened, or
   * could not be.
   */
  readonly isExport: boolean | null;
  /** What it may say that the job must know (`RunnableKind.heeds`). Null: nothing. */
  readonly maySay: Heeded | null;
};

/** True if a file needs no decision: it was looked into, and is none of those that matter. */
export function isHarmless({ isExport, maySay }: UnreadFile): boolean {
  return isExport === false && maySay === null;
}

export type UnreadOptions<Settings extends JobSettings> = {
  readonly config: PipelineConfig;
  readonly kind: Pick<RunnableKind<Settings>, 'checkFile' | 'heeds'>;
  readonly sourceClients: SourceClients;
  /** Tells which ids are those of orders. Null: only the names of columns do. */
  readonly db: Database | null;
  /** Ends the requests to stores. */
  readonly signal?: AbortSignal;
};

/** Names of tables, perhaps compressed, and of what tables are sent in. */
const TABLE = /\.(?:csv|tsv|tab|txt|xlsx?|ods|zip)(?:\.[a-z0-9]{2,4})?$/i;
const PACKED = /\.(?:xlsx?|ods|zip)$/i;
/** A folder that begins with a year holds exports of that year, so files in it are beside those of the source. */
const OF_YEAR = /^(?:19|20)\d\d[^/]*\/[^/]+$/;
/** A pattern that no name matches, so that a listing names every file and opens none. */
const NO_NAME = '[\u0001]';
/** Names in a bucket after which no more are requested. */
const MAX_NAMES = 5_000;
/** Files of a source whose headers are read, the most similar names first; of the others, it is not known what they are. */
const MAX_OPENED = 20;
/** Rows of a table that are looked through, at least, and different ids of a column that are looked up. */
const MAX_ROWS = 1_000;
const MAX_IDS = 500;
/** Shorter ids are also numbers of pieces. */
const MIN_ID_CHARS = 4;
/** Names of columns that any table may have. Their cells show whether they are ids of orders. */
const OF_ANY_TABLE = /^(?:id|uid|no|name|key|code|ref|reference)$/;

/**
 * Finds the tables beside the files of a job's sources that no source reads. Those that an `exclude` or a setting names
 * are known. A place that cannot be listed has none: the run itself reports it.
 *
 * @throws KnownError if a place does not answer (exit 1) beside which people may be named who must not be submitted.
 */
export async function findUnreadFiles<Settings extends JobSettings>(
  job: Settings,
  options: UnreadOptions<Settings>,
): Promise<readonly UnreadFile[]> {
  const found = new Map<string, UnreadFile>();
  for (const name of sourcesOf(job, options.config))
    for (const file of await findBeside(job, name, options)) keep(found, file);
  return [...found.values()];
}

/** The sources that a job depends on: those it reads or, if it reads none, those of the customers that it submits. */
export function sourcesOf(
  { sources, customersOf }: JobSettings,
  { jobs }: PipelineConfig,
): readonly string[] {
  if (sources.length > 0 || customersOf === undefined) return sources;
  return Object.values(jobs).flatMap((job) => (job.customersOf === customersOf ? job.sources : []));
}

/** The same for one source of the job. */
async function findBeside<Settings extends JobSettings>(
  job: Settings,
  name: string,
  options: UnreadOptions<Settings>,
): Promise<readonly UnreadFile[]> {
  const { config } = options;
  const source = config.sources[name];
  if (source === undefined) return [];
  const known = knownPaths(config);
  const unread: string[] = [];
  for (const uri of await listBeside(source, options))
    if (!known.has(uri) && !(await isCovered(uri, config))) unread.push(uri);
  const words = fixedWords(source.uri);
  const likeness = (uri: string) => words.filter((word) => fileName(uri).toLowerCase().includes(word)).length;
  unread.sort((one, other) => likeness(other) - likeness(one) || (one < other ? 1 : -1));
  const found: UnreadFile[] = [];
  for (const [at, uri] of unread.entries()) {
    const open = { ...options, job, source };
    const seen = at < MAX_OPENED && !PACKED.test(uri) ? await lookInto(uri, open) : notSeen(options.kind);
    found.push({ uri, source: name, ...seen });
  }
  return found;
}

/** Keeps each file once, as the first that it may be of any source. */
function keep(found: Map<string, UnreadFile>, file: UnreadFile): void {
  const known = found.get(file.uri);
  if (known === undefined || rankOf(file) < rankOf(known)) found.set(file.uri, file);
}

/** What keeps people from being submitted first, then exports, other tables that matter, and what was not looked into. */
function rankOf(file: UnreadFile): number {
  if (file.maySay === 'refusals') return 0;
  if (file.isExport !== null) return file.isExport ? 1 : isHarmless(file) ? 4 : 2;
  return 3;
}

/** The words in the name of a source's files that its pattern fixes, in lower case. */
function fixedWords(uri: string): readonly string[] {
  const [name = ''] = fileName(uri).toLowerCase().split('.');
  return name.match(/\p{L}{3,}/gu) ?? [];
}

/** A kind, as far as it checks files. */
type CheckingKind = Pick<RunnableKind, 'checkFile' | 'heeds'> & { readonly kind: string };

function kindOf({ kind }: JobSettings, kinds: readonly CheckingKind[]): UnreadOptions<JobSettings>['kind'] {
  return kinds.find((one) => one.kind === kind) ?? {};
}

/** The same for all jobs of a configuration. A file that a run of one of them would read is an export. */
export async function findAllUnreadFiles(
  kinds: readonly CheckingKind[],
  options: Omit<UnreadOptions<JobSettings>, 'kind'>,
): Promise<readonly UnreadFile[]> {
  const found = new Map<string, UnreadFile>();
  for (const job of Object.values(options.config.jobs)) {
    const kind = kindOf(job, kinds);
    for (const file of await findUnreadFiles(job, { ...options, kind })) keep(found, file);
  }
  return [...found.values()];
}

/** What a bounded look at all sources found. */
export type UnreadSurvey = {
  readonly files: readonly UnreadFile[];
  /** Sources whose place did not answer in time, so that it is not known what is beside their files. */
  readonly unanswered: readonly string[];
};

/** The same, all sources at a time, for somebody who waits: a place that does not answer within this time is named instead. */
export async function surveyUnreadFiles(
  kinds: readonly CheckingKind[],
  options: Omit<UnreadOptions<JobSettings>, 'kind' | 'signal'>,
  { withinMs }: { withinMs: number },
): Promise<UnreadSurvey> {
  const found = new Map<string, UnreadFile>();
  const unanswered = new Set<string>();
  const signal = AbortSignal.timeout(withinMs);
  const look = async (job: JobSettings, name: string): Promise<void> => {
    const work = findBeside(job, name, { ...options, kind: kindOf(job, kinds), signal });
    try {
      for (const file of await unlessAbandoned(work, signal)) keep(found, file);
    } catch (error) {
      if (!signal.aborted) throw error;
      unanswered.add(name);
    }
  };
  const jobs = Object.values(options.config.jobs);
  await Promise.all(jobs.flatMap((job) => sourcesOf(job, options.config).map((name) => look(job, name))));
  return { files: [...found.values()], unanswered: [...unanswered] };
}

/** Says of which sources it is not known what is beside their files. */
export function describeUnanswered(
  { unanswered }: UnreadSurvey,
  { sources }: PipelineConfig,
): readonly Finding[] {
  return unanswered.map((name) => ({
    status: 'warning',
    about: `source ${name}`,
    what: `${sources[name]?.uri ?? name} did not answer in time.`,
    why: 'So it is not known whether it has files that no source reads.',
    fix: 'npx influencer-sync doctor waits for it and says why.',
  }));
}

/** A source that would read a file if its pattern matched the name, and a uri that does. Null: none can be proposed. */
export type WouldRead = { readonly source: string; readonly uri: string | null };

/** Finds the sources that would read a file which no source covers, by its header. */
export async function findReaders(
  uri: string,
  kinds: readonly CheckingKind[],
  options: Omit<UnreadOptions<JobSettings>, 'kind'>,
): Promise<readonly WouldRead[]> {
  const { config } = options;
  const found = new Map<string, WouldRead>();
  for (const job of Object.values(config.jobs))
    for (const name of job.sources) {
      const source = config.sources[name];
      if (source === undefined || found.has(name)) continue;
      const kind = kindOf(job, kinds);
      if ((await lookInto(uri, { ...options, kind, job, source })).isExport === true)
        found.set(name, { source: name, uri: uriFor(source.uri, uri) });
    }
  return [...found.values()];
}

/**
 * Returns a local pattern that matches the names of a source and those like that of a file. Null if it must be written
 * by hand.
 */
function uriFor(pattern: string, uri: string): string | null {
  const path = pathOfFileUri(uri);
  const [folder, name] = [dirname(pattern), fileName(pattern)];
  if (WILDCARD.test(folder) || /[{}]/.test(pattern) || !path.startsWith(`${folder}/`)) return null;
  const like = fileName(uri).replace(/\d+(?:[-_.]\d+)*/g, '*');
  const names = matchesGlob(fileName(uri), name) ? name : `{${name},${like}}`;
  return join(folder, dirname(path) === folder ? names : `**/${names}`);
}

/** True if a file may say who must not be submitted: until a person decides about it, nothing is. */
export function mayRefuse({ maySay }: UnreadFile): boolean {
  return maySay === 'refusals';
}

/** Says which files no source reads and what to do, the most important first. Empty if there are none. */
export function describeUnreadFiles(files: readonly UnreadFile[]): readonly Finding[] {
  const groups = Map.groupBy(files, (file) => `${rankOf(file)} ${file.isExport} ${file.source}`);
  return [...groups].sort().flatMap(([, group]) => {
    const [first] = group;
    return first === undefined ? [] : [describeGroup(first, group)];
  });
}

/** Describes files of one source of which the same is known. */
function describeGroup({ source, isExport, maySay }: UnreadFile, group: readonly UnreadFile[]): Finding {
  const isOne = group.length === 1;
  const names = group.slice(0, MAX_NAMED).map(({ uri }) => maskAddresses(fileName(uri)));
  const listed = `${names.join(', ')}${group.length > names.length ? ', …' : ''}`;
  const [they, them] = isOne ? ['it', 'it'] : ['they', 'them'];
  const about = `source ${source}`;
  const exclude = `list ${them} under exclude of sources.${source}`;
  const isKnown =
    isExport === null
      ? `${isOne ? 'it was' : `these ${group.length} were`} not looked into`
      : `${they} ${isOne ? 'has' : 'have'} the columns of this source`;
  const held = `${isOne ? 'It' : 'They'} may say who must not be submitted, so nothing is submitted until you decide.`;
  const ofPeople = isExport === false ? `${they} may be about people` : isKnown;
  const limits = `Packed files and workbooks are not opened, nor more than ${MAX_OPENED} other tables, nor what is empty or cannot be read.`;
  if (maySay === 'refusals')
    return {
      status: 'warning',
      about,
      what: `No source reads ${listed}, ${isExport === true ? 'although' : 'and'} ${ofPeople}. ${held}`,
      why: isExport === null ? limits : 'What was submitted cannot be taken back.',
      fix: `If ${they} ${isOne ? 'says' : 'say'} who refused, add a source that reads ${them} (docs/customers.md). Otherwise ${exclude}.`,
    };
  if (isExport === null)
    return {
      status: 'warning',
      about,
      what: `No source reads ${listed}, and ${isKnown}.`,
      why: `${isOne ? 'It' : 'They'} may be exports that do not count. ${limits}`,
      fix: `If ${isOne ? 'it is' : 'they are'} no export, ${exclude}. Otherwise save ${them} as CSV under a name that its uri matches.`,
    };
  if (isExport)
    return {
      status: 'warning',
      about,
      what: `No source reads ${listed}, although ${isKnown}.`,
      why: `The pattern in its uri does not match ${isOne ? 'this name' : 'these names'}, so what ${they} ${isOne ? 'states' : 'state'} does not count.`,
      fix: `Write a pattern that matches ${them} as uri of sources.${source}, or ${exclude}.`,
    };
  if (maySay === 'orders')
    return {
      status: 'warning',
      about,
      what: `No source reads ${listed}, although ${they} may be about orders of this source.`,
      why: `If ${they} ${isOne ? 'lists' : 'list'} refunds or cancellations, these orders are credited for too much.`,
      fix: `npx influencer-sync init <file> shows what ${isOne ? 'it is' : 'they are'}. If ${they} ${isOne ? 'lowers' : 'lower'} orders, read exports that state it with the order. Otherwise ${exclude}.`,
    };
  return {
    status: 'warning',
    about,
    what: `No source reads ${listed}, in the same folder.`,
    fix: `If you need ${them}, add a source:  npx influencer-sync init <file> shows what ${isOne ? 'it is' : 'they are'}. Otherwise ${exclude}.`,
  };
}

const MAX_NAMED = 5;

/** Every path that the configuration names, and the file that `init` leaves for a person to fill in. */
function knownPaths(config: PipelineConfig): ReadonlySet<string> {
  const paths = new Set([join(dirname(config.path), UNOWNED_CODES)]);
  const collect = (value: unknown): void => {
    if (typeof value === 'string') paths.add(value);
    else if (typeof value === 'object' && value !== null)
      for (const one of Object.values(value)) collect(one);
  };
  collect(config);
  return new Set([...paths].filter((path) => path.startsWith('/')).map((path) => pathToFileURL(path).href));
}

/**
 * Lists the tables in the folder of a source's pattern, and those in its folders of years, that the source does not
 * exclude. Empty if it reads a whole folder.
 */
async function listBeside(
  source: SourceSettings,
  { sourceClients: clients, signal: ending, kind }: Omit<UnreadOptions<JobSettings>, 'config'>,
): Promise<readonly string[]> {
  const place = parseSourceUri(source.uri);
  // Such a source says that only the last days are listed: a look at all names would cost what it saves.
  if (source.lookbackDays !== null) return [];
  const pattern = place.kind === 's3' ? (place.glob ?? place.prefix) : place.path;
  const wildcard = pattern.search(WILDCARD);
  if (wildcard < 0 && !TABLE.test(pattern)) return [];
  const folder = pattern.slice(0, pattern.lastIndexOf('/', wildcard < 0 ? pattern.length : wildcard) + 1);
  const isDeep = pattern.includes('**');
  const uri = `${place.kind === 's3' ? `s3://${place.bucket}/` : ''}${folder}${isDeep ? '**' : '*'}/${NO_NAME}`;
  const nameOf = nameInSource(source.uri);
  const skip = createSkipRule(source);
  const found: string[] = [];
  const enough = new AbortController();
  let seen = 0;
  const onSkipped = (file: { readonly uri: string }): void => {
    seen += 1;
    if (seen === MAX_NAMES) enough.abort();
    const name = nameOf(file.uri);
    if (
      TABLE.test(name) &&
      (isDeep || !name.includes('/') || OF_YEAR.test(name)) &&
      skip(name, SOME_BYTES) === null
    )
      found.push(file.uri);
  };
  const signal = AbortSignal.any([enough.signal, ...(ending === undefined ? [] : [ending])]);
  try {
    await Array.fromAsync(listFiles({ ...source, uri }, { clients, onSkipped, signal }));
  } catch (error) {
    if (enough.signal.aborted) return found;
    if (!(error instanceof KnownError)) throw error;
    if (kind.heeds === 'refusals' && error.details.exitCode === EXIT.crash) throw error;
  }
  return found;
}

async function isCovered(uri: string, { sources }: PipelineConfig): Promise<boolean> {
  for (const source of Object.values(sources)) if (await coversFile(source, uri)) return true;
  return false;
}

type LookOptions<Settings extends JobSettings> = UnreadOptions<Settings> & {
  readonly job: Settings;
  readonly source: SourceSettings;
};

type Seen = Pick<UnreadFile, 'isExport' | 'maySay'>;

/** What is known of a file that cannot be looked into: it may be an export, and may say whatever matters. */
function notSeen({ heeds }: Pick<RunnableKind, 'heeds'>): Seen {
  return { isExport: null, maySay: heeds ?? null };
}

/** Looks at the header of a file as `doctor` looks at that of the newest one, and at its first rows. */
async function lookInto<Settings extends JobSettings>(
  uri: string,
  { job, source, config, kind, db, sourceClients: clients, signal }: LookOptions<Settings>,
): Promise<Seen> {
  const { heeds = null } = kind;
  try {
    const folders = layoutFolders(config.path);
    const layout = loadLayout(source.layout, folders);
    const otherLayouts = () => loadOtherLayouts(layout, folders);
    const at = uri.startsWith('file:') ? pathOfFileUri(uri) : uri;
    const within = { clients, ...(signal === undefined ? {} : { signal }) };
    for await (const file of listFiles({ ...source, uri: at }, within)) {
      const open = () => openRecords(file, layout, { source, ...within }).records;
      const table = { ...(await readStart(open())), name: fileName(uri) };
      const isExport = await wouldBeRead({ layout, otherLayouts, source, open }, { job, kind });
      if (isExport === null) return notSeen(kind);
      const says =
        heeds === 'refusals'
          ? isExport || namesPeople(table)
          : heeds === 'orders' && (isExport || (await namesOrders(table, { layout, source, db })));
      return { isExport, maySay: says ? heeds : null };
    }
  } catch (error) {
    if (!(error instanceof FileHeld || error instanceof KnownError)) throw error;
  }
  return notSeen(kind);
}

/** Returns true if a run would read the file, and null if that cannot be known now. */
async function wouldBeRead<Settings extends JobSettings>(
  file: NewestFile,
  { job, kind }: Pick<LookOptions<Settings>, 'job' | 'kind'>,
): Promise<boolean | null> {
  try {
    await kind.checkFile?.(file, job);
    return kind.checkFile !== undefined;
  } catch (error) {
    if (!(error instanceof FileHeld)) throw error;
    return error.reason.isTransient === true ? null : false;
  }
}

/** The beginning of a table, and the name of its file. */
type TableStart = {
  readonly name: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
};

/** Reads the header and the first rows, with those that are no records. @throws FileHeld if there is no header. */
async function readStart(chunks: AsyncIterable<CsvChunk>): Promise<Omit<TableStart, 'name'>> {
  const rows: (readonly string[])[] = [];
  let names: readonly string[] = [];
  for await (const { header, records, lost } of chunks) {
    names = header;
    for (const { cells } of [...records, ...lost]) rows.push(cells ?? []);
    if (rows.length >= MAX_ROWS) break;
  }
  return { header: names, rows };
}

/** True if a table has addresses, or its name or that of a column is about permission. */
function namesPeople({ name, header, rows }: TableStart): boolean {
  const [stem = ''] = name.split('.');
  const isOfPermission = [stem, ...header].some((text) =>
    ['refusal', 'consent'].includes(smellOf(text) ?? ''),
  );
  if (isOfPermission || header.some(isOfAddresses)) return true;
  // A list without a header begins with an address.
  return [header, ...rows].some((cells) => cells.some((cell) => maskAddresses(cell) !== cell));
}

/** True if a table has ids of orders of the source, or its name says that it is about refunds or cancellations. */
async function namesOrders(
  { name, header, rows }: TableStart,
  { layout, source, db }: { layout: Layout; source: SourceSettings; db: Database | null },
): Promise<boolean> {
  const [stem = ''] = name.split('.');
  if (means(stem, 'refunded') || means(stem, 'cancelled')) return true;
  const { order_id: ids = [], order_name: orderNames = [], group = [] } = layout.columns;
  const known = new Set([...ids, ...orderNames, ...group].map(headerWords));
  const isNamed = header.map(headerWords).some((words) => known.has(words) && !OF_ANY_TABLE.test(words));
  if (isNamed || db === null) return isNamed;
  const columns = header.map((_, at) => {
    const cells = rows.map((row) => row[at]?.trim() ?? '').filter((cell) => cell.length >= MIN_ID_CHARS);
    return [...new Set(cells)].slice(0, MAX_IDS);
  });
  const found = await rowsOf<{ id: string }>(db)`
    select distinct order_id as id from intake.orders
    where source = ${source.name} and is_current and order_id = any (${columns.flat()}::text[])`;
  const orders = new Set(found.map(({ id }) => id));
  return columns.some(
    (cells) => cells.length > 0 && 2 * cells.filter((id) => orders.has(id)).length > cells.length,
  );
}
