import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFile } from './package-file.ts';

/** Finds layout files: those of the project, and those of a deployment. Their content is read elsewhere. */

const EXTENSION = '.yaml';

/** The folder with the layouts of the project. */
export const BUNDLED_LAYOUTS = fileURLToPath(packageFile('config/layouts'));

/** Finds a layout. @returns its path in the first folder that contains it; null if there is none. */
export function findLayoutFile(name: string, folders: readonly string[]): string | null {
  return (
    folders.map((folder) => join(folder, `${name}${EXTENSION}`)).find((file) => existsSync(file)) ?? null
  );
}

/** Lists the names of all layouts in the folders, without the extension, sorted. */
export function listLayoutNames(folders: readonly string[]): readonly string[] {
  const files = folders.filter((folder) => existsSync(folder)).flatMap((folder) => readdirSync(folder));
  const layouts = files.filter((file) => file.endsWith(EXTENSION));
  return [...new Set(layouts.map((file) => file.slice(0, -EXTENSION.length)))].sort();
}
