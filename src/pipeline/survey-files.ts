import type { Database } from '../db/connect.ts';
import type { PipelineConfig, SourceSettings } from '../model/config.ts';
import type { ReadFor } from '../model/layout.ts';
import { FILE_STATES, type FileState, type SourceFile, type SurveyedFile } from '../model/source.ts';
import { type KnownFile, listKnownFiles } from '../report/files/list-known-files.ts';
import type { SkippedFile } from '../source/exclude.ts';
import { listFiles } from '../source/list-files.ts';
import type { SourceClients } from '../source/source-clients.ts';
import type { RunnableKind } from './runnable-kind.ts';

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
  const purposes = purposesOf(options);
  const surveyed: SurveyedFile[] = [];
  const onSkipped = ({ uri, reason: why }: SkippedFile): void => {
    surveyed.push(toSurveyed(source, { uri, state: 'skipped', why }));
  };
  for await (const file of listFiles(source, { clients, onSkipped })) {
    for (const readFor of purposes) {
      const name = `${readFor} ${file.uri}`;
      surveyed.push(judgeListed(source, { file, readFor, known: byName.get(name) ?? null }));
      byName.delete(name);
    }
  }
  for (const file of byName.values()) surveyed.push(judgeGone(source, file));
  return surveyed.sort((a, b) => FILE_STATES.indexOf(a.state) - FILE_STATES.indexOf(b.state));
}

/** The purposes for which jobs read the source, each once. A single null if no job reads it. */
function purposesOf({
  config,
  kinds,
  source,
}: {
  readonly config: PipelineConfig;
  readonly kinds: readonly RunnableKind[];
  readonly source: SourceSettings;
}): readonly (ReadFor | null)[] {
  const purposes = Object.values(config.jobs)
    .filter(({ sources }) => sources.includes(source.name))
    .flatMap((job) => kinds.find(({ kind }) => kind === job.kind)?.purpose(job)?.readFor ?? []);
  return purposes.length === 0 ? [null] : [...new Set(purposes)];
}

function judgeListed(
  source: SourceSettings,
  {
    file,
    readFor,
    known,
  }: {
    readonly file: SourceFile;
    readonly readFor: ReadFor | null;
    readonly known: KnownFile | null;
  },
): SurveyedFile {
  const { uri, sizeBytes } = file;
  const is = (state: FileState, why: string | null): SurveyedFile =>
    toSurveyed(source, { uri, readFor, sizeBytes, state, why });
  if (readFor === null) return is('skipped', 'no job reads this source');
  if (known === null) return is('new', 'the next run reads it');
  if (known.isRereadWanted) return is('new', 'the next run reads it again, as you requested');
  if (known.version !== file.version) return is('new', 'it was replaced: the next run reads the new version');
  if (known.state === 'reading') return is('new', 'its reading was interrupted: the next run reads it');
  if (known.state === 'released' && known.releasedBy === null) return is('new', 'the next run reads it');
  return judgeKnown(source, known);
}

function judgeKnown(source: SourceSettings, known: KnownFile): SurveyedFile {
  const { uri, readFor, sizeBytes, rowsRead: rows } = known;
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
  const rejected = known.rejectedRows === 0 ? null : `${known.rejectedRows} of its rows were rejected`;
  return toSurveyed(source, { ...about, state: 'read', why: rejected, rows });
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
  return { source: source.name, readFor: null, help: null, sizeBytes: null, rows: null, ...file };
}
