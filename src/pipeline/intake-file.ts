import { randomUUID } from 'node:crypto';
import { beginFile } from '../intake/begin-file.ts';
import { createStager } from '../intake/create-stager.ts';
import { holdFile } from '../intake/hold-file.ts';
import { type SealedFile, sealFile } from '../intake/seal-file.ts';
import { mapOrders } from '../map/map-orders.ts';
import type { SourceSettings } from '../model/config.ts';
import { FileHeld } from '../model/file-held.ts';
import type { Layout } from '../model/layout.ts';
import type { SourceFile } from '../model/source.ts';
import { parseCsv } from '../parse/parse-csv.ts';
import { toParseOptions } from '../parse/parse-options.ts';
import { readText } from '../source/read-text.ts';
import { type Run, throwIfDraining } from './run.ts';

/** One file to read, and how. */
export type Reading = {
  readonly source: SourceSettings;
  readonly layout: Layout;
  /** To name when the header does not fit the layout but another one. */
  readonly otherLayouts: readonly Layout[];
  readonly layoutHash: string;
  readonly file: SourceFile;
  /** Reads it although it was held before and nothing about it has changed. */
  readonly again: boolean;
};

/** The way of one file: begin → open → decode → parse → group → map → stage → seal. Ends with the file sealed, held, or known already. */
export async function intakeFile(run: Run, reading: Reading): Promise<void> {
  const { db, runId, progress } = run;
  const { source, layout, layoutHash, file, again } = reading;
  const reader = randomUUID();
  const begun = await beginFile(db, {
    source: source.name,
    file,
    layout: layout.name,
    layoutHash,
    runId,
    reader,
    again,
  });
  if (begun.kind === 'known') return;
  const read = { sourceFileId: begun.sourceFileId, reader };

  progress.begin({ name: 'read', label: `Reading ${nameOf(file)}`, unit: 'bytes', total: file.sizeBytes });
  try {
    const result = await readAndSeal(run, reading, read);
    if (result.kind === 'held') progress.note(`Held ${nameOf(file)}: ${result.reason.message}`);
    if (result.kind === 'duplicate')
      progress.note(`${nameOf(file)} has the same content as ${result.of.uri}: nothing of it counts again.`);
  } catch (error) {
    if (!(error instanceof FileHeld)) throw error;
    await holdFile(db, { ...read, reason: error.reason });
    progress.note(`Held ${nameOf(file)}: ${error.reason.message}`);
  }
}

async function readAndSeal(
  run: Run,
  reading: Reading,
  read: { sourceFileId: string; reader: string },
): Promise<SealedFile> {
  const { db, runId, progress, draining } = run;
  const { source, layout, file } = reading;
  const sums = Object.keys(layout.grouping.sum).length > 0;
  const text = readText(file, {
    source,
    clients: run.sourceClients,
    encoding: layout.encoding,
    signal: draining,
    onStoredBytes: (count) => progress.advance(count),
  });
  const records = parseCsv(text.chunks, toParseOptions(layout, source.limits));
  const stager = createStager(db, { ...read, runId, sums });
  let rowsRead = 0;
  for await (const batch of mapOrders(records, { layout, source, otherLayouts: reading.otherLayouts })) {
    throwIfDraining(run);
    if (!(await stager.add(batch))) return { kind: 'lost' };
    rowsRead += batch.rowsRead;
    progress.advance(0, batch.rowsRead);
  }
  if ((await stager.finish()) === null) return { kind: 'lost' };
  const { maxRejectedShare, maxCancelledShare } = source.limits;
  const thresholds = { maxRejectedShare, maxCancelledShare };
  return sealFile(db, { ...read, runId, rowsRead, contentSha256: text.digest(), sums, thresholds });
}

/** The last part of a file's address. */
function nameOf(file: SourceFile): string {
  return decodeURIComponent(file.uri.slice(file.uri.lastIndexOf('/') + 1));
}
