import { dirname, join, matchesGlob } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type JobSettings, UNOWNED_CODES } from '../config/job-fields.ts';
import { layoutFolders } from '../config/layout-folders.ts';
import type { PipelineConfig } from '../config/schema.ts';
import type { SourceSettings } from '../config/source-fields.ts';
import type { Finding } from '../core/finding.ts';
import { FileHeld } from '../core/held/file-held.ts';
import { KnownError } from '../core/known-error.ts';
import { fileName } from '../core/text/file-name.ts';
import { WILDCARD } from '../core/time/dated-names.ts';
import { loadLayout, loadLayouts } from '../intake/layout/load-layout.ts';
import { openRecords } from '../intake/read/open-records.ts';
import { createSkipRule, SOME_BYTES } from '../store/exclude.ts';
import { coversFile, listFiles } from '../store/list-files.ts';
import { nameInSource, parseSourceUri, pathOfFileUri } from '../store/parse-source-uri.ts';
import type { SourceClients } from '../store/source-clients.ts';
import type { RunnableKind } from './runnable-kind.ts';
import { unlessAbandoned } from './watch-run.ts';

/*
 * Exports whose names no pattern matches. A shop that names its files otherwise from one month to the next is read no
 * more, and a run that reads nothing new looks like one without new orders.
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
};

export type UnreadOptions<Settings extends JobSettings> = {
  readonly config: PipelineConfig;
  readonly kind: Pick<RunnableKind<Settings>, 'checkFile'>;
  readonly sourceClients: SourceClients;
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

/**
 * Finds the tables beside the files of a job's sources that no source reads. Those that an `exclude` or a setting names
 * are known. A place that cannot be listed has none: the run itself reports it.
 */
export async function findUnreadFiles<Settings extends JobSettings>(
  job: Settings,
  options: UnreadOptions<Settings>,
): Promise<readonly UnreadFile[]> {
  const found = new Map<string, UnreadFile>();
  for (const name of job.sources) for (const file of await findBeside(job, name, options)) keep(found, file);
  return [...found.values()];
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
    let isExport: boolean | null = null;
    if (at < MAX_OPENED) isExport = await wouldBeRead(uri, { ...options, job, source });
    if (isExport === false && PACKED.test(uri) && likeness(uri) > 0) isExport = null;
    found.push({ uri, source: name, isExport });
  }
  return found;
}

/** Keeps each file once: as an export if it may be one of any source. */
function keep(found: Map<string, UnreadFile>, file: UnreadFile): void {
  const known = found.get(file.uri);
  if (known === undefined || rankOf(file) < rankOf(known)) found.set(file.uri, file);
}

/** Exports first, then files that may be exports. */
function rankOf({ isExport }: UnreadFile): number {
  return isExport === null ? 1 : isExport ? 0 : 2;
}

/** The words in the name of a source's files that its pattern fixes, in lower case. */
function fixedWords(uri: string): readonly string[] {
  const [name = ''] = fileName(uri).toLowerCase().split('.');
  return name.match(/\p{L}{3,}/gu) ?? [];
}

/** A kind, as far as it checks files. */
type CheckingKind = Pick<RunnableKind, 'checkFile'> & { readonly kind: string };

function kindOf({ kind }: JobSettings, kinds: readonly CheckingKind[]): Pick<RunnableKind, 'checkFile'> {
  return kinds.find((one) => one.kind === kind) ?? {};
}

