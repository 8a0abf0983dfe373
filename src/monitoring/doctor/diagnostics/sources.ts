import { layoutFolders } from '../../../config/layout-folders.ts';
import type { SourceSettings } from '../../../config/source-fields.ts';
import { type Finding, findingsOf } from '../../../core/finding.ts';
import { FileHeld } from '../../../core/held/file-held.ts';
import { KnownError } from '../../../core/known-error.ts';
import type { Purpose, ReadFor } from '../../../core/layout.ts';
import type { SourceFile } from '../../../core/source.ts';
import { fileName } from '../../../core/text/file-name.ts';
import { plural } from '../../../core/text/plural.ts';
import type { Database } from '../../../db/connect.ts';
import { openSourceChecks } from '../../../intake/checks/check-files.ts';
import { listKnownFiles } from '../../../intake/files/list-known-files.ts';
import { openSourceAges } from '../../../intake/files/source-ages.ts';
import { checkSource } from '../../../intake/layout/check-source.ts';
import { changeOfColumns } from '../../../intake/layout/earlier-columns.ts';
import { layoutFor } from '../../../intake/layout/layout-for.ts';
import { loadLayout, loadOtherLayouts } from '../../../intake/layout/load-layout.ts';
import type { Layout } from '../../../intake/layout/to-layout.ts';
import { resolveForOrders } from '../../../intake/orders/map/resolve-for-orders.ts';
import { createAgeOf } from '../../../intake/read/intake-source.ts';
import { firstDay } from '../../../intake/read/listing-window.ts';
import { openRecords } from '../../../intake/read/open-records.ts';
import type { Diagnostic, NewestFile, Patient } from '../../../runs/runnable-kind.ts';
import { describeUnreadFiles, findAllUnreadFiles } from '../../../runs/unread-files.ts';
import { listFiles } from '../../../store/list-files.ts';
import { isWeaklyVersioned } from '../../../store/s3/s3-version.ts';
import { findUnitPrices } from './unit-prices.ts';

/** Lists each source, reads the beginning of its newest file, and checks the header against the layout and earlier files. */
export const sources: Diagnostic = {
  name: 'source',
  async look(patient) {
    const findings: Finding[] = [];
    for (const source of Object.values(patient.config.sources))
      findings.push(...(await lookAtSource(patient, source)));
    const looking = { ...patient, db: patient.hasTables ? patient.db : null };
    return [...findings, ...describeUnreadFiles(await findAllUnreadFiles(patient.kinds, looking))];
  },
};

async function lookAtSource(patient: Patient, source: SourceSettings): Promise<readonly Finding[]> {
  const about = `source ${source.name}`;
  try {
    const folders = layoutFolders(patient.config.path);
    const layout = loadLayout(source.layout, folders);
    const readers = readersOf(patient, source);
    for (const { purpose } of readers) checkSource(layout, source, purpose);
    let files = 0;
    let withoutEtag = 0;
    let newest: SourceFile | null = null;
    const since = firstDay(source, new Date());
    for await (const file of listFiles(source, { clients: patient.sourceClients, since })) {
      files += 1;
      if (isWeaklyVersioned(file)) withoutEtag += 1;
      newest = newest === null || isNewer(file, newest) ? file : newest;
    }
    const isRead = Object.values(patient.config.jobs).some((job) => job.sources.includes(source.name));
    if (newest === null) return [noFiles(about, { source, since, isRead })];
    const otherLayouts = () => loadOtherLayouts(layout, folders);
    const options = { source, clients: patient.sourceClients };
    const file = { layout, otherLayouts, source, open: () => openRecords(newest, layout, options).records };
    let shown = '';
    for (const { check } of readers) shown += await check(file);
    const { db, hasTables } = patient;
    const header = await headerOf(file);
    for (const { purpose } of hasTables ? readers : [])
      if (db !== null)
        await requireEarlierColumns(db, newest, { header, source, layout, readFor: purpose.readFor });
    const isOfOrders = readers.some(({ purpose }) => purpose.readFor === 'orders');
    const prices = isOfOrders ? await findUnitPrices(file, fileName(newest.uri)) : [];
    const number = plural(files, 'file');
    const count = since === null ? number : `${number} of ${since} or later`;
    return [
      {
        status: 'ok',
        about,
        what: `${count}; the newest, ${fileName(newest.uri)}, fits the layout ${layout.name}.${shown}`,
      },
      ...prices,
      ...(withoutEtag === 0 ? [] : [weaklyVersioned(about, { withoutEtag, files })]),
    ];
  } catch (error) {
    if (error instanceof KnownError) return findingsOf(about, error.details);
    if (!(error instanceof FileHeld)) throw error;
    const { message, help } = error.reason;
    const why = 'A run would hold the file, and post nothing from it.';
    return [{ status: 'problem', about, what: message, why, fix: help }];
  }
}

