import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageFile } from './package-file.ts';

/** Where layouts are files: those that come with the project, and those of a deployment. What is in them is read elsewhere. */

const EXTENSION = '.yaml';

/** The folder of the layouts that come with the project. */
export const BUNDLED_LAYOUTS = fileURLToPath(packageFile('config/layouts'));

/** @returns path in the first of the folders that has the layout; null where none has. */
export function findLayoutFile(name: string, folders: readonly string[]): string | null {
  return (
    folders.map((folder) => join(folder, `${name}${EXTENSION}`)).find((file) => existsSync(file)) ?? null
  );
}

/** Names of all layouts in the folders, without the extension, sorted. */
export function listLayoutNames(folders: readonly string[]): readonly string[] {
  const files = folders.filter((folder) => existsSync(folder)).flatMap((folder) => readdirSync(folder));
  const layouts = files.filter((file) => file.endsWith(EXTENSION));
  return [...new Set(layouts.map((file) => file.slice(0, -EXTENSION.length)))].sort();
}
