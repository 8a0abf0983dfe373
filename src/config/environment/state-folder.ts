import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';

import type { PipelineConfig } from '../schema.ts';

const OWN = 'influencer-sync';

/**
 * Lets an embedded ledger keep a copy of its journals in the user's state folder, unless it has a mark. `loadConfig` does
 * not do this, because the demo leaves nothing in the user's home.
 */
export function withStateFolder(config: PipelineConfig, env: Readonly<NodeJS.ProcessEnv>): PipelineConfig {
  const { database, ledger } = config;
  if (database.url !== '' || ledger.mark !== null) return config;
  return { ...config, ledger: { ...ledger, stateFolder: findStateFolder(env) ?? '' } };
}

/**
 * The folder in which programs keep the state of this user: `$XDG_STATE_HOME` if it is set, else the usual place of the
 * system.
 *
 * @returns an absolute path, which need not exist; null if this user has no home folder.
 */
export function findStateFolder(
  env: Readonly<NodeJS.ProcessEnv>,
  platform: NodeJS.Platform = process.platform,
): string | null {
  const named = env.XDG_STATE_HOME ?? '';
  // The XDG specification says to ignore a relative path.
  if (isAbsolute(named)) return join(named, OWN);
  if (platform === 'win32' && env.LOCALAPPDATA !== undefined) return join(env.LOCALAPPDATA, OWN);
  const home = readHome();
  if (home === null) return null;
  if (platform === 'win32') return join(home, 'AppData', 'Local', OWN);
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', OWN);
  return join(home, '.local', 'state', OWN);
}

function readHome(): string | null {
  try {
    const home = homedir();
    return isAbsolute(home) ? home : null;
  } catch {
    // A user id without an entry in passwd, and HOME is not set.
    return null;
  }
}
