import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { packageFile } from '../core/package.ts';
import { isSection } from './salvage.ts';

const EXTENSION = '.yaml';

/** The folder with the layouts of the project. */
export const BUNDLED_LAYOUTS = fileURLToPath(packageFile('config/layouts'));

/** One file of a layout, as it was read. */
export type LayoutFile = { readonly path: string; readonly text: string };

/** The name in `extends: NAME`, which is on a line of its own. */
const EXTENDS = /^extends:[ \t]*(["']?)([\w.-]+)\1[ \t]*(?:#.*)?$/m;

/**
 * Reads a layout's file and those that it extends, the nearest first. A layout may extend one of the same name in a
 * later folder.
 *
 * @returns the files, and the name that the last one extends although there is no such layout; null if there is none
 * missing. No file if the layout itself is missing.
 */
export function readLayoutFiles(
  name: string,
  folders: readonly string[],
): { readonly files: readonly LayoutFile[]; readonly lacks: string | null } {
  const files: LayoutFile[] = [];
  for (let next: string | null = name; next !== null; ) {
    const path: string | undefined = folders
      .map((folder) => join(folder, `${next}${EXTENSION}`))
      .filter((file) => existsSync(file))
      .find((one) => files.every((file) => file.path !== one));
    if (path === undefined) return { files, lacks: next };
    const text: string = readFileSync(path, 'utf8');
    files.push({ path, text });
    next = EXTENDS.exec(text)?.[2] ?? null;
  }
  return { files, lacks: null };
}

/**
 * Merges the contents of a layout's files, the nearest first: sections are merged key by key, and any other value of a
 * nearer file replaces that of a farther one.
 */
export function mergeLayouts(contents: readonly unknown[]): unknown {
  const { extends: _, ...merged } = contents.reduceRight<Section>(
    (base, own) => mergeSections(base, isSection(own) ? own : {}),
    {},
  );
  return contents.length === 1 ? contents[0] : merged;
}

type Section = Readonly<Record<string, unknown>>;

function mergeSections(base: Section, own: Section): Section {
  const merged = new Map(Object.entries(base));
  for (const [key, value] of Object.entries(own)) {
    const under = merged.get(key);
    merged.set(key, isSection(value) && isSection(under) ? mergeSections(under, value) : value);
  }
  return Object.fromEntries(merged);
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
  try {
    const { files } = readLayoutFiles(layout, layoutFolders(configPath));
    const content = mergeLayouts(files.map(({ text }) => parse(text) as unknown));
    return isSection(content) ? content[part] : null;
  } catch {
    return null;
  }
}
