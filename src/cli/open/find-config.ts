import { lstatSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Environment } from '../../config/environment/read-variable.ts';
import { shortPath } from '../../config/locate.ts';
import { configurationError, type Problem } from '../../core/known-error.ts';
import { shellWord } from '../../core/text/printable.ts';

/** Where a command finds its configuration. */
export type ConfigSearch = {
  /** Null if there is none. A file that a person names need not exist. */
  readonly path: string | null;
  /** Whether `--config` or INFLUENCER_SYNC_CONFIG names it. */
  readonly isNamed: boolean;
  /** The folders that were searched, from the current one upwards. */
  readonly folders: readonly string[];
  /** Files that only a person may choose. */
  readonly passedOver: readonly Problem[];
};

/** In each folder, in this order. */
const NAMES = ['pipeline.yaml', 'config/pipeline.yaml'];

/**
 * Finds the configuration of a command: what `--config` names, else INFLUENCER_SYNC_CONFIG, else the nearest
 * `pipeline.yaml` or `config/pipeline.yaml` in the current folder and those above it.
 *
 * @param named the value of `--config`.
 * @param folder the current folder, absolute.
 */
export function findConfig(
  named: string | undefined,
  env: Environment = process.env,
  folder: string = process.cwd(),
): ConfigSearch {
  const path = named ?? (env.INFLUENCER_SYNC_CONFIG || null);
  if (path !== null) return { path, isNamed: true, folders: [], passedOver: [] };
  const folders = [folder];
  const passedOver: Problem[] = [];
  for (const current of folders) {
    for (const candidate of NAMES.map((name) => join(current, name))) {
      if (!isThere(candidate)) continue;
      const reason = whyNot(candidate, current === folder);
      if (reason === null) return { path: candidate, isNamed: false, folders, passedOver };
      const where = shortPath(candidate, folder);
      if (passedOver.some((one) => one.where === where)) continue;
      passedOver.push({
        where,
        message: `${reason}, so no command takes it by itself.`,
        help: `If it is yours, name it:  --config ${shellWord(where)}`,
      });
    }
    if (dirname(current) !== current) folders.push(dirname(current));
  }
  return { path: null, isNamed: false, folders, passedOver };
}

/**
 * Requires that a configuration was found.
 *
 * @throws KnownError `config_missing` (exit 2) with the folders that were searched.
 */
export function requireConfigPath({ path, folders, passedOver }: ConfigSearch): string {
  if (path !== null) return path;
  throw configurationError({
    code: 'config_missing',
    message: 'There is no configuration in this folder, nor in one above it.',
    problems: passedOver,
    help: `Looked for ${NAMES.join(' and ')} in ${folders.join(', ')}.\nWrite one for your exports:  npx influencer-sync init ./exports\nIf it is elsewhere, name it with --config or INFLUENCER_SYNC_CONFIG.\nFor a trial without a configuration:  npx influencer-sync demo`,
    safe: 'Nothing was read or sent.',
  });
}

/** A file that exists and cannot be read counts: the command then says so, instead of taking another one. */
function isThere(path: string): boolean {
  try {
    return !lstatSync(path).isDirectory();
  } catch (error) {
    return !['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code));
  }
}

/** Why a file is left to a person's choice; null if it is not. */
function whyNot(path: string, isHere: boolean): string | null {
  if (isSample(path)) return 'It is a sample that comes with influencer-sync';
  if (!isHere && !isTrusted(path)) return 'It belongs to another user';
  return null;
}

/** Whether a file is below `config/` of this program: of the clone that runs, of another one, or of an installed package. */
function isSample(path: string): boolean {
  try {
    let at = realpathSync(path);
    while (dirname(at) !== at) {
      at = dirname(at);
      if (basename(at) === 'config' && isOfProgram(dirname(at))) return true;
    }
  } catch {
    // A link to nothing is no sample.
  }
  return false;
}

function isOfProgram(folder: string): boolean {
  try {
    const content: unknown = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return (
      typeof content === 'object' &&
      content !== null &&
      'name' in content &&
      content.name === 'influencer-sync'
    );
  } catch {
    return false;
  }
}

/**
 * Whether this user or the administrator wrote a file. Above the current folder there may be one that everybody can write
 * to, as /tmp, and a configuration says where the key of the service is sent.
 */
function isTrusted(path: string): boolean {
  const own = process.getuid?.();
  if (own === undefined) return true;
  try {
    return [lstatSync(path), statSync(path)].every(({ uid }) => uid === own || uid === 0);
  } catch {
    return false;
  }
}
