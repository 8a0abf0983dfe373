import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createTwoFilesPatch } from 'diff';
import type { ComposedFile } from './compose-files.ts';

/** What becomes of a file. `differs`: it is there with another content, and stays. */
export type FileFate =
  | { readonly path: string; readonly state: 'new' | 'same' }
  | { readonly path: string; readonly state: 'differs'; readonly diff: string };

/** Compares what would be written with what is there. Nothing is written. */
export function compareFiles(folder: string, files: readonly ComposedFile[]): readonly FileFate[] {
  return files.map(({ path, text }): FileFate => {
    const there = join(folder, path);
    if (!existsSync(there)) return { path, state: 'new' };
    const before = readFileSync(there, 'utf8');
    if (before === text) return { path, state: 'same' };
    return { path, state: 'differs', diff: createTwoFilesPatch(path, `${path} (proposed)`, before, text) };
  });
}

/** Writes the files that are not there. One that appears meanwhile is not overwritten: the operating system refuses. */
export function writeNewFiles(
  folder: string,
  files: readonly ComposedFile[],
  fates: readonly FileFate[],
): void {
  const isNew = new Set(fates.filter(({ state }) => state === 'new').map(({ path }) => path));
  for (const { path, text } of files) {
    if (!isNew.has(path)) continue;
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { flag: 'wx' });
  }
}
