import { accessSync, constants, cpSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shortPath } from '../../config/locate.ts';
import { EXIT } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';
import { packageFile } from '../../core/package.ts';

const FOLDER_OF_PACKAGE = 'influencer-sync-demo';

/**
 * Prepares the folder with the demo's configuration, exports, database and report: `config/demo` in a clone.
 * The folder of an installed package may be read-only, so its files are copied to `influencer-sync-demo` in
 * the current folder. In both cases the database and report of an earlier demo are removed; other files stay.
 *
 * @throws KnownError `demo_folder` (exit 2) if the current folder is not writable.
 */
export function prepareDemoFolder(): string {
  const bundled = bundledFolder();
  const folder = demoFolder();
  try {
    mkdirSync(folder, { recursive: true });
    for (const made of ['.data', 'report.html']) rmSync(join(folder, made), { recursive: true, force: true });
    if (folder !== bundled)
      cpSync(bundled, folder, { recursive: true, filter: (path) => !path.includes('.data') });
    return folder;
  } catch (cause) {
    throw new KnownError({
      code: 'demo_folder',
      message: 'The demo cannot write its files here.',
      where: shortPath(folder),
      help: 'Start it in a folder that this user may write to.',
      safe: 'Nothing was run.',
      exitCode: EXIT.configuration,
      cause,
    });
  }
}

/** The demo's folder: see `prepareDemoFolder`. */
export function demoFolder(): string {
  const bundled = bundledFolder();
  const isInstalled = bundled.includes(`${sep}node_modules${sep}`);
  return isInstalled || !isWritable(bundled) ? resolve(FOLDER_OF_PACKAGE) : bundled;
}

function bundledFolder(): string {
  return fileURLToPath(packageFile('config/demo/'));
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
