import { isNetworkError, statusOf } from '../../config/aws/aws-error.ts';
import { errorCode } from '../../core/error-code.ts';
import { EXIT } from '../../core/exit-code.ts';
import { KnownError, type KnownErrorDetails } from '../../core/known-error.ts';
import type { S3Client } from './create-s3-client.ts';

/** Describes the failed request, for the message. */
export type S3Request = {
  readonly bucket: string;
  /** Null if a bucket was listed. */
  readonly key: string | null;
  readonly client: Pick<S3Client, 'endpoint' | 'region' | 'profile'>;
};

/** Without an exit code, it is an error of the configuration. */
type Explanation = Pick<KnownErrorDetails, 'code' | 'message' | 'help'> &
  Partial<Pick<KnownErrorDetails, 'exitCode'>>;

const REFUSED = new Set([
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'ExpiredToken',
  'ExpiredTokenException',
  'InvalidToken',
  'TokenRefreshRequired',
  'InvalidClientTokenId',
  // Versity's gateway returns this for an unknown key.
  'XAdminUserNotFound',
]);
const WRONG_REGION = new Set([
  'PermanentRedirect',
  'TemporaryRedirect',
  'Redirect',
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
]);

/**
 * Explains a failed S3 request to a person. The SDK's error is not kept as the cause, because its fields
 * contain the signed request.
 *
 * @returns null if the error is not from S3 (an abort, a bug).
 */
export function explainS3Error(error: unknown, request: S3Request): KnownError | null {
  const explanation = explain(error, request);
  if (explanation === null) return null;
  const where = request.key === null ? `s3://${request.bucket}/` : `s3://${request.bucket}/${request.key}`;
  return new KnownError({
    exitCode: EXIT.configuration,
    ...explanation,
    where,
    safe: 'The store was only read.',
  });
}

/** The error for a listing that cannot be read to its end. */
export function unusableListing(why: string, { bucket, client }: S3Request): KnownError {
  return new KnownError({
    code: 's3_listing_unusable',
    message: `The listing by ${storeOf(client)} ${why}. Exports may be missing from it, so nothing of it is used.`,
    where: `s3://${bucket}/`,
    help: 'Update the store, or the proxy before it, or ask its operator (ListObjectsV2: IsTruncated and NextContinuationToken). Until then, point `uri` of the source to a folder with fewer than 1,000 objects, or copy the exports to a local folder.',
    safe: 'No file was read, and nothing was sent.',
    exitCode: EXIT.crash,
  });
}

function storeOf({ endpoint }: S3Request['client']): string {
  return endpoint === null ? 'S3' : `the store at ${withoutLogin(endpoint)}`;
}

function explain(error: unknown, request: S3Request): Explanation | null {
  if (!(error instanceof Error)) return null;
  const { bucket, key, client } = request;
  const status = statusOf(error);
  const at = storeOf(client);
  if (/Credentials?ProviderError|TokenProviderError/.test(error.name)) return withoutCredentials(client);
  if (error.name === 'RequestTimeTooSkewed') {
    return {
      code: 's3_clock_wrong',
      message: 'S3 refused the request because the clock of this machine is wrong.',
      help: 'Set the clock (NTP) and run the job again.',
    };
  }
  if (REFUSED.has(error.name) || status === 401) {
    return {
      code: 's3_credentials_refused',
      message: `The credentials were refused by ${at} (${error.name}).`,
      help: 'Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN or the profile: they are wrong, expired, or for another store.',
    };
  }
  if (error.name === 'NoSuchBucket') {
    return {
      code: 's3_bucket_missing',
      message: `There is no bucket "${bucket}" in ${at}.`,
      help: 'Check the uri of the source, and its endpoint (or AWS_ENDPOINT_URL_S3) if the store is not Amazon S3.',
    };
  }
  if (WRONG_REGION.has(error.name) || status === 301 || status === 307) return elsewhere(error, request);
  if (error.name === 'AccessDenied' || status === 403) {
    return {
      code: 's3_access_denied',
      message: `These credentials may not ${key === null ? 'list the bucket' : 'read the object'} (${error.name}).`,
      help: `Grant ${key === null ? 's3:ListBucket on the bucket' : 's3:GetObject on its objects (and kms:Decrypt if they are encrypted)'}.`,
    };
  }
  return explainCertificate(error, at) ?? explainUnanswered(error, { status, at });
}

function withoutCredentials({ profile }: S3Request['client']): Explanation {
  if (profile?.isMissing === true) {
    return {
      code: 's3_profile_missing',
      message: `There is no profile "${profile.name}" in the AWS configuration of this user (${profile.files.join(', ')}).`,
      help: `Add it there (aws configure --profile ${profile.name}), or correct the name: \`profile\` of the source, else AWS_PROFILE. AWS_CONFIG_FILE and AWS_SHARED_CREDENTIALS_FILE name other files.`,
    };
  }
  const of = profile === null ? '' : ` in the profile "${profile.name}"`;
  return {
    code: 's3_credentials_missing',
    message: `No credentials for S3 were found${of}.`,
    help: 'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or give the machine a role.',
  };
}

