import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { SourceSettings } from '../../config/source-fields.ts';
import { FileHeld } from '../../core/held/file-held.ts';
import { KnownError } from '../../core/known-error.ts';
import type { Purpose } from '../../core/layout.ts';
import type { CsvChunk, FooterRow } from '../../core/record.ts';
import { CONFLICTING_STATES, type HoldReason, type SourceFile } from '../../core/source.ts';
import { fileName } from '../../core/text/file-name.ts';
import type { FileAge } from '../../core/time/file-age.ts';
import type { Run } from '../../ops/run.ts';
import { inSpan, type PartSpan } from '../../ops/spans.ts';
import { FILE_UNAVAILABLE } from '../../store/file-unavailable.ts';
import type { FileCheck } from '../checks/check-file.ts';
import type { SourceChecks } from '../checks/check-files.ts';
import { type BeginFileOptions, beginFile } from '../files/begin-file.ts';
import type { FileRead } from '../files/fence.ts';
import { holdFile, type SealedRead } from '../files/seal-read.ts';
import type { OtherAges, SourceAges } from '../files/source-ages.ts';
import { changeOfColumns } from '../layout/earlier-columns.ts';
import type { Layout, OtherLayouts } from '../layout/to-layout.ts';
import type { EarlyRecords } from './open-records.ts';

/** How the files of a source are read. */
export type SourceReading = {
  readonly source: SourceSettings;
  readonly layout: Layout;
  /** Named in the message if the header fits one of them instead of the layout. */
  readonly otherLayouts: OtherLayouts;
  readonly layoutHash: string;
  readonly checks: SourceChecks;
  readonly ages: SourceAges;
};

/** One file to read, and the means to read it. */
export type Reading = SourceReading & {
  readonly file: SourceFile;
  /** Reads the file even if it was held before and has not changed. */
  readonly again: boolean;
  /** The records of the file. Small files were opened while the file before was being sealed. */
  readonly content: EarlyRecords;
};

/** The purpose for which files are read, and what happens to their records. */
export type Intake = {
  readonly purpose: Purpose;
  /** As in `BeginFileOptions`. */
  readonly withdraw?: BeginFileOptions['withdraw'];
  /**
   * Maps, stages and seals the records of one file. Calls `progress.advance(0, rows)` with the number of rows
   * that it has read.
   */
  readonly take: (run: Run, reading: Reading, content: FileContent) => Promise<SealedRead<unknown>>;
  /**
   * Does the same for the first of several small files, in one transaction. Only for files about which there is
   * nothing to decide. Files are always read one by one if omitted.
   *
   * @returns the ids of those that were sealed: the next one must be read on its own. Null if only the database shows
   * that something has to be decided about one of them: they must be read one by one.
   */
  readonly takeTogether?: (
    run: Run,
    reading: SourceReading,
    files: readonly WholeContent[],
  ) => Promise<readonly string[] | null>;
};

/** A small file that was read completely. */
export type WholeContent = {
  readonly file: SourceFile;
  readonly chunks: readonly CsvChunk[];
  /** Digest of the decoded content. */
  readonly digest: string;
  readonly check: FileCheck;
  readonly age: FileAge;
};

/** The records of one file while it is being read. */
export type FileContent = FileRead & {
  readonly file: SourceFile;
  readonly chunks: AsyncIterable<CsvChunk>;
  /** Digest of the decoded content. Available once the file was read completely. */
  readonly digest: () => string;
  /** Rows at its end that are no records of it, as far as they were found. Mapping adds to them. */
  readonly footer: FooterRow[];
  /** The check that sealing applies to the file. */
  readonly check: FileCheck;
  /** Files whose statements it must not replace. */
  readonly others: OtherAges;
};

/**
 * Runs the steps of one file: begin → open → decode → parse → map → stage → seal. The file ends sealed, held,
 * or already known.
 *
 * @returns the reason if the file is unavailable at the moment, while others may be available. Null in every
 * other case.
 */
export async function intakeFile(run: Run, reading: Reading, intake: Intake): Promise<KnownError | null> {
  const { db, runId } = run;
  const { source, layout, layoutHash, file, again, ages } = reading;
  const reader = randomUUID();
  const begun = await beginFile(db, {
    source: source.name,
    file,
    age: ages.ageOf(file),
    layout: layout.name,
    layoutHash,
    runId,
    reader,
    again,
    readFor: intake.purpose.readFor,
    withdraw: intake.withdraw,
  });
  if (begun.kind === 'known') return null;
  beginStep(run, reading);
  const attributes = {
    'influencer_sync.source.name': source.name,
    'influencer_sync.file.id': begun.sourceFileId,
    'influencer_sync.file.bytes': file.sizeBytes ?? 0,
  };
  return inSpan({ name: 'file', attributes }, (span) =>
    readFile(run, { reading, intake, read: { sourceFileId: begun.sourceFileId, reader }, span }),
  );
}

function beginStep({ progress }: Run, { file, content }: { file: SourceFile; content: EarlyRecords }): void {
  progress.begin({
    name: 'read',
    label: `Reading ${fileName(file.uri)}`,
    unit: 'bytes',
    total: file.sizeBytes,
  });
  content.tellBytes((count) => progress.advance(count));
}

