import type { Server, Socket } from 'node:net';

export type ConnectionLimits = { readonly total: number; readonly perAddress: number };

/** Controls which connections may be closed to make room for others. */
export type ConnectionGuard = {
  /** Protects a connection while its genuine request is being answered. */
  protect(socket: Socket): void;
  /** Ends the protection once the request was answered. The connection then waits for the next request. */
  release(socket: Socket): void;
};

type Connection = {
  readonly socket: Socket;
  readonly address: string;
  readonly isProtected: boolean;
  /** By the monotonic clock. */
  readonly waitsSinceMs: number;
};

/**
 * A genuine request arrives one round trip after its connection. Within this time even a busy process has
 * read it.
 */
const PATIENCE_MS = 2_000;

/**
 * Keeps a server available for genuine senders while others hold connections on which they send little or
 * nothing. If an address has too many connections, its longest waiting one is closed for the new one. If the
 * whole server has too many, one of the address with the most connections is closed. So a client that floods
 * the server closes its own connections. If no connection has waited for two seconds, the new one is refused,
 * because many genuine requests at once must not close each other.
 */
export function limitConnections(server: Server, { total, perAddress }: ConnectionLimits): ConnectionGuard {
  // Ordered by the time at which they started to wait.
  const connections = new Map<Socket, Connection>();
  const ofAddress = new Map<string, number>();

  const forget = (socket: Socket): void => {
    const connection = connections.get(socket);
    if (connection === undefined || !connections.delete(socket)) return;
    const left = (ofAddress.get(connection.address) ?? 1) - 1;
    if (left > 0) ofAddress.set(connection.address, left);
    else ofAddress.delete(connection.address);
  };
  const end = (socket: Socket): void => {
    forget(socket);
    socket.destroy();
  };
  /** The first unprotected connection has waited longest, because a released connection moves to the end. */
  const findLongestWaiting = (address: string): Socket | null => {
    const before = performance.now() - PATIENCE_MS;
    for (const { socket, address: its, isProtected, waitsSinceMs } of connections.values()) {
      if (its === address && !isProtected) return waitsSinceMs < before ? socket : null;
    }
    return null;
  };
  const moveToEnd = (socket: Socket, isProtected: boolean): void => {
    const connection = connections.get(socket);
    if (connection === undefined) return;
    connections.delete(socket);
    connections.set(socket, { ...connection, isProtected, waitsSinceMs: performance.now() });
  };

  server.on('connection', (socket) => {
    const address = addressOf(socket);
    connections.set(socket, { socket, address, isProtected: false, waitsSinceMs: performance.now() });
    ofAddress.set(address, (ofAddress.get(address) ?? 0) + 1);
    socket.once('close', () => forget(socket));
    if ((ofAddress.get(address) ?? 0) > perAddress) end(findLongestWaiting(address) ?? socket);
    else if (connections.size > total) end(findLongestWaiting(largest(ofAddress)) ?? socket);
  });
  return { protect: (socket) => moveToEnd(socket, true), release: (socket) => moveToEnd(socket, false) };
}

function largest(counts: ReadonlyMap<string, number>): string {
  let [best, most] = ['', 0];
  for (const [address, count] of counts) if (count > most) [best, most] = [address, count];
  return best;
}

/**
 * The key by which connections are counted. A host with one IPv6 address usually controls 2^64 of them, so
 * only the first half counts.
 */
function addressOf({ remoteAddress = '' }: Socket): string {
  const address = remoteAddress.replace(/^::ffff:/i, '');
  return address.includes(':') ? address.split(':').slice(0, 4).join(':') : address;
}
