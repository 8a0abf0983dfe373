import { z } from 'zod';
import { releaseHeldFiles, rereadFilesAgain } from '../../decisions/release-files.ts';
import { findFileRead, type ListedFile } from '../../reports/files/list-files.ts';
import { type Change, defineAction, Refused } from '../console-page.ts';
import { idField, reason, text } from '../form-fields.ts';

/** The file, and its state as the page showed it. */
const fileForm = z.object({ file: idField('file'), state: text, reason });
type FileForm = z.infer<typeof fileForm>;

/** Releases one held file. */
export const releaseFileAction = defineAction<FileForm>({
  path: '/files/release',
  form: fileForm,
  async perform({ trx, actor, audit }, form) {
    const file = await findShown(trx, form);
    const [auditId] = await releaseHeldFiles(trx, {
      files: [file],
      reason: form.reason,
      decidedBy: actor.name,
      audit,
    });
    if (auditId === undefined) throw new Refused('The file is not held, so there is nothing to release.');
    return auditId;
  },
});

/** Marks one file to be read again by the next run. */
export const rereadFileAction = defineAction<FileForm>({
  path: '/files/reread',
  form: fileForm,
  async perform({ trx, actor, audit }, form) {
    const file = await findShown(trx, form);
    const { auditId } = await rereadFilesAgain(trx, {
      files: [file],
      reason: form.reason,
      decidedBy: actor.name,
      audit,
    });
    if (auditId === null)
      throw new Refused('A later reading has replaced this one. Open it on the page Files.');
    return auditId;
  },
});

async function findShown(trx: Change['trx'], { file: id, state }: FileForm): Promise<ListedFile> {
  const file = await findFileRead(trx, id);
  if (file === null) throw new Refused(`There is no file ${id}.`);
  if (file.state !== state)
    throw new Refused(`The file is now ${file.state}. The page showed it as ${state}.`);
  return file;
}
