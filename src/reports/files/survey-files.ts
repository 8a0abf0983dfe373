import type { PipelineConfig } from '../../config/schema.ts';
import type { SourceSettings } from '../../config/source-fields.ts';
import type { Purpose, ReadFor } from '../../core/layout.ts';
import { FILE_STATES, type FileState, type SourceFile, type SurveyedFile } from '../../core/source.ts';
import { agedAt, basisOf, describeBasis } from '../../core/time/file-age.ts';
import type { Database } from '../../db/connect.ts';
import { type KnownFile, listKnownFiles } from '../../intake/files/list-known-files.ts';
import { createAgeOf, readingHash } from '../../intake/read/intake-source.ts';
import { dayOfFile, type ListingWindow, openListingWindow } from '../../intake/read/listing-window.ts';
import type { RunnableKind } from '../../runs/runnable-kind.ts';
import type { SkippedFile } from '../../store/exclude.ts';
import { listFiles } from '../../store/list-files.ts';
import type { SourceClients } from '../../store/source-clients.ts';

/**
 * Lists a source as a run would, and reports for each file what happened to it or what the next run does with
 * it. Sorts the files by state, in the order of FILE_STATES.
 *
 * @throws KnownError if the source cannot be listed.
 */
export async function surveyFiles(
  db: Database,
  options: {
    readonly config: PipelineConfig;
    readonly kinds: readonly RunnableKind[];
    readonly source: SourceSettings;
    readonly clients: SourceClients;
  },
): Promise<readonly SurveyedFile[]> {
  const { source, clients } = options;
  const known = await listKnownFiles(db, { source: source.name });
  const byName = new Map(known.map((file) => [`${file.readFor} ${file.uri}`, file]));
  const readers = await readersOf(db, options);
  const ageOf = createAgeOf(source);
  const surveyed: SurveyedFile[] = [];
  const onSkipped = ({ uri, reason: why }: SkippedFile): void => {
    surveyed.push(toSurveyed(source, { uri, state: 'skipped', why }));
  };
  for await (const file of listFiles(source, { clients, onSkipped })) {
    const age = ageOf(file);
    for (const reader of readers) {
      const name = `${reader.readFor} ${file.uri}`;
      const judged = judgeListed(source, { file, reader, known: byName.get(name) ?? null });
      surveyed.push({ ...judged, agedAt: agedAt(age), ageBasis: basisOf(age) });
      byName.delete(name);
    }
  }
  for (const file of byName.values()) surveyed.push(judgeGone(source, file));
  return surveyed.sort((a, b) => FILE_STATES.indexOf(a.state) - FILE_STATES.indexOf(b.state));
}

/** A purpose for which jobs read a source. */
type Reader = {
  /** Null if no job reads the source. */
  readonly readFor: ReadFor | null;
  /** The names that the next run looks at, if the queue of the source announces no further ones. */
  readonly window: Pick<ListingWindow, 'isListed' | 'since'> & { readonly uris: ReadonlySet<string> };
};

const ALL_NAMES: Reader['window'] = { isListed: true, since: null, uris: new Set() };

async function readersOf(
  db: Database,
  {
    config,
    kinds,
    source,
  }: { config: PipelineConfig; kinds: readonly RunnableKind[]; source: SourceSettings },
): Promise<readonly Reader[]> {
  const purposes = new Map<ReadFor, Purpose>();
  for (const job of Object.values(config.jobs).filter(({ sources }) => sources.includes(source.name))) {
    const purpose = kinds.find(({ kind }) => kind === job.kind)?.purpose(job) ?? null;
    if (purpose !== null) purposes.set(purpose.readFor, purpose);
  }
  const readers: Reader[] = [];
  for (const [readFor, purpose] of purposes) {
    const isListedInPart = source.lookbackDays !== null || source.events !== null;
    const layoutHash = isListedInPart ? readingHash(config, source, purpose) : '';
    const window = await openListingWindow(db, { source, readFor, layoutHash, isAnnounced: true });
    readers.push({ readFor, window: { ...window, uris: new Set(window.uris) } });
  }
  return readers.length === 0 ? [{ readFor: null, window: ALL_NAMES }] : readers;
}

