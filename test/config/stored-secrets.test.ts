import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHere } from '../support/run-here.ts';
import { type SecretStore, type SecretStoreContent, startSecretStore } from '../support/secret-store.ts';
import { makeTestFolder } from '../support/setup.ts';

const CONFIG = `api: { url: "\${INFLUENCER_API_URL:-}", key: "\${INFLUENCER_API_KEY:-}" }
database: { url: "\${DATABASE_URL:-}" }
customers: { hash_key: "\${CUSTOMER_HASH_KEY:-}" }
sources: {}
jobs: {}
`;

const ARN = 'arn:aws:secretsmanager:us-east-2:123456789012:secret:elsewhere-a1B2c3';

/** Creates a configuration and a fake AWS account. */
async function setUp(content: SecretStoreContent = {}) {
  const store = await startSecretStore({
    secrets: {
      'shop/api-key': 'planted-key\n',
      'shop/both': '{"api_key": "planted-member", "hash_key": "planted-hash", "port": 5432}',
      'shop/bytes': Buffer.from('planted'),
      'shop/deleted': null,
      'shop/lines': 'planted\nplanted',
      elsewhere: 'planted-elsewhere',
    },
    parameters: { '/shop/database-url': 'postgres://u:planted@127.0.0.1:1/orders' },
    ...content,
  });
  const cwd = makeTestFolder();
  writeFileSync(join(cwd, 'pipeline.yaml'), CONFIG);
  const cli = (args: readonly string[], env: Readonly<Record<string, string>>) =>
    runHere([...args, '--config', 'pipeline.yaml'], { cwd, env: { ...store.env, ...env } });
  return { store, cwd, cli };
}

type SetUp = Awaited<ReturnType<typeof setUp>>;

/** Returns the settings of `config show --json` by their path. */
async function show({ cli }: SetUp, env: Readonly<Record<string, string>>) {
  const { exitCode, stdout, stderr } = await cli(['config', 'show', '--json'], env);
  expect(exitCode, stderr).toBe(0);
  expect(stdout + stderr).not.toContain('planted');
  const settings = stdout.split('\n').filter((line) => line !== '');
  return Object.fromEntries(
    settings
      .map((line) => JSON.parse(line) as Record<string, string>)
      .map(({ path, value, origin }) => [path, { value, origin }]),
  );
}

/** Returns the one-line message of a command that cannot read a secret. */
async function refusal({ cli }: SetUp, env: Readonly<Record<string, string>>, exitCode = 2) {
  const result = await cli(['config', 'show'], env);
  expect(result.exitCode).toBe(exitCode);
  expect(result.stdout + result.stderr).not.toContain('planted');
  return result.stderr.replaceAll(/\s+/g, ' ');
}

function asked({ requests }: SecretStore): readonly string[] {
  return requests.map(({ operation, region, id }) => `${operation} ${region} ${id}`).toSorted();
}

describe('a variable whose value is stored in AWS', () => {
  it('is read from Secrets Manager, from a member of a JSON secret, or from Parameter Store; `config show` names the origin', async () => {
    const here = await setUp();
    const settings = await show(here, {
      INFLUENCER_API_KEY_AWS_SECRET: 'shop/api-key',
      CUSTOMER_HASH_KEY_AWS_SECRET: 'shop/both#hash_key',
      DATABASE_URL_AWS_PARAMETER: '/shop/database-url',
    });
    expect(settings['api.key']).toEqual({
      value: '(set, not shown)',
      origin: 'AWS Secrets Manager: shop/api-key (INFLUENCER_API_KEY_AWS_SECRET)',
    });
    expect(settings['database.url']).toEqual({
      value: '127.0.0.1:1/orders',
      origin: 'AWS Parameter Store: /shop/database-url (DATABASE_URL_AWS_PARAMETER)',
    });
    expect(asked(here.store)).toEqual([
      'AmazonSSM.GetParameter eu-west-1 /shop/database-url',
      'secretsmanager.GetSecretValue eu-west-1 shop/api-key',
      'secretsmanager.GetSecretValue eu-west-1 shop/both',
    ]);
  });

  it('is requested from the region of its ARN, whatever the default region is', async () => {
    const here = await setUp();
    await show(here, { INFLUENCER_API_KEY_AWS_SECRET: ARN, AWS_REGION: '' });
    expect(asked(here.store)).toEqual([`secretsmanager.GetSecretValue us-east-2 ${ARN}`]);
  });

  it('takes one request for several members of a secret, and none if the configuration does not use it', async () => {
    const here = await setUp();
    await show(here, {
      INFLUENCER_API_KEY_AWS_SECRET: 'shop/both#api_key',
      CUSTOMER_HASH_KEY_AWS_SECRET: 'shop/both#hash_key',
      OTHER_PROGRAM_AWS_SECRET: 'shop/other',
    });
    expect(asked(here.store)).toEqual(['secretsmanager.GetSecretValue eu-west-1 shop/both']);
  });

  it('is listed by doctor with its location, without its value', async () => {
    const { cli } = await setUp();
    const { stdout, stderr } = await cli(['doctor'], { INFLUENCER_API_KEY_AWS_SECRET: 'shop/api-key' });
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain(
      'secrets: INFLUENCER_API_KEY is in AWS Secrets Manager (shop/api-key).',
    );
    expect(stdout + stderr).not.toContain('planted');
  });

  it('causes a warning if the configuration does not use it', async () => {
    const { cli } = await setUp();
    const { stderr } = await cli(['config', 'show'], { INFLUENCER_WEBHOOK_SECRET_AWS_SECRET: 'shop/none' });
    expect(stderr.replaceAll(/\s+/g, ' ')).toContain(
      'INFLUENCER_WEBHOOK_SECRET_AWS_SECRET is set, but has no effect',
    );
  });
});