/** The same for all jobs of a configuration. A file that a run of one of them would read is an export. */
export async function findAllUnreadFiles(
  kinds: readonly CheckingKind[],
  { config, sourceClients }: Omit<UnreadOptions<JobSettings>, 'kind'>,
): Promise<readonly UnreadFile[]> {
  const found = new Map<string, UnreadFile>();
  for (const job of Object.values(config.jobs)) {
    const kind = kindOf(job, kinds);
    for (const file of await findUnreadFiles(job, { config, kind, sourceClients })) keep(found, file);
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
  { config, sourceClients }: Omit<UnreadOptions<JobSettings>, 'kind' | 'signal'>,
  { withinMs }: { withinMs: number },
): Promise<UnreadSurvey> {
  const found = new Map<string, UnreadFile>();
  const unanswered = new Set<string>();
  const signal = AbortSignal.timeout(withinMs);
  const look = async (job: JobSettings, name: string): Promise<void> => {
    const work = findBeside(job, name, { config, kind: kindOf(job, kinds), sourceClients, signal });
    try {
      for (const file of await unlessAbandoned(work, signal)) keep(found, file);
    } catch (error) {
      if (!signal.aborted) throw error;
      unanswered.add(name);
    }
  };
  const jobs = Object.values(config.jobs);
  await Promise.all(jobs.flatMap((job) => job.sources.map((name) => look(job, name))));
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
  { config, sourceClients }: Omit<UnreadOptions<JobSettings>, 'kind'>,
): Promise<readonly WouldRead[]> {
  const found = new Map<string, WouldRead>();
  for (const job of Object.values(config.jobs))
    for (const name of job.sources) {
      const source = config.sources[name];
      if (source === undefined || found.has(name)) continue;
      const kind = kindOf(job, kinds);
      if ((await wouldBeRead(uri, { job, source, config, kind, sourceClients })) === true)
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

/** Says which files no source reads and what to do, exports first. Empty if there are none. */
export function describeUnreadFiles(files: readonly UnreadFile[]): readonly Finding[] {
  const groups = Map.groupBy(files, (file) => `${rankOf(file)} ${file.source}`);
  return [...groups].sort().map(([key, group]) => {
    const source = key.slice(2);
    const names = group.slice(0, MAX_NAMED).map(({ uri }) => fileName(uri));
    const listed = `${names.join(', ')}${group.length > names.length ? ', …' : ''}`;
    const them = group.length === 1 ? 'it' : 'them';
    const exclude = `list ${them} under exclude of sources.${source}`;
    const about = `source ${source}`;
    if (key.startsWith('1'))
      return {
        status: 'warning',
        about,
        what: `No source reads ${listed}, and ${group.length === 1 ? 'it was' : `these ${group.length} were`} not looked into.`,
        why: `${group.length === 1 ? 'It' : 'They'} may be exports that do not count: packed files and workbooks are not opened, nor more than ${MAX_OPENED} other tables, nor what cannot be read.`,
        fix: `If ${them === 'it' ? 'it is' : 'they are'} no export, ${exclude}. Otherwise save ${them} as CSV under a name that its uri matches.`,
      };
    return key.startsWith('0')
      ? {
          status: 'warning',
          about,
          what: `No source reads ${listed}, although ${group.length === 1 ? 'it has' : 'they have'} the columns of this source.`,
          why: `The pattern in its uri does not match ${group.length === 1 ? 'this name' : 'these names'}, so what ${them === 'it' ? 'it states' : 'they state'} does not count.`,
          fix: `Write a pattern that matches ${them} as uri of sources.${source}, or ${exclude}.`,
        }
      : {
          status: 'warning',
          about,
          what: `No source reads ${listed}, in the same folder.`,
          fix: `If you need ${them}, add a source:  npx influencer-sync init <file> shows what ${them === 'it' ? 'it is' : 'they are'}. Otherwise ${exclude}.`,
        };
  });
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
  { sourceClients: clients, signal: ending }: Pick<UnreadOptions<JobSettings>, 'sourceClients' | 'signal'>,
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
    if (!enough.signal.aborted && !(error instanceof KnownError)) throw error;
  }
  return found;
}

async function isCovered(uri: string, { sources }: PipelineConfig): Promise<boolean> {
  for (const source of Object.values(sources)) if (await coversFile(source, uri)) return true;
  return false;
}

/** Checks a header as `doctor` checks that of the newest file. @returns null if the file cannot be read now. */
async function wouldBeRead<Settings extends JobSettings>(
  uri: string,
  {
    job,
    source,
    config,
    kind,
    sourceClients: clients,
    signal,
  }: UnreadOptions<Settings> & { readonly job: Settings; readonly source: SourceSettings },
): Promise<boolean | null> {
  try {
    const folders = layoutFolders(config.path);
    const layout = loadLayout(source.layout, folders);
    const otherLayouts = () => loadLayouts(folders).filter(({ name }) => name !== layout.name);
    const at = uri.startsWith('file:') ? pathOfFileUri(uri) : uri;
    const within = { clients, ...(signal === undefined ? {} : { signal }) };
    for await (const file of listFiles({ ...source, uri: at }, within)) {
      const open = () => openRecords(file, layout, { source, ...within }).records;
      await kind.checkFile?.({ layout, otherLayouts, source, open }, job);
      return kind.checkFile !== undefined;
    }
    return null;
  } catch (error) {
    if (error instanceof FileHeld) return error.reason.isTransient === true ? null : false;
    if (error instanceof KnownError) return null;
    throw error;
  }
}
