import type { WriteAudit } from '../../audit/record-audit.ts';
import type { DatabaseTransaction } from '../../db/in-transaction.ts';
import { releaseFiles, requestReread } from '../../intake/files/release-files.ts';
import type { FileDecision } from '../../model/bulk.ts';
import { fileName } from '../../model/text/file-name.ts';
import { findFileRead } from '../../report/console/list-files.ts';

/** A reading of a file, as it was shown. */
export type DecidedFile = { readonly sourceFileId: string; readonly uri: string; readonly state: string };

type Decided = {
  readonly files: readonly DecidedFile[];
  readonly decidedBy: string;
  /** Writes the audit record, in the same transaction. @returns its id. */
  readonly audit: WriteAudit;
};

/**
 * Ends the hold of files that a person does not need. Commands and the console release through here.
 *
 * @returns the ids of the audit records, one for each file that was held until now.
 */
export async function releaseHeldFiles(
  trx: DatabaseTransaction,
  { files, reason, decidedBy, audit }: Decided & { readonly reason: string },
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
          summary: `${fileName(uri)} is released. A run still reads a new version under its name.`,
          reason,
          before: { state: 'held' },
          after: { state: 'released' },
        }),
      );
  }
  return audited;
}

/**
 * Lets the next run read files again. Commands and the console ask for it through here.
 *
 * @param options.filter what chose them, where they were not named one by one: then one record is written for all of them.
 * @returns how many will be read again, and the id of the last audit record; null where there are none.
 */
export async function rereadFilesAgain(
  trx: DatabaseTransaction,
  options: Decided & { readonly reason: string | null; readonly filter?: object },
): Promise<{ readonly files: number; readonly auditId: string | null }> {
  const { files, reason, decidedBy, audit, filter } = options;
  const request = (sourceFileIds: readonly string[]): Promise<number> =>
    requestReread(trx, { sourceFileIds, requestedBy: decidedBy });
  const record = { action: 'reread_file', subjectKind: 'file', reason } as const;
  if (filter !== undefined) {
    const count = await request(files.map(({ sourceFileId }) => sourceFileId));
    const summary = `The next run reads ${count} files again, if they still exist in the same version.`;
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

/** Releases one file, or has it read again, as it was shown. @returns the id of the audit record; null where it is in another state by now. */
export async function decideFile(
  trx: DatabaseTransaction,
  decided: {
    readonly decision: FileDecision;
    /** As `findFileRead` names it. */
    readonly shown: { readonly sourceFileId: string; readonly state: string };
    readonly reason: string;
  } & Omit<Decided, 'files'>,
): Promise<string | null> {
  const { decision, shown, ...rest } = decided;
  const file = await findFileRead(trx, shown.sourceFileId);
  if (file === null || file.state !== shown.state) return null;
  if (decision === 'reread') return (await rereadFilesAgain(trx, { files: [file], ...rest })).auditId;
  const [auditId] = await releaseHeldFiles(trx, { files: [file], ...rest });
  return auditId ?? null;
}
