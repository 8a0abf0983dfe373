import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates } from 'node:tls';
import { EXIT } from '../model/exit-code.ts';
import { KnownError } from '../model/known-error.ts';

/** What each client of AWS needs of the machine that it runs on. */

export type Environment = Readonly<Record<string, string | undefined>>;

/** A store that does not take a connection in this time is not there. */
export const CONNECT_TIMEOUT_MS = 10_000;

export type AwsProfile = {
  readonly name: string;
  readonly isMissing: boolean;
  /** Where it was looked for. */
  readonly files: readonly string[];
};

/**
 * The SDK fails with every request where neither HOME nor the passwd database knows a home folder, as for a container's uid of its own.
 * `/` is what container engines set there.
 */
export function ensureHome(): void {
  try {
    homedir();
  } catch {
    process.env.HOME = '/';
  }
}

/**
 * The authorities that this machine knows and those of AWS_CA_BUNDLE, which the SDK for JavaScript passes over; null: nothing to add.
 *
 * @throws KnownError `s3_ca_bundle_unreadable` (exit 2).
 */
export function readCaBundle({ AWS_CA_BUNDLE: path }: Environment): string[] | null {
  if (!path) return null;
  try {
    return [...getCACertificates('default'), readFileSync(path, 'utf8')];
  } catch (cause) {
    throw new KnownError({
      code: 's3_ca_bundle_unreadable',
      message: 'The file that AWS_CA_BUNDLE names cannot be read.',
      where: path,
      help: 'Name a PEM file that this user may read, or unset AWS_CA_BUNDLE.',
      safe: 'Nothing was read or sent.',
      exitCode: EXIT.configuration,
      cause,
    });
  }
}

/** Whether a profile stands in one of the two files of the AWS tools, `[name]` in one and `[profile name]` in the other. */
export function lookUpProfile(name: string, env: Environment): AwsProfile {
  const folder = join(homedir(), '.aws');
  const files = [
    env.AWS_CONFIG_FILE || join(folder, 'config'),
    env.AWS_SHARED_CREDENTIALS_FILE || join(folder, 'credentials'),
  ];
  const isMissing = !files.some((file) => profilesOf(file).includes(name));
  return { name, isMissing, files };
}

function profilesOf(path: string): readonly string[] {
  try {
    const lines = readFileSync(path, 'utf8').split(/\r?\n/);
    return lines.flatMap((line) => sectionOf(line) ?? []);
  } catch {
    return [];
  }
}

/** `[default]`, `[name]`, `[profile name]` or `[profile "a name"]`; null where the line begins no section. */
function sectionOf(line: string): string | null {
  const [, inside] = /^\s*\[([^\]]*)\]/.exec(line) ?? [];
  if (inside === undefined) return null;
  return inside
    .trim()
    .replace(/^profile\s+/, '')
    .replace(/^["']|["']$/g, '');
}
