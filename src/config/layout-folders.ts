import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const BUNDLED = fileURLToPath(new URL('../../config/layouts', import.meta.url));

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
