import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

/** The content of an account in its region. */
export type SecretStoreContent = {
  /** Secrets by name: text, bytes, or null for a secret that is scheduled for deletion. */
  readonly secrets?: Readonly<Record<string, string | Buffer | null>>;
  readonly parameters?: Readonly<Record<string, string>>;
};

export type SecretStore = {
  /** Variables for the standard chain: addresses, region, credentials. */
  readonly env: Readonly<Record<string, string>>;
  /** The requested operations, with their regions and ids. */
  readonly requests: readonly { readonly operation: string; readonly region: string; readonly id: string }[];
  /** Answers the next request with this error instead. */
  readonly fail: (fault: { readonly status: number; readonly code: string }) => void;
};

const ACCESS_KEY_ID = 'TESTACCESSKEY';
const REGION = 'eu-west-1';

/** The member of a request that contains the requested id, by the service that the request is signed for. */
const SERVICES = { secretsmanager: 'SecretId', ssm: 'Name' } as const;

/**
 * Implements GetSecretValue of Secrets Manager and GetParameter of Systems Manager, with the protocol of both
 * (AWS JSON 1.1: a POST whose X-Amz-Target names the operation). Checks the key, region and service of the
 * signature, but not the signature itself. It is closed when the test ends.
 */
export async function startSecretStore({
  secrets = {},
  parameters = {},
}: SecretStoreContent): Promise<SecretStore> {
  const requests: { operation: string; region: string; id: string }[] = [];
  const faults: { readonly status: number; readonly code: string }[] = [];

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, accessKeyId, region = '', service = ''] =
      /Credential=([^/]+)\/\d{8}\/([^/]+)\/([^/]+)\/aws4_request/.exec(request.headers.authorization ?? '') ??
      [];
    const body = JSON.parse((await request.toArray()).join('')) as Record<string, unknown>;
    const operation = String(request.headers['x-amz-target']);
    const id = String(body[SERVICES[service as keyof typeof SERVICES]]);
    requests.push({ operation, region, id });
    const send = (status: number, content: object): void => {
      response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' });
      response.end(JSON.stringify(content));
    };
    const refuse = (code: string, status = 400): void => send(status, { __type: code, message: code });
    const fault = faults.shift();
    if (fault !== undefined) return refuse(fault.code, fault.status);
    if (accessKeyId !== ACCESS_KEY_ID) return refuse('UnrecognizedClientException');
    if (operation === 'AmazonSSM.GetParameter') {
      const value = region === REGION ? parameters[id] : undefined;
      if (value === undefined) return refuse('ParameterNotFound');
      const isSealed = body.WithDecryption !== true;
      return send(200, { Parameter: { Name: id, Type: 'SecureString', Value: isSealed ? 'AQICAH' : value } });
    }
    if (operation !== 'secretsmanager.GetSecretValue') return refuse('InvalidAction');
    // An ARN ends with six characters that AWS has appended to the name.
    const [, arnRegion = REGION, name = id] =
      /^arn:aws:secretsmanager:([\w-]+):\d+:secret:(.+)-\w{6}$/.exec(id) ?? [];
    const value = region === arnRegion ? secrets[name] : undefined;
    if (value === undefined) return refuse('ResourceNotFoundException');
    if (value === null) return refuse('InvalidRequestException');
    send(
      200,
      typeof value === 'string' ? { SecretString: value } : { SecretBinary: value.toString('base64') },
    );
  }

  const server: Server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    env: {
      AWS_ENDPOINT_URL_SECRETS_MANAGER: url,
      AWS_ENDPOINT_URL_SSM: url,
      AWS_REGION: REGION,
      AWS_ACCESS_KEY_ID: ACCESS_KEY_ID,
      AWS_SECRET_ACCESS_KEY: 'test-secret-access-key',
      // Disables all other sources of credentials, both files of this user and the machine's metadata.
      AWS_CONFIG_FILE: '/nonexistent/config',
      AWS_SHARED_CREDENTIALS_FILE: '/nonexistent/credentials',
      AWS_EC2_METADATA_DISABLED: 'true',
    },
    requests,
    fail: (fault) => faults.push(fault),
  };
}
