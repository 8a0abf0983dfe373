import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net';

export type DatabaseProxy = {
  /** Like the URL of the database, but through the proxy. */
  readonly url: string;
  /** Cuts all connections and refuses new ones, like an unreachable database. */
  cut(): void;
  /**
   * Stops forwarding without closing anything: connections stay open, and new ones are accepted, but nothing
   * is answered.
   */
  silence(): void;
  /**
   * Holds everything back until `restore()`, and then delivers it, like a network that retransmits packets: a
   * request may arrive long after its sender has given it up.
   */
  delay(): void;
  /** Cuts all connections, and routes new ones to another server. */
  moveTo(databaseUrl: string): void;
  /** Accepts connections again. */
  restore(): void;
  close(): Promise<void>;
};

/** @param connection number of the connection, starting at 1. */
type Decide = (bytes: Buffer, connection: number) => 'forward' | 'drop';

export type DatabaseProxyOptions = {
  /**
   * Called with the bytes that a client sends. `drop` means that the server never receives them and the
   * connection is cut.
   */
  readonly onRequest?: Decide;
  /**
   * Called with the bytes that the server answers. `drop` means that the client never receives them and the
   * connection is cut.
   */
  readonly onAnswer?: Decide;
};

/**
 * Starts a proxy between a process and Postgres. A test can use it to cut a connection at a chosen statement,
 * before or after it took effect.
 */
export async function startDatabaseProxy(
  databaseUrl: string,
  options: DatabaseProxyOptions = {},
): Promise<DatabaseProxy> {
  let target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let isCut = false;
  let isSilent = false;
  let isDelayed = false;
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
    if (isDelayed) for (const socket of [client, upstream]) socket.pause();
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
    delay: () => {
      isDelayed = true;
      for (const socket of sockets) socket.pause();
    },
    moveTo: (databaseUrl) => {
      for (const socket of sockets) socket.destroy();
      target = new URL(databaseUrl);
      isCut = false;
    },
    restore: () => {
      isCut = false;
      isSilent = false;
      isDelayed = false;
      for (const socket of sockets) socket.resume();
    },
    close: () => {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Forwards bytes after `decide` has seen them. Drops them silently while the proxy is silenced. */
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