/** Returns why a new file is one, and which run reads it. */
function whyNew(source: SourceSettings, uri: string, { isListed, since, uris }: Reader['window']): string {
  if (uris.has(uri)) return 'the next run reads it';
  if (!isListed)
    return 'a run reads it once the queue of the source announces it, or when it lists all names again';
  if (since !== null && (dayOfFile(source, uri) ?? since) < since)
    return `older than ${since}, where runs start: use run --file`;
  return 'the next run reads it';
}

function judgeListed(
  source: SourceSettings,
  { file, reader: { readFor, window }, known }: { file: SourceFile; reader: Reader; known: KnownFile | null },
): SurveyedFile {
  const { uri, sizeBytes } = file;
  const is = (state: FileState, why: string | null): SurveyedFile =>
    toSurveyed(source, { uri, readFor, sizeBytes, state, why });
  if (readFor === null) return is('skipped', 'no job reads this source');
  if (known === null) return is('new', whyNew(source, uri, window));
  if (known.isRereadWanted) return is('new', 'the next run reads it again, as you requested');
  if (known.version !== file.version) return is('new', 'it was replaced: the next run reads the new version');
  if (known.state === 'reading') return is('new', 'its reading was interrupted: the next run reads it');
  if (known.state === 'released' && known.releasedBy === null) return is('new', 'the next run reads it');
  return judgeKnown(source, known);
}

function judgeKnown(source: SourceSettings, known: KnownFile): SurveyedFile {
  const { uri, readFor, sizeBytes, rowsRead: rows, olderOrders, ageBasis } = known;
  const about = { uri, readFor, sizeBytes };
  if (known.state === 'held')
    return toSurveyed(source, { ...about, state: 'held', why: known.holdMessage, help: known.holdHelp });
  if (known.state === 'released') {
    const by = known.releasedBy === null ? '' : `by ${known.releasedBy}: `;
    return toSurveyed(source, { ...about, state: 'released', why: `${by}${known.releaseReason}` });
  }
  if (known.state === 'duplicate')
    return toSurveyed(source, {
      ...about,
      state: 'duplicate',
      why: `it has the content of ${known.duplicateOf}`,
    });
  const nouns = readFor === 'orders' ? 'orders' : 'rows';
  const whys = [
    ...(known.rejectedRows === 0
      ? []
      : [`${known.rejectedRows} of its rows ${known.rejectedRows === 1 ? 'was' : 'were'} rejected`]),
    ...(olderOrders === 0
      ? []
      : [
          ageBasis === 'column'
            ? `${olderOrders} of its orders changed nothing: other rows of them are newer ${describeBasis(ageBasis)}`
            : `${olderOrders} of its ${nouns} changed nothing: a newer file states them (it is older ${describeBasis(ageBasis)})`,
        ]),
  ];
  const why = whys.length === 0 ? null : whys.join('; ');
  return toSurveyed(source, { ...about, state: 'read', why, rows, olderOrders });
}

function judgeGone(source: SourceSettings, known: KnownFile): SurveyedFile {
  const judged = judgeKnown(source, known);
  if (known.state === 'held')
    return { ...judged, why: `it no longer exists, and was held: ${known.holdMessage}` };
  return { ...judged, state: 'gone', why: 'it no longer exists; its orders stay in force' };
}

function toSurveyed(
  source: SourceSettings,
  file: Pick<SurveyedFile, 'uri' | 'state' | 'why'> & Partial<SurveyedFile>,
): SurveyedFile {
  return {
    source: source.name,
    readFor: null,
    help: null,
    sizeBytes: null,
    rows: null,
    olderOrders: 0,
    agedAt: null,
    ageBasis: null,
    ...file,
  };
}
