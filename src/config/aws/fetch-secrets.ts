import { errorCode } from '../../core/error-code.ts';
import { parseObject } from '../../core/json/exact-json.ts';
import { KnownError } from '../../core/known-error.ts';
import type { StoredSecret, StoredVariables, Variable } from '../../core/variable.ts';
import { isNetworkError, statusOf } from './aws-error.ts';
import {
  type AwsProfile,
  type Environment,
  ensureHome,
  profileInUse,
  shortRequestOptions,
} from './aws-machine.ts';

/**
 * Returns the text of a secret or parameter by its name or ARN. Null if it contains bytes instead of text.
 */
type Ask = (id: string) => Promise<string | null>;

/**
 * Fetches the values of variables from AWS, with the standard chain of credentials and region. An ARN is
 * requested from the region that it contains. Loads only the parts of the SDK that are used.
 *
 * @returns for each variable its value, or the reason why there is none: missing, not permitted, no
 * credentials.
 * @throws KnownError `secret_store_unreachable` (exit 1) if AWS does not answer, because a later attempt may
 * succeed; `s3_ca_bundle_unreadable`.
 */
export async function fetchSecrets(
  secrets: readonly StoredSecret[],
  env: Environment,
): Promise<StoredVariables> {
  if (secrets.length === 0) return new Map();
  ensureHome();
  const byPlace = Map.groupBy(secrets, ({ store, id }) => `${store} ${id}`);
  const fetched = await Promise.all([...byPlace.values()].map((ofPlace) => fetchPlace(ofPlace, env)));
  return new Map(fetched.flat());
}

/** Fetches one secret or parameter. Several keys of one JSON object need only one request. */
async function fetchPlace(
  secrets: readonly StoredSecret[],
  env: Environment,
): Promise<readonly (readonly [name: string, variable: Variable])[]> {
  const [first] = secrets;
  if (first === undefined) return [];
  const { store, id } = first;
  const region = regionOfArn(id) ?? (env.AWS_REGION || env.AWS_DEFAULT_REGION || null);
  try {
    const ask = await (store === 'Secrets Manager' ? askSecretsManager : askParameterStore)(region, env);
    const text = await ask(id);
    return secrets.map((secret) => [secret.name, takeValue(secret, text)]);
  } catch (error) {
    const profile = profileInUse(null, env);
    return secrets.map((secret) => {
      const explained = explainSecretError(error, { secret, region, profile });
      if (explained === null) throw error;
      if (explained.mayPass)
        throw new KnownError({
          code: 'secret_store_unreachable',
          message: explained.message,
          where: secret.variable,
          help: explained.help,
          safe: 'Nothing was read or sent.',
        });
      return [secret.name, { kind: 'unreadable', ...explained }];
    });
  }
}

async function askSecretsManager(region: string | null, env: Environment): Promise<Ask> {
  const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager');
  const client = new SecretsManagerClient(clientOptions(region, env));
  return async (id) =>
    (await client.send(new GetSecretValueCommand({ SecretId: id })).finally(() => client.destroy()))
      .SecretString ?? null;
}

async function askParameterStore(region: string | null, env: Environment): Promise<Ask> {
  const { GetParameterCommand, SSMClient } = await import('@aws-sdk/client-ssm');
  const client = new SSMClient(clientOptions(region, env));
  const command = (id: string) => new GetParameterCommand({ Name: id, WithDecryption: true });
  return async (id) =>
    (await client.send(command(id)).finally(() => client.destroy())).Parameter?.Value ?? null;
}

function clientOptions(region: string | null, env: Environment) {
  return { ...(region === null ? {} : { region }), ...shortRequestOptions(env) };
}

/** Returns the region of `arn:aws:ssm:eu-west-1:…`; null for a name. */
function regionOfArn(id: string): string | null {
  const [, region] = /^arn:[\w-]+:(?:secretsmanager|ssm):([\w-]+):/.exec(id) ?? [];
  return region ?? null;
}

/** Returns the whole text, or the value of the requested key. Messages contain nothing of the text. */
function takeValue({ variable, id, jsonKey }: StoredSecret, text: string | null): Variable {
  const no = (what: string, help: string): Variable => {
    return { kind: 'unreadable', message: `${variable} names ${id}, which ${what}.`, help };
  };
  if (text === null) return no('contains bytes instead of text', 'Store the value as text.');
  const object = parseObject(text);
  if (jsonKey === null) {
    // The AWS console stores values that are entered in its form as such an object.
    if (object === null) return { kind: 'value', text };
    return no('is a JSON object', `Name the key of the value:  ${variable}='${id}#key'`);
  }
  if (object === null) return no('is not a JSON object', `To use the whole text, leave out #${jsonKey}.`);
  const value = Object.hasOwn(object, jsonKey) ? object[jsonKey] : undefined;
  if (typeof value === 'string') return { kind: 'value', text: value };
  return no(
    value === undefined ? `has no key ${jsonKey}` : `has a key ${jsonKey} whose value is not text`,
    'Write the name as in the JSON object, and the value in quotes.',
  );
}

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
function explainSecretError(error: unknown, request: Request): Explanation | null {
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
  { asked, at, store }: { asked: string; at: string; store: StoredSecret['store'] },
): Explanation | null {
  const status = statusOf(error);
  if (isNetworkError(error)) {
    const endpoint =
      store === 'Secrets Manager' ? 'AWS_ENDPOINT_URL_SECRETS_MANAGER' : 'AWS_ENDPOINT_URL_SSM';
    return {
      message: `${asked}, but there is no answer from ${at} (${errorCode(error) ?? error.name}).`,
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
