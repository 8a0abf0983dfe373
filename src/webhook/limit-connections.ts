import type { Server, Socket } from 'node:net';

export type ConnectionLimits = {
  /** Connections at most. */
  readonly total: number;
  /** Connections of one address at most. */
  readonly perAddress: number;
};

/** Knows which connections may be ended to make place for another one. */
export type ConnectionGuard = {
  /** What came by it is genuine and is being answered: it is not ended meanwhile. */
  protect(socket: Socket): void;
  /** It was answered, and waits for the next request. */
  release(socket: Socket): void;
};

type Connection = {
  readonly socket: Socket;
  readonly address: string;
  readonly isProtected: boolean;
  /** By the monotonic clock. */
  readonly waitsSinceMs: number;
};

/** A genuine request is there a round trip after its connection; so long also a process that is busy has read it. */
const PATIENCE_MS = 2_000;

/**
 * Keeps a server open for genuine senders while others hold connections on which they send little or nothing. Where an address, or the
 * server, has too many, the one that has waited longest is ended for a new one; of the whole server, one of the address that has the most. So
 * a client that floods it ends its own connections. Where none has waited for two seconds, the new one is refused: many genuine requests at once
 * must not end each other.
 */
export function limitConnections(server: Server, { total, perAddress }: ConnectionLimits): ConnectionGuard {
  // In the order in which they began to wait.
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
  /** What was released, and so waits again, stands at the end. */
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
  return {
    protect: (socket) => moveToEnd(socket, true),
    release: (socket) => moveToEnd(socket, false),
  };
}

function largest(counts: ReadonlyMap<string, number>): string {
  let [best, most] = ['', 0];
  for (const [address, count] of counts) if (count > most) [best, most] = [address, count];
  return best;
}

/** A host with one IPv6 address has 2^64 of them: the first half counts. */
function addressOf({ remoteAddress = '' }: Socket): string {
  const address = remoteAddress.replace(/^::ffff:/i, '');
  return address.includes(':') ? address.split(':').slice(0, 4).join(':') : address;
}
