import { EXIT, type ExitCode } from '../model/exit-code.ts';
import { KnownError } from '../model/known-error.ts';

/** What was being done, for the message. */
export type S3Request = {
  readonly bucket: string;
  /** Null where a bucket is listed. */
  readonly key: string | null;
  readonly endpoint: string | null;
};

type Explanation = {
  readonly code: string;
  readonly message: string;
  readonly help: string;
  readonly exitCode: ExitCode;
};

const REFUSED = new Set([
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidToken',
  'TokenRefreshRequired',
  'InvalidClientTokenId',
  // Versity's gateway, for an unknown key.
  'XAdminUserNotFound',
]);
const WRONG_REGION = new Set([
  'PermanentRedirect',
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
]);

/**
 * Says what a failed S3 request means to a person. The SDK's error is not kept as the cause: its fields repeat the signed request.
 *
 * @returns null for what is no error of S3 (an abort, a bug).
 */
export function explainS3Error(error: unknown, request: S3Request): KnownError | null {
  const explanation = explain(error, request);
  if (explanation === null) return null;
  const where = request.key === null ? `s3://${request.bucket}/` : `s3://${request.bucket}/${request.key}`;
  return new KnownError({ ...explanation, where, safe: 'The store was only read.' });
}

function explain(error: unknown, { bucket, key, endpoint }: S3Request): Explanation | null {
  if (!(error instanceof Error)) return null;
  const status = statusOf(error);
  const at = endpoint === null ? 'S3' : `the store at ${withoutLogin(endpoint)}`;
  if (/Credentials?ProviderError|TokenProviderError/.test(error.name)) {
    return {
      code: 's3_credentials_missing',
      message: 'No credentials for S3 were found.',
      help: 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give the machine a role.',
      exitCode: EXIT.authentication,
    };
  }
  if (error.name === 'RequestTimeTooSkewed') {
    return {
      code: 's3_clock_wrong',
      message: 'S3 refused the request because the clock of this machine is wrong.',
      help: 'Set the clock (NTP) and run the job again.',
      exitCode: EXIT.authentication,
    };
  }
  if (REFUSED.has(error.name) || status === 401) {
    return {
      code: 's3_credentials_refused',
      message: `The credentials were refused by ${at} (${error.name}).`,
      help: 'Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN or the profile: they are wrong, expired or of another store.',
      exitCode: EXIT.authentication,
    };
  }
  if (error.name === 'NoSuchBucket') {
    return {
      code: 's3_bucket_missing',
      message: `There is no bucket "${bucket}" in ${at}.`,
      help: 'Check the uri of the source, and AWS_ENDPOINT_URL_S3 if the store is not Amazon S3.',
      exitCode: EXIT.configuration,
    };
  }
  if (WRONG_REGION.has(error.name) || status === 301) {
    return {
      code: 's3_wrong_region',
      message: `The bucket "${bucket}" lies in another region.`,
      help: 'Set AWS_REGION to the region of the bucket.',
      exitCode: EXIT.configuration,
    };
  }
  if (error.name === 'AccessDenied' || status === 403) {
    return {
      code: 's3_access_denied',
      message: `These credentials may not ${key === null ? 'list the bucket' : 'read the object'} (${error.name}).`,
      help: `Grant ${key === null ? 's3:ListBucket on the bucket' : 's3:GetObject on its objects (and kms:Decrypt if they are encrypted)'}.`,
      exitCode: EXIT.configuration,
    };
  }
  return explainUnanswered(error, { status, at });
}

function explainUnanswered(
  error: Error,
  { status, at }: { readonly status: number | null; readonly at: string },
): Explanation | null {
  if (isNetworkError(error)) {
    return {
      code: 's3_unreachable',
      message: `There is no answer from ${at} (${networkCode(error)}).`,
      help: 'Check the network, the proxy, AWS_ENDPOINT_URL_S3 and AWS_REGION; then run the job again.',
      exitCode: EXIT.configuration,
    };
  }
  if (status === null) return null;
  return {
    code: status >= 500 ? 's3_failing' : 's3_refused',
    message: `The request was not answered as it should be by ${at}: ${error.name}, status ${status}.`,
    help: 'Run the job again later; if it stays so, ask the operator of the store.',
    exitCode: EXIT.crash,
  };
}

/** Whether no whole answer came: refused, cut, timed out, name not found. */
export function isNetworkError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return (
    error.name === 'TimeoutError' ||
    /^(E[A-Z]+|CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(networkCode(error))
  );
}

/** Whether nothing came for too long. The SDK calls a reset connection a time-out, too. */
export function isTimeout(error: unknown): boolean {
  return (
    error instanceof Error &&
    error.name === 'TimeoutError' &&
    !/^(ECONNRESET|EPIPE)$/.test(networkCode(error))
  );
}

/** HTTP status of the answer, if there was one. */
export function statusOf(error: unknown): number | null {
  if (!(error instanceof Error) || !('$metadata' in error)) return null;
  const metadata = error.$metadata as { readonly httpStatusCode?: number };
  return metadata.httpStatusCode ?? null;
}

function networkCode(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}

function withoutLogin(endpoint: string): string {
  const url = URL.parse(endpoint);
  return url === null ? 'AWS_ENDPOINT_URL_S3' : url.host;
}
