import type { SQS } from '@aws-sdk/client-sqs';
import {
  type AwsProfile,
  DEFAULT_REGION,
  type Environment,
  ensureHome,
  profileInUse,
  profileOptions,
  shortRequestOptions,
} from '../../config/aws/aws-machine.ts';
import type { SourceSettings } from '../../config/source-fields.ts';

/** A queue of the SQS protocol. */
export type Queue = {
  readonly api: SQS;
  /** Its address, as the settings name it. */
  readonly url: string;
  readonly region: string;
  /** The AWS profile with the credentials. Null if none is named. */
  readonly profile: AwsProfile | null;
  readonly close: () => void;
};

/** The settings of a source that determine how its queue is accessed. */
export type QueueSettings = Pick<SourceSettings, 'region' | 'profile'> & { readonly url: string };

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
  const api = new sdk.SQS({
    region,
    endpoint: env.AWS_ENDPOINT_URL_SQS || new URL(url).origin,
    ...profileOptions(settings.profile),
    // A request that waits for messages takes one second. A repeated one at most hides messages for a while,
    // and they come back.
    ...shortRequestOptions(env),
  });
  return { api, url, region, profile: profileInUse(settings.profile, env), close: () => api.destroy() };
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
