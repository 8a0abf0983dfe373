import { isNetworkError, networkCode, statusOf } from '../../config/aws/aws-error.ts';
import { configurationError, type KnownError } from '../../core/known-error.ts';
import type { Queue } from './open-queue.ts';

type Explanation = { readonly message: string; readonly help: string };

/** A failed request to a queue. */
export type QueueRequest = {
  readonly queue: Pick<Queue, 'url' | 'region' | 'profile'>;
  /** The permission that the request needs, as policies name it. */
  readonly permission: 'sqs:ReceiveMessage' | 'sqs:DeleteMessage' | 'sqs:GetQueueAttributes';
};

const REFUSED =
  /^(UnrecognizedClientException|InvalidClientTokenId|InvalidSecurity|SignatureDoesNotMatch|InvalidAccessKeyId|IncompleteSignature|MissingAuthenticationToken|ExpiredToken(Exception)?|RequestExpired)$/;

/**
 * Explains a failed request to a queue to a person. The SDK's error is not kept, because its fields contain
 * the signed request.
 *
 * @returns the KnownError `queue_unreadable`; null if the error is not a failed request (an abort, a bug).
 */
export function explainQueueError(error: unknown, request: QueueRequest): KnownError | null {
  const explanation = explain(error, request);
  if (explanation === null) return null;
  return configurationError({
    code: 'queue_unreadable',
    ...explanation,
    where: request.queue.url,
    safe: 'Its messages stay in the queue.',
  });
}

function explain(
  error: unknown,
  { queue: { region, profile }, permission }: QueueRequest,
): Explanation | null {
  if (!(error instanceof Error) || error.name === 'AbortError') return null;
  if (/Credentials?ProviderError|TokenProviderError/.test(error.name)) {
    const of = profile === null ? '' : ` in the profile "${profile.name}"`;
    return {
      message: `No credentials for the queue of events were found${of}.`,
      help: 'Give the machine a role, or set AWS_PROFILE (or profile of the source), or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    };
  }
  if (/QueueDoesNotExist|NonExistentQueue/.test(error.name))
    return {
      message: 'There is no such queue of events.',
      help: 'Copy the URL of the queue into events.queue of the source.',
    };
  if (REFUSED.test(error.name) || statusOf(error) === 401)
    return {
      message: `The queue of events refused the credentials (${error.name}, region "${region}").`,
      help: 'Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN or the profile (wrong, or expired), and the clock of this machine.',
    };
  if (/AccessDenied|KMS|Kms/.test(error.name) || statusOf(error) === 403)
    return {
      message: `These credentials may not use the queue of events (${error.name}).`,
      help: `Grant ${permission} on it, and kms:Decrypt on its key if it is encrypted with your own: deploy/aws/s3-policy.json.`,
    };
  if (isNetworkError(error))
    return {
      message: `The queue of events does not answer (${networkCode(error)}).`,
      help: 'Check the network, the proxy, DNS and the URL, and in a network without internet access, the VPC endpoint. AWS_ENDPOINT_URL_SQS names another address.',
    };
  const status = statusOf(error);
  if (status === null) return null;
  return {
    message: `The queue of events answered ${error.name}, status ${status}.`,
    help: 'Run the command again later. If the error persists, check the URL of the queue.',
  };
}
