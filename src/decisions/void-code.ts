import {
  accessSync,
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { StatementSettings } from '../config/schema.ts';
import { refusal } from '../core/known-error.ts';
import type { DatabaseTransaction } from '../db/in-transaction.ts';
import { type CodeToVoid, previewVoid, type VoidPreview } from '../money/leaks/preview-void.ts';
import type { DecidedWhy } from '../ops/record-audit.ts';

export type VoidDecision = CodeToVoid &
  Pick<DecidedWhy, 'audit'> & {
    readonly settings: StatementSettings;
    readonly now: Date;
    /** Seal of the preview that the person saw. Null: the person decides without one. */
    readonly seen: string | null;
  };

/**
 * Writes a void of a code into terms.csv, with the reason, and records who decided. Commands and the console both call
 * this function. The file is replaced as a whole, and last: if that fails, there is no audit record either. If the
 * process ends between the file and the commit, the file has the void, and the same decision again records it.
 *
 * @returns what the void does.
 * @throws KnownError `void_changed` (exit 2) if that is not what the person saw, `terms_not_written` (exit 2) with the row
 *   to add, and those of `previewVoid`.
 */
export async function voidCode(
  trx: DatabaseTransaction,
  { seen, audit, ...wanted }: VoidDecision,
): Promise<VoidPreview> {
  const preview = await previewVoid(trx, wanted);
  const { code, day, file, ended, months, row, isWritten } = preview;
  if (seen !== null && seen !== preview.seal)
    throw refusal({
      code: 'void_changed',
      message: 'The terms, or what the orders earn, have changed since the page showed them.',
      where: code,
      help: 'Look at it again.',
    });
  await audit({
    action: 'void_code',
    subjectKind: 'code',
    subject: code,
    summary: `The code ${code} earns nothing from ${day}.`,
    reason: wanted.reason,
    after: { day, ended_lines: ended, months: [...new Set(months.map(({ month }) => month))] },
  });
  if (isWritten) return preview;
  const failure = file === null ? 'statements.terms is not set.' : replaceFile(file, preview);
  if (failure === null) return preview;
  throw refusal({
    code: 'terms_not_written',
    message: `The terms were not written: ${failure}`,
    where: file ?? 'statements.terms',
    help: `${ended.length === 0 ? 'Add' : `End line ${ended.join(', ')} the day before, and add`} this row yourself, below the columns of the file with \`reason\` as the last one: ${row}`,
  });
}

/**
 * Replaces a file by a new one with the same rights: written beside it and synced, then renamed. A symbolic link stays.
 * Only one process at a time can create the new one, and it compares the old one after that, so none undoes another.
 *
 * @returns why it was not done.
 */
function replaceFile(named: string, { before, text }: VoidPreview): string | null {
  let written: string | null = null;
  try {
    const path = realpathSync(named);
    accessSync(path, constants.W_OK);
    const file = openSync(`${path}.new`, 'wx', statSync(path).mode & 0o777);
    written = `${path}.new`;
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    if (readFileSync(path, 'utf8') !== before) return 'somebody is changing the file.';
    renameSync(written, path);
    written = null;
    return null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EEXIST'
      ? `${named}.new exists. Remove it if no other process is writing it.`
      : `this user may not replace the file (${String(code)}).`;
  } finally {
    if (written !== null) rmSync(written, { force: true });
  }
}
