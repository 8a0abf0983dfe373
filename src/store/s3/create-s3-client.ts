import { isIP } from 'node:net';
import type { S3 } from '@aws-sdk/client-s3';
import {
  type AwsProfile,
  connectionOptions,
  DEFAULT_REGION,
  type Environment,
  ensureHome,
  profileInUse,
  profileOptions,
} from '../../config/aws/aws-machine.ts';
import type { SourceSettings } from '../../config/source-fields.ts';

export type S3Client = {
  readonly api: S3;
  /** Address of a store that is not Amazon's. Null if the SDK decides. */
  readonly endpoint: string | null;
  /** Region for which requests are signed, unless the store redirects. */
  readonly region: string;
  /** The AWS profile with the credentials. Null if none is named. */
  readonly profile: AwsProfile | null;
  /** Closes all connections, including busy ones. */
  readonly close: () => void;
};

/** The settings of a source that determine how its store is accessed. */
export type S3Settings = Pick<SourceSettings, 'endpoint' | 'region' | 'profile' | 'forcePathStyle'> & {
  readonly limits: Pick<SourceSettings['limits'], 'idleTimeoutSeconds'>;
};

/**
 * Maximum number of attempts if the store fails or throttles a request, with the SDK's own delays. Every
 * request may be repeated: it reads, or writes or removes a whole file.
 */
const MAX_ATTEMPTS = 4;

/**
 * Connects to S3 with the source's settings, or else with the standard chain of credentials, region and
 * endpoint (`AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, profiles). Loads the SDK, which takes longer than the
 * start of the program, so call it only when an S3 source is read.
 *
 * @throws KnownError `s3_ca_bundle_unreadable` (exit 2).
 */
export async function createS3Client(source: S3Settings, env: Environment = process.env): Promise<S3Client> {
  const sdk = await import('@aws-sdk/client-s3');
  ensureHome();
  const endpoint = source.endpoint ?? (env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || null);
  const region = source.region ?? (env.AWS_REGION || env.AWS_DEFAULT_REGION);
  const options = {
    ...(endpoint === null ? {} : { endpoint }),
    ...profileOptions(source.profile),
    forcePathStyle: source.forcePathStyle || (endpoint !== null && isBareHost(endpoint)),
    followRegionRedirects: true,
    maxAttempts: MAX_ATTEMPTS,
    // ContentCheck verifies the whole content, even of a resumed read. The SDK would verify only single
    // answers.
    responseChecksumValidation: 'WHEN_REQUIRED' as const,
    // Some stores do not accept the trailers with the checksum of a streamed body.
    requestChecksumCalculation: 'WHEN_REQUIRED' as const,
    requestHandler: {
      ...connectionOptions(env),
      // Applies before the headers and within the body. It also ends a read whose consumer is idle for that
      // long; the read is then resumed by range.
      socketTimeout: source.limits.idleTimeoutSeconds * 1_000,
    },
  };
  const given = new sdk.S3({ ...options, ...(region ? { region } : {}) });
  const known = await regionOf(given);
  // Amazon returns the region of a bucket, and the client follows.
  const api = known === null ? new sdk.S3({ ...options, region: DEFAULT_REGION }) : given;
  askForChecksums(api);
  return {
    api,
    endpoint,
    region: known ?? DEFAULT_REGION,
    profile: profileInUse(source.profile, env),
    close: () => api.destroy(),
  };
}

/** Requests the checksum of each object, because the store sends it only on request. */
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

/**
 * True for hosts that cannot have a bucket as a subdomain: an IP address, localhost, a name without a dot (as
 * between containers).
 */
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
