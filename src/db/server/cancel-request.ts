import pg from 'pg';

/** What the driver knows of a connection and its types do not say. */
export type WireClient = pg.PoolClient & {
  readonly host: string;
  readonly port: number;
  readonly ssl: pg.ClientConfig['ssl'];
  /** Of the server's process; of a pooler's making behind one, which knows what it stands for. */
  readonly processID: number;
  readonly secretKey: number;
  readonly connection: { readonly stream: { destroy(error?: Error): void } };
};

type WireConnection = pg.Connection & {
  connect(port: number | string, host?: string): void;
  requestSsl(): void;
  cancel(processId: number, secretKey: number): void;
};

/** The server closes the connection when it has passed the request on. */
const TIMEOUT_MS = 2_000;

/**
 * Asks the server to cancel what a connection has it do. As part of the protocol it needs no free connection and no rights, and poolers
 * pass it on. Nothing says whether there was anything to cancel.
 *
 * @returns when the request was passed on, or could not be.
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