/** The bucket is in another region, or the store expects another region name in the signature. */
function elsewhere(error: Error, { bucket, client }: S3Request): Explanation {
  const { region, endpoint } = told(error);
  const asked = `the request was made for region "${client.region}"`;
  const code = 's3_wrong_region';
  if (region !== null && region !== client.region) {
    return {
      code,
      message: `The bucket "${bucket}" is in region "${region}", but ${asked}.`,
      help: `Set region: ${region} for the source in pipeline.yaml, or AWS_REGION=${region} for all sources.`,
    };
  }
  const there = endpoint === null ? '' : ` The store names the endpoint ${endpoint}.`;
  return {
    code,
    message: `The bucket "${bucket}" is in another region, or at another endpoint: ${asked}.${there}`,
    help: 'Set region (or AWS_REGION) to the region of the bucket, and endpoint (or AWS_ENDPOINT_URL_S3) to its store. If the bucket is only hours old, wait and try again.',
  };
}

/**
 * Returns the region and the endpoint that a store reports in its refusal: in a header, in the XML of the
 * answer, or in its message.
 */
function told(error: Error): { readonly region: string | null; readonly endpoint: string | null } {
  const fields = error as {
    readonly Region?: unknown;
    readonly Endpoint?: unknown;
    readonly $response?: unknown;
  };
  const headers =
    (fields.$response as { readonly headers?: Record<string, string> } | undefined)?.headers ?? {};
  const location = URL.parse(headers.location ?? '')?.host ?? null;
  const endpoint = typeof fields.Endpoint === 'string' ? fields.Endpoint : location;
  const region =
    headers['x-amz-bucket-region'] ??
    (typeof fields.Region === 'string' ? fields.Region : undefined) ??
    /expecting '([\w-]+)'/.exec(error.message)?.[1] ??
    /[.-]s3[.-]([a-z]{2}(?:-[a-z]+)+-\d)\.amazonaws\./.exec(`.${endpoint ?? ''}`)?.[1];
  return { region: region ?? null, endpoint };
}

/** Explains a TLS error: the store answers but cannot prove its identity. */
function explainCertificate(error: Error, at: string): Explanation | null {
  const code = errorCode(error) ?? error.name;
  if (code === 'CERT_HAS_EXPIRED' || code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const why = code === 'CERT_HAS_EXPIRED' ? 'it has expired' : 'it is for another name';
    return {
      code: 's3_certificate_wrong',
      message: `The certificate of ${at} is not valid: ${why} (${code}).`,
      help: 'Renew the certificate of the store, or check the endpoint and the clock of this machine.',
    };
  }
  if (!/SELF_SIGNED|UNABLE_TO_GET_ISSUER|UNABLE_TO_VERIFY|CERT_UNTRUSTED/.test(code)) return null;
  return {
    code: 's3_certificate_untrusted',
    message: `The certificate of ${at} is not signed by an authority that this machine knows (${code}).`,
    help: 'Name the authority (or the self-signed certificate itself) in a PEM file: NODE_EXTRA_CA_CERTS=/path/to/ca.pem in the environment of the process, or AWS_CA_BUNDLE=/path/to/ca.pem, which may also be in the --env-file.',
  };
}

function explainUnanswered(
  error: Error,
  { status, at }: { status: number | null; at: string },
): Explanation | null {
  if (isNetworkError(error)) {
    const code = errorCode(error) ?? error.name;
    const isNameUnknown = code === 'ENOTFOUND' || code === 'EAI_AGAIN';
    return {
      code: 's3_unreachable',
      message: isNameUnknown
        ? `The name of ${at} cannot be resolved (${code}).`
        : `There is no answer from ${at} (${code}).`,
      help: 'Run the job again when the store is back. If the error persists, check the network, the proxy, DNS, and endpoint and region of the source (AWS_ENDPOINT_URL_S3, AWS_REGION).',
      exitCode: EXIT.crash,
    };
  }
  if (status === null) return null;
  return {
    code: status >= 500 ? 's3_failing' : 's3_refused',
    message: `The answer to a request was not as expected by ${at}: ${error.name}, status ${status}.`,
    help: 'Run the job again later. If the error persists, ask the operator of the store.',
    exitCode: EXIT.crash,
  };
}

function withoutLogin(endpoint: string): string {
  const url = URL.parse(endpoint);
  return url === null ? 'AWS_ENDPOINT_URL_S3' : url.host;
}
