import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates } from 'node:tls';
import { configurationError } from '../../core/known-error.ts';

/** The environment variables that the AWS clients read. */

export type Environment = Readonly<Record<string, string | undefined>>;

/** A server that does not accept a connection within this time counts as unreachable. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Time limit of a request with a short answer, in milliseconds. */
const REQUEST_TIMEOUT_MS = 10_000;

/** Number of attempts of such a request, with the SDK's own delays. It must be safe to repeat. */
const MAX_ATTEMPTS = 3;

/** Used if no region is set. Stores and queues of other vendors accept any region. */
export const DEFAULT_REGION = 'us-east-1';

const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

export type AwsProfile = {
  readonly name: string;
  readonly isMissing: boolean;
  /** The files that were searched for the profile. */
  readonly files: readonly string[];
};

/**
 * Sets HOME if it is unknown. The SDK fails with every request if neither HOME nor the passwd database has a
 * home folder, for example for a container with its own uid. Container engines set it to `/`.
 */
export function ensureHome(): void {
  try {
    homedir();
  } catch {
    process.env.HOME = '/';
  }
}

/**
 * Returns the certificate authorities of this machine and those of AWS_CA_BUNDLE, which the SDK for
 * JavaScript ignores. Null if AWS_CA_BUNDLE is not set.
 */
function readCaBundle({ AWS_CA_BUNDLE: path }: Environment): string[] | null {
  if (!path) return null;
  try {
    return [...getCACertificates('default'), readFileSync(path, 'utf8')];
  } catch (cause) {
    throw configurationError({
      code: 's3_ca_bundle_unreadable',
      message: 'The file that AWS_CA_BUNDLE names cannot be read.',
      where: path,
      help: 'Name a PEM file that this user may read, or unset AWS_CA_BUNDLE.',
      safe: 'Nothing was read or sent.',
      cause,
    });
  }
}

/**
 * Returns the options of connections: a time limit, and the certificates of AWS_CA_BUNDLE.
 *
 * @throws KnownError `s3_ca_bundle_unreadable` (exit 2).
 */
export function connectionOptions(env: Environment) {
  const ca = readCaBundle(env);
  return { connectionTimeout: CONNECT_TIMEOUT_MS, ...(ca === null ? {} : { httpsAgent: { ca } }) };
}

/**
 * Returns the options of a client whose requests have short answers and are safe to repeat.
 *
 * @throws KnownError `s3_ca_bundle_unreadable` (exit 2).
 */
export function shortRequestOptions(env: Environment) {
  return {
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      ...connectionOptions(env),
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
    },
  };
}

/**
 * Returns the options of a client that uses the profile of a source. It takes precedence over keys in the
 * environment. The logger silences the SDK's long warning about that.
 */
export function profileOptions(profile: string | null) {
  return profile === null ? {} : { profile, logger: SILENT };
}

/** Returns the profile that a client uses: the given one, else AWS_PROFILE. Null if neither names one. */
export function profileInUse(given: string | null, env: Environment): AwsProfile | null {
  const name = given ?? (env.AWS_PROFILE || null);
  return name === null ? null : lookUpProfile(name, env);
}

/**
 * Looks up a profile in the two files of the AWS tools: `[profile name]` in the configuration, `[name]` in
 * the credentials.
 */
function lookUpProfile(name: string, env: Environment): AwsProfile {
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

/**
 * Parses `[default]`, `[name]`, `[profile name]` or `[profile "a name"]`. Returns null if the line does not
 * begin a section.
 */
function sectionOf(line: string): string | null {
  const [, inside] = /^\s*\[([^\]]*)\]/.exec(line) ?? [];
  if (inside === undefined) return null;
  return inside
    .trim()
    .replace(/^profile\s+/, '')
    .replace(/^["']|["']$/g, '');
}
