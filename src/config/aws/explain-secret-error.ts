import type { StoredSecret } from '../../core/variable.ts';
import { isNetworkError, networkCode, statusOf } from './aws-error.ts';
import type { AwsProfile } from './aws-machine.ts';

/** The explanation of a failed request for a secret. */
type Explanation = {
  readonly message: string;
  readonly help: string;
  /** True if the same request may succeed later without any change. */
  readonly mayPass: boolean;
};

type Request = {
  readonly secret: StoredSecret;
  /** Null if neither the ARN nor the environment contains one. The SDK has then searched the profiles. */
  readonly region: string | null;
  readonly profile: AwsProfile | null;
};

/** The permission that a request needs, as policies name it. */
const ACTIONS: Readonly<Record<StoredSecret['store'], string>> = {
  'Secrets Manager': 'secretsmanager:GetSecretValue',
  'Parameter Store': 'ssm:GetParameter',
};

const REFUSED =
  /^(UnrecognizedClientException|InvalidClientTokenId|InvalidSignatureException|SignatureDoesNotMatch|IncompleteSignature|MissingAuthenticationToken(Exception)?|ExpiredToken(Exception)?|RequestExpired)$/;

const THROTTLED = /^(ThrottlingException|Throttling|TooManyRequestsException|RequestLimitExceeded)$/;

/**
 * Explains a failed request to Secrets Manager or Parameter Store to a person. Names and causes follow the
 * API references of both (GetSecretValue, GetParameter, Common Errors). The SDK's error is not kept, because
 * its fields contain the signed request.
 *
 * @returns null if the error is not a failed request but a bug.
 */
export function explainSecretError(error: unknown, request: Request): Explanation | null {
  if (!(error instanceof Error)) return null;
  const { store, variable, id } = request.secret;
  const asked = `${variable} names ${id}`;
  const at = `AWS ${store}${request.region === null ? '' : ` in ${request.region}`}`;
  const lasting = (message: string, help: string): Explanation => ({ message, help, mayPass: false });

  if (/Credentials?ProviderError|TokenProviderError/.test(error.name)) return withoutCredentials(request);
  if (/^Region (is missing|not accepted)/.test(error.message)) {
    const help = `Set AWS_REGION to the region of the ${nounOf(store)}, or give its ARN instead of its name.`;
    return lasting(`${asked}, but no valid region of AWS is set.`, help);
  }
  if (REFUSED.test(error.name)) {
    const help =
      'Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN or the profile (wrong, or expired), and the clock of this machine.';
    return lasting(`${asked}, and the credentials were refused by ${at} (${error.name}).`, help);
  }
  if (error.name === 'ResourceNotFoundException' || error.name === 'ParameterNotFound') {
    const help = `Check the name and the region. A ${nounOf(store)} in another region: set AWS_REGION, or give its ARN instead of its name.`;
    return lasting(`${asked}, but there is no such ${nounOf(store)} in ${at}.`, help);
  }
  if (error.name === 'ParameterVersionNotFound')
    return lasting(
      `${asked}, but the parameter has no such version or label.`,
      'Correct what follows the colon.',
    );
  if (
    /^(AccessDenied(Exception)?|DecryptionFailure|InvalidKeyId)$/.test(error.name) ||
    statusOf(error) === 403
  ) {
    const help = `Grant ${ACTIONS[store]} on it, and kms:Decrypt on its key if that is your own: deploy/aws/secrets-policy.json.`;
    return lasting(`${asked}, but these credentials may not read it (${error.name}, ${at}).`, help);
  }
  if (error.name === 'InvalidRequestException') {
    const help = 'Restore it, or store a value.';
    return lasting(`${asked}, which is to be deleted, or has no current value (${at}).`, help);
  }
  return explainUnanswered(error, { asked, at, store });
}

function nounOf(store: StoredSecret['store']): string {
  return store === 'Secrets Manager' ? 'secret' : 'parameter';
}

function withoutCredentials({ secret: { variable, id, store }, profile }: Request): Explanation {
  if (profile?.isMissing === true) {
    return {
      message: `${variable} names ${id}, but there is no profile "${profile.name}" in the AWS configuration of this user (${profile.files.join(', ')}).`,
      help: 'Add it there, or correct AWS_PROFILE.',
      mayPass: false,
    };
  }
  return {
    message: `${variable} names ${id}, but no credentials for AWS ${store} were found.`,
    help: 'Give the machine, the container or the service account a role, or set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    mayPass: false,
  };
}

function explainUnanswered(
  error: Error,
  {
    asked,
    at,
    store,
  }: { readonly asked: string; readonly at: string; readonly store: StoredSecret['store'] },
): Explanation | null {
  const status = statusOf(error);
  if (isNetworkError(error)) {
    const endpoint =
      store === 'Secrets Manager' ? 'AWS_ENDPOINT_URL_SECRETS_MANAGER' : 'AWS_ENDPOINT_URL_SSM';
    return {
      message: `${asked}, but there is no answer from ${at} (${networkCode(error)}).`,
      help: `Check the network, the proxy, DNS and the region, and in a network without internet access, the VPC endpoint. To use another address, set ${endpoint}.`,
      mayPass: true,
    };
  }
  if (status === null) return null;
  const mayPass = status >= 500 || THROTTLED.test(error.name);
  return {
    message: `${asked}, and ${at} answered ${error.name}, status ${status}.`,
    help: mayPass
      ? 'Run the command again later.'
      : 'Check the name: letters, digits and /_+=.@- , or an ARN.',
    mayPass,
  };
}
