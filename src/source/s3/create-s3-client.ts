import { isIP } from 'node:net';
import type { S3 } from '@aws-sdk/client-s3';
import {
  type AwsProfile,
  CONNECT_TIMEOUT_MS,
  type Environment,
  ensureHome,
  lookUpProfile,
  readCaBundle,
} from '../../aws/aws-machine.ts';
import type { SourceSettings } from '../../model/config.ts';

export type S3Client = {
  readonly api: S3;
  /** Address of a store that is not Amazon's; null where the SDK decides. */
  readonly endpoint: string | null;
  /** What requests are signed for, unless the store redirects. */
  readonly region: string;
  /** Where credentials are looked for; null: no profile is named. */
  readonly profile: AwsProfile | null;
  /** Ends all connections, also busy ones. */
  readonly close: () => void;
};

/** What of a source decides how its store is reached. */
export type S3Settings = Pick<SourceSettings, 'endpoint' | 'region' | 'profile' | 'forcePathStyle'> & {
  readonly limits: Pick<SourceSettings['limits'], 'idleTimeoutSeconds'>;
};

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
