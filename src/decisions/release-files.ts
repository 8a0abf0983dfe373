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
 * @returns the ids of the audit records, one for each file that was still held.
 */
export async function releaseHeldFiles(
  trx: DatabaseTransaction,
  { files, reason, decidedBy, audit }: DecidedFiles & DecidedWhy,
): Promise<readonly string[]> {
  const audited: string[] = [];
  for (const { sourceFileId, uri } of files) {
    const released = await releaseFiles(trx, {
      sourceFileIds: [sourceFileId],
      reason,
      releasedBy: decidedBy,
    });
    if (released > 0)
      audited.push(
        await audit({
          action: 'release_file',
          subjectKind: 'file',
          subject: sourceFileId,
          summary: `The rows of ${fileName(uri)} are discarded. A run still reads a new version under its name.`,
          reason,
          before: { state: 'held' },
          after: { state: 'released' },
        }),
      );
  }
  return audited;
}

/**
 * Decides that held files are newer than those which they contradict.
 *
 * @returns the ids of the audit records, one for each file that was held for that reason.
 */
export async function takeAsNewest(
  trx: DatabaseTransaction,
  { files, reason, decidedBy, audit }: DecidedFiles & DecidedWhy,
): Promise<readonly string[]> {
  const audited: string[] = [];
  for (const { sourceFileId, uri } of files) {
    if ((await ruleNewest(trx, { sourceFileIds: [sourceFileId], ruledBy: decidedBy })) === 0) continue;
    audited.push(
      await audit({
        action: 'release_file',
        subjectKind: 'file',
        subject: sourceFileId,
        summary: `${fileName(uri)} is newer than all files of its source so far. The next run reads it as such.`,
        reason,
        before: { state: 'held' },
        after: { state: 'held', is_newest: true },
      }),
    );
  }
  return audited;
}

/**
 * Requests that the next run reads files again. Commands and the console both call this function.
 *
 * @param options.filter the filter that selected the files, if they were not named individually. In that
 * case, one audit record is written for all of them.
 * @returns the number of files that will be read again, and the id of the last audit record (null if there is
 * none).
 */
export async function rereadFilesAgain(
  trx: DatabaseTransaction,
  options: DecidedFiles & { readonly reason: string | null; readonly filter?: object },
): Promise<{ readonly files: number; readonly auditId: string | null }> {
  const { files, reason, decidedBy, audit, filter } = options;
  const request = (sourceFileIds: readonly string[]): Promise<number> =>
    requestReread(trx, { sourceFileIds, requestedBy: decidedBy });
  const record = { action: 'reread_file', subjectKind: 'file', reason } as const;
  if (filter !== undefined) {
    const count = await request(files.map(({ sourceFileId }) => sourceFileId));
    const summary = `The next run reads ${plural(count, 'file')} again, if ${count === 1 ? 'it still exists' : 'they still exist'} in the same version.`;
    return { files: count, auditId: await audit({ ...record, subject: null, summary, filter }) };
  }
  let count = 0;
  let auditId: string | null = null;
  for (const { sourceFileId, uri, state } of files) {
    if ((await request([sourceFileId])) === 0) continue;
    count += 1;
    auditId = await audit({
      ...record,
      subject: sourceFileId,
      summary: `The next run reads ${fileName(uri)} again, if it still exists in the same version.`,
      before: { state },
    });
  }
  return { files: count, auditId };
}

/**
 * Releases one file, or has it read again, if it is still in the state that was shown. @returns the id of the
 * audit record. Null if the file has changed its state.
 */
export async function decideFile(
  trx: DatabaseTransaction,
  decided: DecidedWhy & {
    readonly decision: FileDecision;
    /** The file and state as `findFileRead` returns them. */
    readonly shown: { readonly sourceFileId: string; readonly state: string };
  },
): Promise<string | null> {
  const { decision, shown, ...rest } = decided;
  const file = await findFileRead(trx, shown.sourceFileId);
  if (file === null || file.state !== shown.state) return null;
  if (decision === 'reread') return (await rereadFilesAgain(trx, { files: [file], ...rest })).auditId;
  const [auditId] = await releaseHeldFiles(trx, { files: [file], ...rest });
  return auditId ?? null;
}
