import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import { EXIT } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';
import { codeOf } from '../../store/list-folder-files.ts';
import type { ComposedFile } from './compose-files.ts';

/** What happens to a file. `differs`: it exists with other content and is not overwritten. */
export type FileFate =
  | { readonly path: string; readonly state: 'new' | 'same' }
  | { readonly path: string; readonly state: 'differs'; readonly diff: string };

/** Compares the files to write with existing ones, without writing anything. */
export function compareFiles(folder: string, files: readonly ComposedFile[]): readonly FileFate[] {
  return files.map(({ path, text }): FileFate => {
    const there = join(folder, path);
    if (!existsSync(there)) return { path, state: 'new' };
    const before = readFileSync(there, 'utf8');
    if (before === text) return { path, state: 'same' };
    return { path, state: 'differs', diff: createTwoFilesPatch(path, `${path} (proposed)`, before, text) };
  });
}

/**
 * Writes the files that do not exist. If one was created in the meantime, the write fails instead of
 * overwriting it (flag `wx`).
 *
 * @throws KnownError `file_not_written` (exit 2).
 */
export function writeNewFiles(
  folder: string,
  files: readonly ComposedFile[],
  fates: readonly FileFate[],
): void {
  const isNew = new Set(fates.filter(({ state }) => state === 'new').map(({ path }) => path));
  for (const { path, text } of files) {
    if (!isNew.has(path)) continue;
    try {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text, { flag: 'wx' });
    } catch (cause) {
      throw new KnownError({
        code: 'file_not_written',
        message: `${path} could not be written (${codeOf(cause) ?? 'unknown'}).`,
        where: folder,
        help: 'Give --out a folder that this user may write to and that has space, or a name that does not exist yet.',
        safe: 'No file was overwritten. The files listed before it were written.',
        exitCode: EXIT.configuration,
        cause,
      });
    }
  }
}
