import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { packageFile } from '../core/package.ts';
import { isSection } from './salvage.ts';

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

/**
 * The folders with layouts, in order of precedence: `layouts/` next to the configuration file, where a
 * deployment can add or replace layouts, then those of the project.
 */
export function layoutFolders(configPath: string): readonly string[] {
  return [...new Set([join(dirname(configPath), 'layouts'), BUNDLED_LAYOUTS])];
}

/** Names of all available layouts, without `.yaml`, sorted. */
export function layoutNames(configPath: string): readonly string[] {
  return listLayoutNames(layoutFolders(configPath));
}

/**
 * The status words in a layout: those that it credits, translates, and translates to. Empty if the layout is
 * missing or invalid, which is reported when the source is read.
 */
export function statusWords(configPath: string, layout: string): readonly string[] {
  const status = readPart(configPath, layout, 'status');
  if (!isSection(status)) return [];
  const words = isSection(status.words) ? Object.entries(status.words).flat() : [];
  return [...(Array.isArray(status.credited) ? status.credited : []), ...words].map((word) =>
    String(word).toLowerCase().replace(/\s+/g, '_'),
  );
}

/** True if a layout is known to name no column of notes. */
export function lacksNotes(configPath: string, layout: string): boolean {
  const columns = readPart(configPath, layout, 'columns');
  return isSection(columns) && columns.notes === undefined;
}

/** Null if the layout is missing or invalid. */
function readPart(configPath: string, layout: string, part: 'status' | 'columns'): unknown {
  const path = findLayoutFile(layout, layoutFolders(configPath));
  if (path === null) return null;
  try {
    const content: unknown = parse(readFileSync(path, 'utf8'));
    return isSection(content) ? content[part] : null;
  } catch {
    return null;
  }
}
