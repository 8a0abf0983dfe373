import type { FileDecision } from '../core/bulk.ts';
import { fileName } from '../core/text/file-name.ts';
import { plural } from '../core/text/plural.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { releaseFiles, requestReread, ruleNewest } from '../intake/files/release-files.ts';
import type { Decided, DecidedWhy } from '../ops/record-audit.ts';
import { findFileRead } from '../reports/files/list-files.ts';

/** One reading of a file, in the state that was shown to the person. */
export type DecidedFile = { readonly sourceFileId: string; readonly uri: string; readonly state: string };

type DecidedFiles = Decided & { readonly files: readonly DecidedFile[] };

/**
 * Releases held files that a person does not need. Commands and the console both call this function.
 *
 * @returns the number of files that were still held. Each has an audit record.
 */
export async function releaseHeldFiles(
  trx: DatabaseTransaction,
  { files, reason, decidedBy, audit }: DecidedFiles & DecidedWhy,
): Promise<number> {
  let count = 0;
  for (const { sourceFileId, uri } of files) {
    const sourceFileIds = [sourceFileId];
    if ((await releaseFiles(trx, { sourceFileIds, reason, releasedBy: decidedBy })) === 0) continue;
    count += 1;
    await audit({
      action: 'release_file',
      subjectKind: 'file',
      subject: sourceFileId,
      summary: `The rows of ${fileName(uri)} are discarded. A run still reads a new version under its name.`,
      reason,
      before: { state: 'held' },
      after: { state: 'released' },
    });
  }
  return count;
}

/**
 * Decides that held files are newer than those which they contradict.
 *
 * @returns the number of files that were held for that reason. Each has an audit record.
 */
export async function takeAsNewest(
  trx: DatabaseTransaction,
  { files, reason, decidedBy, audit }: DecidedFiles & DecidedWhy,
): Promise<number> {
  let count = 0;
  for (const { sourceFileId, uri } of files) {
    if ((await ruleNewest(trx, { sourceFileIds: [sourceFileId], ruledBy: decidedBy })) === 0) continue;
    count += 1;
    await audit({
      action: 'release_file',
      subjectKind: 'file',
      subject: sourceFileId,
      summary: `${fileName(uri)} is newer than all files of its source so far. The next run reads it as such.`,
      reason,
      before: { state: 'held' },
      after: { state: 'held', is_newest: true },
    });
  }
  return count;
}

/**
 * Requests that the next run reads files again. Commands and the console both call this function.
 *
 * @param options.filter the filter that selected the files, if they were not named individually. In that
 * case, one audit record is written for all of them.
 * @returns the number of files that will be read again.
 */
export async function rereadFilesAgain(
  trx: DatabaseTransaction,
  options: DecidedFiles & { readonly reason: string | null; readonly filter?: object },
): Promise<number> {
  const { files, reason, decidedBy, audit, filter } = options;
  const request = (sourceFileIds: readonly string[]): Promise<number> =>
    requestReread(trx, { sourceFileIds, requestedBy: decidedBy });
  const record = { action: 'reread_file', subjectKind: 'file', reason } as const;
  if (filter !== undefined) {
    const count = await request(files.map(({ sourceFileId }) => sourceFileId));
    const summary = `The next run reads ${plural(count, 'file')} again, if ${count === 1 ? 'it still exists' : 'they still exist'} in the same version.`;
    await audit({ ...record, subject: null, summary, filter });
    return count;
  }
  let count = 0;
  for (const { sourceFileId, uri, state } of files) {
    if ((await request([sourceFileId])) === 0) continue;
    count += 1;
    await audit({
      ...record,
      subject: sourceFileId,
      summary: `The next run reads ${fileName(uri)} again, if it still exists in the same version.`,
      before: { state },
    });
  }
  return count;
}

/**
 * Releases one file, or has it read again, if it is still in the state that was shown. @returns false if the file has
 * changed its state.
 */
export async function decideFile(
  trx: DatabaseTransaction,
  decided: DecidedWhy & {
    readonly decision: FileDecision;
    /** The file and state as `findFileRead` returns them. */
    readonly shown: { readonly sourceFileId: string; readonly state: string };
  },
): Promise<boolean> {
  const { decision, shown, ...rest } = decided;
  const file = await findFileRead(trx, shown.sourceFileId);
  if (file === null || file.state !== shown.state) return false;
  const change = decision === 'reread' ? rereadFilesAgain : releaseHeldFiles;
  return (await change(trx, { files: [file], ...rest })) > 0;
}
