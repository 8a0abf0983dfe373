import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shortPath } from '../../config/locate.ts';
import { configurationError } from '../../core/known-error.ts';
import { packageFile } from '../../core/package.ts';

/**
 * Prepares the folder in which the demo works: a copy of its configuration and exports. The database and
 * report of an earlier demo are removed; other files stay. The bundled files are never written to, so that a
 * copy of them never contains a ledger.
 *
 * @throws KnownError `demo_folder` (exit 2) if the current folder is not writable.
 */
export function prepareDemoFolder(): string {
  const folder = demoFolder();
  try {
    mkdirSync(folder, { recursive: true });
    for (const made of ['.data', 'report.html']) rmSync(join(folder, made), { recursive: true, force: true });
    cpSync(fileURLToPath(packageFile('config/demo/')), folder, { recursive: true });
    return folder;
  } catch (cause) {
    throw configurationError({
      code: 'demo_folder',
      message: 'The demo cannot write its files here.',
      where: shortPath(folder),
      help: 'Start it in a folder that this user may write to.',
      safe: 'Nothing was run.',
      cause,
    });
  }
}

/** The demo's folder, in the current one. */
export function demoFolder(): string {
  return resolve('influencer-sync-demo');
}
