import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates } from 'node:tls';
import type { S3 } from '@aws-sdk/client-s3';
import type { SourceSettings } from '../../model/config.ts';
import { EXIT } from '../../model/exit-code.ts';
import { KnownError } from '../../model/known-error.ts';

export type S3Client = {
  readonly api: S3;
  /** Address of a store that is not Amazon's; null where the SDK decides. */
  readonly endpoint: string | null;
  /** What requests are signed for, unless the store redirects. */
  readonly region: string;
  /** Where credentials are looked for; null: no profile is named. */
  readonly profile: S3Profile | null;
  /** Ends all connections, also busy ones. */
  readonly close: () => void;
};

export type S3Profile = {
  readonly name: string;
  readonly isMissing: boolean;
  /** Where it was looked for. */
  readonly files: readonly string[];
};

type Environment = Readonly<Record<string, string | undefined>>;

/** What of a source decides how its store is reached. */
export type S3Settings = Pick<SourceSettings, 'endpoint' | 'region' | 'profile' | 'forcePathStyle'> & {
  readonly limits: Pick<SourceSettings['limits'], 'idleTimeoutSeconds'>;
};

/** A store that does not take a connection in this time is not there. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Requests that the store failed or throttled are tried so often, with the SDK's own pauses. Each of ours may be repeated: it reads, or puts or removes a file whole. */
const MAX_ATTEMPTS = 4;

/** Used where no region is set: stores of other makers take any, and Amazon's tells the right one, which the client then follows. */
const DEFAULT_REGION = 'us-east-1';

const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/**
 * Connects to S3 as the source says, else with the standard chain of credentials, region and endpoint (`AWS_ENDPOINT_URL_S3`,
 * `AWS_ENDPOINT_URL`, profiles). Loads the SDK, which takes longer than the start of the program, so it is called only where an S3 source
 * is read.
 *
 * @throws KnownError `s3_ca_bundle_unreadable` (exit 2).
 */
export async function createS3Client(source: S3Settings, env: Environment = process.env): Promise<S3Client> {
  const sdk = await import('@aws-sdk/client-s3');
  ensureHome();
  const endpoint = source.endpoint ?? (env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || null);
  const region = source.region ?? (env.AWS_REGION || env.AWS_DEFAULT_REGION);
  const ca = readCaBundle(env);
  const options = {
    ...(endpoint === null ? {} : { endpoint }),
    // A profile of the source is meant, also beside keys in the environment, of which the SDK would warn at length.
    ...(source.profile === null ? {} : { profile: source.profile, logger: SILENT }),
    forcePathStyle: source.forcePathStyle || (endpoint !== null && isBareHost(endpoint)),
    followRegionRedirects: true,
    maxAttempts: MAX_ATTEMPTS,
    // The SDK would verify each answer by itself; what a resumed read brings is verified as a whole instead: see ContentCheck.
    responseChecksumValidation: 'WHEN_REQUIRED' as const,
    // Not every store takes the trailers that carry the checksum of a body that is sent as a stream.
    requestChecksumCalculation: 'WHEN_REQUIRED' as const,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      // Before the headers as in the body. It also ends a read whose reader takes that long, which then goes on by range.
      socketTimeout: source.limits.idleTimeoutSeconds * 1_000,
      ...(ca === null ? {} : { httpsAgent: { ca } }),
    },
  };
  const given = new sdk.S3({ ...options, ...(region ? { region } : {}) });
  const known = await regionOf(given);
  const api = known === null ? new sdk.S3({ ...options, region: DEFAULT_REGION }) : given;
  askForChecksums(api);
  const profile = source.profile ?? (env.AWS_PROFILE || null);
  return {
    api,
    endpoint,
    region: known ?? DEFAULT_REGION,
    profile: profile === null ? null : lookUpProfile(profile, env),
    close: () => api.destroy(),
  };
}

/**
 * The SDK fails with every request where neither HOME nor the passwd database knows a home folder, as for a container's uid of its own.
 * `/` is what container engines set there.
 */
function ensureHome(): void {
  try {
    homedir();
  } catch {
    process.env.HOME = '/';
  }
}

/** An answer names the checksum of its object only to who asks. */
function askForChecksums(api: S3): void {
  api.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        const { headers } = args.request as { readonly headers: Record<string, string> };
        if (commandName === 'GetObjectCommand') headers['x-amz-checksum-mode'] = 'ENABLED';
        return next(args);
      },
    { step: 'build', name: 'askForChecksums' },
  );
}

/** Hosts below which no name can exist for a bucket: an IP address, localhost, a name without a dot (as between containers). */
function isBareHost(endpoint: string): boolean {
  const host = URL.parse(endpoint)?.hostname ?? '';
  return isIP(host.replace(/^\[|\]$/g, '')) !== 0 || !host.includes('.') || host.endsWith('.localhost');
}

async function regionOf(api: S3): Promise<string | null> {
  try {
    return (await api.config.region()) || null;
  } catch {
    return null;
  }
}

/** The authorities that this machine knows and those of AWS_CA_BUNDLE, which the SDK for JavaScript passes over; null: nothing to add. */
function readCaBundle({ AWS_CA_BUNDLE: path }: Environment): string[] | null {
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
function lookUpProfile(name: string, env: Environment): S3Profile {
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
