import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net';

export type DatabaseProxy = {
  /** Like the database's own, by way of the proxy. */
  readonly url: string;
  /** Cuts all connections and refuses new ones, as a database that is away. */
  cut(): void;
  /** Forwards nothing any more and ends nothing: connections stay open, and new ones come up, without an answer. */
  silence(): void;
  /** Cuts all connections, and leads new ones to another server. */
  moveTo(databaseUrl: string): void;
  /** Lets connections through again. */
  restore(): void;
  close(): Promise<void>;
};

/** @param connection tells the connections apart: 1 for the first. */
type Decide = (bytes: Buffer, connection: number) => 'forward' | 'drop';

export type DatabaseProxyOptions = {
  /** Sees what a client is about to send. `drop`: the server never gets it, and the connection is cut. */
  readonly onRequest?: Decide;
  /** Sees what the server is about to answer. `drop`: the client never gets it, and the connection is cut. */
  readonly onAnswer?: Decide;
};

/** A wire between a process and Postgres that a test can hold at a chosen statement, before or after it took effect. */
export async function startDatabaseProxy(
  databaseUrl: string,
  options: DatabaseProxyOptions = {},
): Promise<DatabaseProxy> {
  let target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let isCut = false;
  let isSilent = false;
  let connections = 0;

  const server = createServer((client) => {
    if (isCut) return void client.destroy();
    const upstream = connectTo({ host: target.hostname, port: Number(target.port) });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    connections += 1;
    const connection = connections;
    const isHeard = (): boolean => !isSilent;
    relay(client, upstream, {
      isHeard,
      decide: (bytes) => options.onRequest?.(bytes, connection) ?? 'forward',
    });
    relay(upstream, client, {
      isHeard,
      decide: (bytes) => options.onAnswer?.(bytes, connection) ?? 'forward',
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(databaseUrl);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);

  function cut(): void {
    isCut = true;
    for (const socket of sockets) socket.destroy();
  }
  return {
    url: url.href,
    cut,
    silence: () => {
      isSilent = true;
    },
    moveTo: (databaseUrl) => {
      for (const socket of sockets) socket.destroy();
      target = new URL(databaseUrl);
      isCut = false;
    },
    restore: () => {
      isCut = false;
      isSilent = false;
    },
    close: () => {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Hands bytes on after `decide` has seen them; drops them silently while nothing is heard. */
function relay(
  from: Socket,
  to: Socket,
  { isHeard, decide }: { isHeard: () => boolean; decide: (bytes: Buffer) => 'forward' | 'drop' },
): void {
  from.on('data', (bytes: Buffer) => {
    if (!isHeard()) return;
    if (decide(bytes) === 'forward') to.write(bytes);
    else from.destroy();
  });
}
