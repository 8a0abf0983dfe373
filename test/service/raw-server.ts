import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export type RawServer = {
  readonly url: string;
  readonly port: number;
  /** Everything the server received, by connection. */
  readonly received: string[];
  close(): Promise<void>;
};

/**
 * Starts a server of raw bytes. The test decides what happens on each connection and each piece of data. The
 * server stops when the test ends.
 */
export async function startRawServer(options: {
  readonly onConnection?: (socket: Socket, index: number) => void;
  readonly onData?: (socket: Socket, data: string, index: number) => void;
  readonly allowHalfOpen?: boolean;
}): Promise<RawServer> {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  const server: Server = createServer({ allowHalfOpen: options.allowHalfOpen ?? false }, (socket) => {
    const index = received.push('') - 1;
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    options.onConnection?.(socket, index);
    socket.on('data', (data) => {
      received[index] += data.toString();
      options.onData?.(socket, data.toString(), index);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(() => resolve()));
  };
  onTestFinished(close);
  return { url: `http://127.0.0.1:${port}`, port, received, close };
}

/** Builds a complete HTTP response. */
export function httpAnswer(status: number, body: string, headers: readonly string[] = []): string {
  const lines = [`HTTP/1.1 ${status} X`, `content-length: ${Buffer.byteLength(body)}`, ...headers];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
