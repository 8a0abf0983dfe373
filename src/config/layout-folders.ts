import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { BUNDLED_LAYOUTS, findLayoutFile, listLayoutNames } from '../core/package/layout-files.ts';
import { isSection } from './salvage.ts';

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