function weaklyVersioned(
  about: string,
  { withoutEtag, files }: { withoutEtag: number; files: number },
): Finding {
  return {
    status: 'warning',
    about,
    what: `The store names no ETag for ${withoutEtag} of ${plural(files, 'file')}.`,
    why: 'Their versions are identified by size and modification time, and only their size shows whether they were read completely.',
    fix: 'Put files there through the S3 interface, not directly into its folder. Or read the folder itself: the tool identifies its files by their content.',
  };
}

function isNewer(one: SourceFile, other: SourceFile): boolean {
  return (one.modifiedAt?.getTime() ?? 0) >= (other.modifiedAt?.getTime() ?? 0);
}

/** A job kind that reads the source: its purpose, and how it checks the newest file. */
type Reader = { readonly purpose: Purpose; readonly check: (file: NewestFile) => Promise<string> };

/** The purposes for which jobs read the source. Orders if no job reads it yet. */
function readersOf({ config, kinds }: Patient, { name }: SourceSettings): readonly Reader[] {
  const readers = Object.values(config.jobs).flatMap((job): readonly Reader[] => {
    const kind = kinds.find((candidate) => candidate.kind === job.kind);
    const purpose = job.sources.includes(name) ? kind?.purpose(job) : null;
    if (kind === undefined || purpose == null) return [];
    return [{ purpose, check: async (file) => (await kind.checkFile?.(file, job)) ?? '' }];
  });
  return readers.length === 0 ? [{ purpose: { readFor: 'orders' }, check: checkHeader }] : readers;
}

function noFiles(
  about: string,
  { source, since, isRead }: { source: SourceSettings; since: string | null; isRead: boolean },
): Finding {
  return {
    status: isRead ? 'problem' : 'warning',
    about,
    what: `${source.uri} can be listed, but contains no files${since === null ? '' : ` of ${since} or later`}.`,
    why: 'A run without any file fails, unless you give --allow-empty.',
    fix: 'Check the address, the prefix and the glob. Or wait for the first export.',
  };
}

/**
 * Checks that the header of a file has the columns that its layout needs for orders.
 *
 * @throws FileHeld for the same reasons as in a run.
 */
export async function checkHeader(file: NewestFile): Promise<string> {
  const { layout } = file;
  resolveForOrders(await headerOf(file), layoutFor(layout, 'orders') ?? layout, file);
  return '';
}

/**
 * Compares the header of a file with those of earlier files of its source, as a run does that reads it. A file
 * that was read is in force, whatever its header.
 *
 * @throws FileHeld `column_missing`.
 */
async function requireEarlierColumns(
  db: Database,
  file: SourceFile,
  reading: { header: readonly string[]; source: SourceSettings; layout: Layout; readFor: ReadFor },
): Promise<void> {
  const { header, source, readFor } = reading;
  const known = await listKnownFiles(db, { source: source.name, uri: file.uri });
  const own = known.find((one) => one.readFor === readFor && one.version === file.version);
  if (own?.state === 'sealed' || own?.state === 'duplicate') return;
  const ages = openSourceAges(db, { source: source.name, readFor, ageOf: createAgeOf(source) });
  const { newer } = await ages.compare(file);
  const { earlierFiles } = await openSourceChecks(db, { source, readFor }).begin(file, () => header);
  const change = changeOfColumns(header, { ...reading, earlier: earlierFiles(newer) });
  if (change !== null) throw change;
}

async function headerOf({ open }: Pick<NewestFile, 'open'>): Promise<readonly string[]> {
  for await (const { header } of open()) return header;
  return [];
}
