import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { BUNDLED_LAYOUTS, findLayoutFile, listLayoutNames } from '../package/layout-files.ts';
import { isSection } from './salvage.ts';

/**
 * Where layouts are looked for, in this order: `layouts/` beside the configuration file, so that a deployment can add or replace one,
 * then those that come with the project.
 *
 * @param configPath absolute path of the configuration file.
 */
export function layoutFolders(configPath: string): readonly string[] {
  return [...new Set([join(dirname(configPath), 'layouts'), BUNDLED_LAYOUTS])];
}

/** Names of all layouts that can be found, without `.yaml`, sorted. */
export function layoutNames(configPath: string): readonly string[] {
  return listLayoutNames(layoutFolders(configPath));
}

/**
 * The status words that a layout names: those that it credits, translates, and translates to. None where the layout is missing or is not
 * what it should be, which is told when the source is read.
 */
export function statusWords(configPath: string, layout: string): readonly string[] {
  const path = findLayoutFile(layout, layoutFolders(configPath));
  if (path === null) return [];
  const status = readStatus(readFileSync(path, 'utf8'));
  if (!isSection(status)) return [];
  const words = isSection(status.words) ? Object.entries(status.words).flat() : [];
  return [...(Array.isArray(status.credited) ? status.credited : []), ...words].map((word) =>
    String(word).toLowerCase().replace(/\s+/g, '_'),
  );
}

function readStatus(text: string): unknown {
  try {
    const content: unknown = parse(text);
    return isSection(content) ? content.status : null;
  } catch {
    return null;
  }
}