describe('a secret that AWS does not return is reported with its place in the configuration and a remedy, without its value', () => {
  const SECRET = 'INFLUENCER_API_KEY_AWS_SECRET';
  const PARAMETER = 'INFLUENCER_API_KEY_AWS_PARAMETER';

  it.each([
    [
      'there is none',
      { [SECRET]: 'shop/none' },
      'there is no such secret in AWS Secrets Manager in eu-west-1',
    ],
    [
      'there is no such parameter',
      { [PARAMETER]: '/none' },
      'there is no such parameter in AWS Parameter Store',
    ],
    ['it is to be deleted', { [SECRET]: 'shop/deleted' }, 'which is to be deleted'],
    ['it has no text', { [SECRET]: 'shop/bytes' }, 'which contains bytes instead of text'],
    ['it has several lines', { [SECRET]: 'shop/lines' }, 'which is not one line of UTF-8 text'],
    ['it is an object, and no member is named', { [SECRET]: 'shop/both' }, "='shop/both#key'"],
    ['the member is missing', { [SECRET]: 'shop/both#toString' }, 'which has no key toString'],
    ['the member is no text', { [SECRET]: 'shop/both#port' }, 'has a key port whose value is not text'],
    ['a member is named, and it is no object', { [SECRET]: 'shop/api-key#x' }, 'which is not a JSON object'],
    [
      'the variable is set as well',
      { [SECRET]: 'shop/api-key', INFLUENCER_API_KEY: 'planted' },
      'are both set',
    ],
    ['both stores are named', { [SECRET]: 'shop/api-key', [PARAMETER]: '/x' }, 'are both set'],
    ['no region is set', { [SECRET]: 'shop/api-key', AWS_REGION: '' }, 'Set AWS_REGION to the region'],
    ['there are no credentials', { [SECRET]: 'x', AWS_ACCESS_KEY_ID: '' }, 'no credentials for AWS Secrets'],
    [
      'the key is unknown',
      { [SECRET]: 'x', AWS_ACCESS_KEY_ID: 'OTHER' },
      'the credentials were refused by AWS',
    ],
    ['the profile is unknown', { [SECRET]: 'x', AWS_PROFILE: 'none' }, 'there is no profile "none"'],
  ])('%s', async (_, env, expected) => {
    const said = await refusal(await setUp(), env);
    expect(said).toContain(expected);
    expect(said).toContain('pipeline.yaml:1:45');
  });

  it('a missing permission: the action to grant is named', async () => {
    const here = await setUp();
    here.store.fail({ status: 400, code: 'AccessDeniedException' });
    expect(await refusal(here, { [SECRET]: 'shop/api-key' })).toContain(
      'may not read it (AccessDeniedException, AWS Secrets Manager in eu-west-1). Grant secretsmanager:GetSecretValue on it',
    );
  });

  it('an unreachable service: exit code 1, as a temporary fault, so that a supervisor restarts the process', async () => {
    const here = await setUp();
    const nobody = { AWS_ENDPOINT_URL_SECRETS_MANAGER: 'http://127.0.0.1:1' };
    expect(await refusal(here, { [SECRET]: 'shop/api-key', ...nobody }, 1)).toContain(
      'there is no answer from AWS Secrets Manager in eu-west-1 (ECONNREFUSED)',
    );
  });
});

it('the policy for secrets allows exactly the requests that the program makes', async () => {
  const here = await setUp();
  await show(here, {
    INFLUENCER_API_KEY_AWS_SECRET: 'shop/api-key',
    DATABASE_URL_AWS_PARAMETER: '/shop/database-url',
  });
  const path = new URL('../../deploy/aws/secrets-policy.json', import.meta.url);
  const policy = JSON.parse(readFileSync(path, 'utf8')) as { Statement: { Sid: string; Action: string }[] };
  const actions = here.store.requests.map(({ operation }) =>
    operation.replace(/^AmazonSSM\./, 'ssm:').replace(/^secretsmanager\./, 'secretsmanager:'),
  );
  // AWS decrypts on behalf of the caller, so no request of this project asks for it.
  const asked = policy.Statement.filter(({ Sid: sid }) => sid !== 'DecryptThroughThem');
  expect(asked.map(({ Action: action }) => action).toSorted()).toEqual(actions.toSorted());
});
