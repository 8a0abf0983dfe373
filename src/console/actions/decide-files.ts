import { z } from 'zod';
import { acknowledgeChecks, expectDate } from '../../decisions/decide-checks.ts';
import { releaseHeldFiles, rereadFilesAgain, takeAsNewest } from '../../decisions/release-files.ts';
import { plural } from '../../render/text.ts';
import { findFileRead, type ListedFile, lastReading } from '../../reports/files/list-files.ts';
import { type Change, type ConsoleAction, defineAction, Refused } from '../console-page.ts';
import { idField, text } from '../form-fields.ts';

/** The file, and its state as the page showed it. */
const fileForm = z.object({ file: idField('file'), state: text });
type FileForm = z.infer<typeof fileForm>;

async function findShown(trx: Change['trx'], { file: id, state }: FileForm): Promise<ListedFile> {
  const file = await findFileRead(trx, id);
  if (file === null) throw new Refused(`There is no file ${id}.`);
  if (file.state !== state)
    throw new Refused(`The file is now ${file.state}. The page showed it as ${state}.`);
  return file;
}

const findingField = idField('finding');

export const fileActions: readonly ConsoleAction[] = [
  /** Releases one held file. */
  defineAction<FileForm>({
    path: '/files/release',
    form: fileForm,
    async perform({ trx, by }, form) {
      const file = await findShown(trx, form);
      if ((await releaseHeldFiles(trx, { files: [file], ...by })) === 0)
        throw new Refused('The file is not held, so there is nothing to release.');
    },
  }),
  /** Decides that one file is newer than those which it contradicts. */
  defineAction({
    path: '/files/newest',
    form: fileForm.extend({ shown: idField('last file that its page knew') }),
    async perform({ trx, by }, form) {
      const file = await findShown(trx, form);
      if ((await takeAsNewest(trx, { files: [file], ...by })) === 0)
        throw new Refused(
          'The file is not held because it contradicts another one, or somebody has said that it is the newest. Its page says which.',
        );
      // Last: it is not known to be newer than a file that nobody had seen.
      if ((await lastReading(trx, form.file)) !== form.shown)
        throw new Refused(`Another file of ${file.source} was read since the page was shown.`);
    },
  }),
  /** Marks one file to be read again by the next run. */
  defineAction<FileForm>({
    path: '/files/reread',
    form: fileForm,
    async perform({ trx, by }, form) {
      const file = await findShown(trx, form);
      if ((await rereadFilesAgain(trx, { files: [file], ...by })) === 0)
        throw new Refused('A later reading has replaced this one. Open it on the page Files.');
    },
  }),
  /** Acknowledges findings: the file is correct although checks found it unusual. */
  defineAction({
    path: '/checks/acknowledge',
    form: z.object({
      finding: z.union(
        [findingField.transform((id) => [id]), z.array(findingField)],
        'The form does not name a finding.',
      ),
    }),
    async perform({ trx, by }, { finding: findingIds }) {
      const { findings } = await acknowledgeChecks(trx, { findingIds, ...by });
      if (findings.length === 0)
        throw new Refused('Somebody has acknowledged it already, or the file was read again.');
      if (findings.length < findingIds.length)
        throw new Refused(
          `Only ${plural(findings.length, 'finding is', 'findings are')} still open: somebody has acknowledged the others, or the file was read again.`,
        );
    },
  }),
  /** Records a date on which unusual numbers of orders are expected. The name of the date is the reason. */
  defineAction({
    path: '/checks/expect-date',
    form: z.object({
      day: z.iso.date({ error: 'Enter the date like 2026-11-27.' }),
      source: text.default(''),
    }),
    async perform({ trx, config, reason: name, by }, { day, source }) {
      if (source !== '' && config.sources[source] === undefined)
        throw new Refused(`There is no source ${source}.`);
      await expectDate(trx, { day, name, source: source || null, ...by });
    },
  }),
];
