import pg from 'pg';

/** Properties of a connection that the driver has but its types do not declare. */
export type WireClient = pg.PoolClient & {
  readonly host: string;
  readonly port: number;
  readonly ssl: pg.ClientConfig['ssl'];
  /**
   * Id of the server process. Behind a pooler, an id that the pooler assigned and maps to the server process.
   */
  readonly processID: number;
  readonly secretKey: number;
  readonly connection: { readonly stream: { destroy(error?: Error): void } };
};

type WireConnection = pg.Connection & {
  connect(port: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
};

/** The server closes the connection once it has passed the request on. */
const TIMEOUT_MS = 2_000;

/**
 * Asks the server to cancel the current statement of a connection. The cancel request is part of the
 * protocol, so it needs no free connection and no privileges, and poolers pass it on. There is no reply that
 * says whether anything was cancelled.
 *
 * @returns when the request was passed on, or failed.
 */
export function requestCancel(client: WireClient): Promise<void> {
  const { host, port, ssl } = client;
  const connection = new pg.Connection({ ssl }) as WireConnection;
  const send = (): void => connection.cancel(client.processID, client.secretKey);
  return new Promise((resolve) => {
    const timer = setTimeout(() => connection.stream.destroy(), TIMEOUT_MS);
    connection.on('connect', () => (ssl ? connection.requestSsl() : send()));
    connection.on('sslconnect', send);
    connection.on('error', () => connection.stream.destroy());
    connection.on('end', () => {
      clearTimeout(timer);
      resolve();
    });
    if (host.startsWith('/')) connection.connect(`${host}/.s.PGSQL.${port}`);
    else connection.connect(port, host);
  });
}
