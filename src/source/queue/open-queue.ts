import type { SQS } from '@aws-sdk/client-sqs';
import {
  type AwsProfile,
  CONNECT_TIMEOUT_MS,
  type Environment,
  ensureHome,
  lookUpProfile,
  readCaBundle,
} from '../../aws/aws-machine.ts';
import type { SourceSettings } from '../../model/config.ts';

/** A queue of the SQS protocol. */
export type Queue = {
  readonly api: SQS;
  /** Its address, as the settings name it. */
  readonly url: string;
  readonly region: string;
  /** The AWS profile with the credentials. Null if none is named. */
  readonly profile: AwsProfile | null;
  /** Closes all connections. */
  readonly close: () => void;
};

/** The settings of a source that determine how its queue is accessed. */
export type QueueSettings = Pick<SourceSettings, 'region' | 'profile'> & { readonly url: string };

/** Time limit of a request in milliseconds. A request that waits for messages takes one second. */
const REQUEST_TIMEOUT_MS = 10_000;

/** Maximum number of attempts. A repeated request at most hides messages for a while, and they come back. */
const MAX_ATTEMPTS = 3;

/** Used if neither the address nor the settings contain a region. Queues of other vendors accept any. */
const DEFAULT_REGION = 'us-east-1';

const SILENT = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/**
 * Connects to a queue with the standard chain of credentials, or with the source's profile, as for S3. The
 * address of the queue says which server and which region; AWS_ENDPOINT_URL_SQS replaces the server. Loads
 * the SDK, so call it only when a queue is read.
 *
 * @throws KnownError `s3_ca_bundle_unreadable` (exit 2).
 */
export async function openQueue(settings: QueueSettings, env: Environment = process.env): Promise<Queue> {
  const sdk = await import('@aws-sdk/client-sqs');
  ensureHome();
  const { url } = settings;
  const region =
    regionOfQueue(url) ?? settings.region ?? (env.AWS_REGION || env.AWS_DEFAULT_REGION || DEFAULT_REGION);
  const ca = readCaBundle(env);
  const api = new sdk.SQS({
    region,
    endpoint: env.AWS_ENDPOINT_URL_SQS || new URL(url).origin,
    ...(settings.profile === null ? {} : { profile: settings.profile, logger: SILENT }),
    maxAttempts: MAX_ATTEMPTS,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      throwOnRequestTimeout: true,
      ...(ca === null ? {} : { httpsAgent: { ca } }),
    },
  });
  const profile = settings.profile ?? (env.AWS_PROFILE || null);
  return {
    api,
    url,
    region,
    profile: profile === null ? null : lookUpProfile(profile, env),
    close: () => api.destroy(),
  };
}

/**
 * Returns the region in the address of a queue of Amazon, such as
 * `https://sqs.eu-west-1.amazonaws.com/123456789012/exports`; null for any other server.
 */
export function regionOfQueue(url: string): string | null {
  const host = URL.parse(url)?.hostname ?? '';
  const [, region] =
    /(?:^|\.)sqs(?:-fips)?\.([a-z]{2}[a-z-]*-\d)\./.exec(host) ??
    /^([a-z]{2}[a-z-]*-\d)\.queue\.amazonaws\./.exec(host) ??
    [];
  return region ?? null;
}
