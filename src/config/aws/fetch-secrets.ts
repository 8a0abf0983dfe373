import { EXIT } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';
import type { StoredSecret, StoredVariables, Variable } from '../../core/variable.ts';
import { type Environment, ensureHome, profileInUse, shortRequestOptions } from './aws-machine.ts';
import { explainSecretError } from './explain-secret-error.ts';

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
      if (explained.mayPass) throw unreachable(secret, explained);
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

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function unreachable(
  { variable }: StoredSecret,
  { message, help }: { readonly message: string; readonly help: string },
): KnownError {
  return new KnownError({
    code: 'secret_store_unreachable',
    message,
    where: variable,
    help,
    safe: 'Nothing was read or sent.',
    exitCode: EXIT.crash,
  });
}
