import { isIP } from 'node:net';
import type { S3 } from '@aws-sdk/client-s3';
import type { SourceSettings } from '../model/config.ts';

export type S3Client = {
  readonly api: S3;
  /** Address of a store that is not Amazon's; null where the SDK decides. */
  readonly endpoint: string | null;
  /** Ends all connections, also busy ones. */
  readonly close: () => void;
};

/** A store that does not take a connection in this time is not there. */
const CONNECT_TIMEOUT_MS = 10_000;

/** Requests that the store failed or throttled are tried so often, with the SDK's own pauses. Every request of ours only reads. */
const MAX_ATTEMPTS = 4;

/** Used where no region is set: stores of other makers take any, and Amazon's tells the right one, which the client then follows. */
const DEFAULT_REGION = 'us-east-1';

/**
 * Connects to S3 with the standard chain of credentials, region and endpoint (`AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, profiles).
 * Loads the SDK, which takes longer than the start of the program, so it is called only where an S3 source is read.
 */
export async function createS3Client(
  source: Pick<SourceSettings, 'forcePathStyle' | 'limits'>,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<S3Client> {
  const sdk = await import('@aws-sdk/client-s3');
  const endpoint = env.AWS_ENDPOINT_URL_S3 || env.AWS_ENDPOINT_URL || null;
  const region = env.AWS_REGION || env.AWS_DEFAULT_REGION;
  const options = {
    ...(endpoint === null ? {} : { endpoint }),
    forcePathStyle: source.forcePathStyle || (endpoint !== null && isBareHost(endpoint)),
    followRegionRedirects: true,
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      // Before the headers as in the body. It also ends a read whose reader takes that long, which then goes on by range.
      socketTimeout: source.limits.idleTimeoutSeconds * 1_000,
    },
  };
  const given = new sdk.S3({ ...options, ...(region ? { region } : {}) });
  const api = (await hasRegion(given)) ? given : new sdk.S3({ ...options, region: DEFAULT_REGION });
  return { api, endpoint, close: () => api.destroy() };
}

/** Hosts below which no name can exist for a bucket: an IP address, localhost, a name without a dot (as between containers). */
function isBareHost(endpoint: string): boolean {
  const host = URL.parse(endpoint)?.hostname ?? '';
  return isIP(host.replace(/^\[|\]$/g, '')) !== 0 || !host.includes('.') || host.endsWith('.localhost');
}

async function hasRegion(api: S3): Promise<boolean> {
  try {
    return (await api.config.region()) !== '';
  } catch {
    return false;
  }
}
