import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { packageFile } from '../package/package-file.ts';
import { isSection } from './salvage.ts';

const BUNDLED = fileURLToPath(packageFile('config/layouts'));

/**
 * Where layouts are looked for, in this order: `layouts/` beside the configuration file, so that a deployment can add or replace one,
 * then those that come with the project.
 *
 * @param configPath absolute path of the configuration file.
 */
export function layoutFolders(configPath: string): readonly string[] {
  return [...new Set([join(dirname(configPath), 'layouts'), BUNDLED])];
}

/** Names of all layouts that can be found, without `.yaml`, sorted. */
export function layoutNames(configPath: string): readonly string[] {
  const files = layoutFolders(configPath).flatMap((folder) =>
    existsSync(folder) ? readdirSync(folder) : [],
  );
  return [
    ...new Set(files.filter((file) => file.endsWith('.yaml')).map((file) => file.slice(0, -'.yaml'.length))),
  ].sort();
}

/**
 * The status words that a layout names: those that it credits, translates, and translates to. None where the layout is missing or is not
 * what it should be, which is told when the source is read.
 */
export function statusWords(configPath: string, layout: string): readonly string[] {
  const path = layoutFolders(configPath)
    .map((folder) => join(folder, `${layout}.yaml`))
    .find((file) => existsSync(file));
  if (path === undefined) return [];
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