/**
 * Runs these steps for the first of several small files together, if there is nothing to decide about them.
 *
 * @returns the number of files that were sealed, or null, as `takeTogether`. The others must be read by `intakeFile`.
 */
export async function intakeTogether(
  run: Run,
  files: readonly OpenedFile[],
  {
    reading,
    purpose: { readFor },
    takeTogether,
  }: { reading: SourceReading } & Required<Pick<Intake, 'purpose' | 'takeTogether'>>,
): Promise<number | null> {
  const whole: WholeContent[] = [];
  let first: readonly string[] | null = null;
  for (const { file, content } of files) {
    const chunks = await content.whole();
    if (chunks === null) break;
    const header = chunks[0]?.header ?? [];
    first ??= header;
    const { check, learn, earlierFiles } = await reading.checks.begin(file, () => header);
    // A file that changes the columns may be held, unless the others are newer than it.
    if (
      !isDeepStrictEqual(header, first) ||
      changeOfColumns(header, { ...reading, readFor, earlier: earlierFiles([]) }) !== null
    )
      break;
    // Each file is judged by the ones before it, as if they had been sealed already.
    const judge: FileCheck['judge'] = (seen, options) => {
      const results = check.judge(seen, options);
      learn();
      return results;
    };
    const age = reading.ages.ageOf(file);
    whole.push({ file, chunks, digest: content.digest(), check: { ...check, judge }, age });
  }
  if (whole.length < 2) return 0;
  const attributes = {
    'influencer_sync.source.name': reading.source.name,
    'influencer_sync.files': whole.length,
  };
  const read = await inSpan({ name: 'files', attributes }, () =>
    reading.checks.attempt(() => takeTogether(run, reading, whole)),
  );
  if (read === null) return null;
  for (const [place, file] of files.slice(0, read.length).entries()) {
    reading.ages.learn(file.file, read[place] ?? '');
    beginStep(run, file);
    run.progress.advance(
      0,
      whole[place]?.chunks.reduce((sum, { records }) => sum + records.length, 0),
    );
  }
  return read.length;
}

/** A file that was opened before its turn. */
export type OpenedFile = { readonly file: SourceFile; readonly content: EarlyRecords };

async function readFile(
  run: Run,
  { reading, intake, read, span }: { reading: Reading; intake: Intake; read: FileRead; span: PartSpan },
): Promise<KnownError | null> {
  const { db, progress } = run;
  const { file } = reading;
  try {
    const { records, digest } = reading.content;
    const { check, learn, earlierFiles } = await reading.checks.begin(file, () => header());
    const others = await reading.ages.compare(file);
    const { readFor } = intake.purpose;
    const { watched, header, footer } = watchChunks(records, (names) => {
      const change = changeOfColumns(names, { ...reading, readFor, earlier: earlierFiles(others.newer) });
      if (change !== null) throw change;
    });
    const result = await intake.take(run, reading, {
      ...read,
      file,
      chunks: watched,
      digest,
      footer,
      check,
      others,
    });
    span.describe({ 'influencer_sync.file.state': result.kind });
    if (result.kind === 'sealed') {
      learn();
      reading.ages.learn(file, read.sourceFileId);
    }
    if (result.kind === 'duplicate') reading.ages.learn(file, result.of.sourceFileId);
    if (result.kind === 'held') {
      if (result.reason.code === CONFLICTING_STATES) reading.ages.learnHeld(file, read.sourceFileId);
      progress.note(heldNote(file, result.reason));
    }
    if (result.kind === 'duplicate')
      progress.note(
        `${fileName(file.uri)} has the same content as ${result.of.uri}, so it does not count again.`,
      );
  } catch (error) {
    if (!(error instanceof FileHeld)) throw error;
    span.describe({ 'influencer_sync.file.state': 'held', 'error.type': error.reason.code });
    await holdFile(db, { ...read, reason: error.reason });
    progress.note(heldNote(file, error.reason));
    if (error.reason.code === FILE_UNAVAILABLE && error.cause instanceof KnownError) return error.cause;
  }
  return null;
}

/**
 * Notes the header for the checks, which every chunk contains, and the footer while the chunks pass.
 *
 * @param judge throws if the columns of the file are not those of earlier files. Called after the first records were
 * mapped, because mapping recognises a file that is another export.
 */
function watchChunks(chunks: AsyncIterable<CsvChunk>, judge: (header: readonly string[]) => void) {
  let header: readonly string[] | null = null;
  const footer: FooterRow[] = [];
  async function* watch(): AsyncGenerator<CsvChunk> {
    for await (const chunk of chunks) {
      const isFirst = header === null;
      header = chunk.header;
      footer.push(...(chunk.footer ?? []));
      yield chunk;
      if (isFirst) judge(chunk.header);
    }
  }
  return { watched: watch(), header: () => header ?? [], footer };
}

/** The message of a hold may contain the full address. The note shortens it to the file name. */
function heldNote(file: SourceFile, { message }: HoldReason): string {
  return `Held ${fileName(file.uri)}: ${message.replaceAll(file.uri, fileName(file.uri))}`;
}
