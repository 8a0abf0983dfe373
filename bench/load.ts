/**
 * Sends requests over plain sockets, because a client library costs more than the measured route. So the
 * server is the bottleneck, not the sender.
 */
import { connect, type Socket } from 'node:net';

export type Load = {
  readonly url: string;
  readonly path: string;
  readonly key: string;
  readonly requests: number;
  /** Number of connections, each with one request at a time. */
  readonly connections: number;
  /** Returns the JSON body of the request with this number, starting at 0. */
  readonly bodyOf: (number: number) => string;
  /** Returns headers that depend on the body. */
  readonly headersOf?: (body: string) => Readonly<Record<string, string>>;
};

/**
 * Sends all requests.
 *
 * @returns requests per second.
 * @throws Error if an answer is not 200 or a connection ends.
 */
export async function sendLoad(load: Load): Promise<number> {
  const sockets = await Promise.all(Array.from({ length: load.connections }, () => open(load.url)));
  let next = 0;
  const startedAt = performance.now();
  await Promise.all(sockets.map((socket) => sendInTurn(socket, load, () => next++)));
  const seconds = (performance.now() - startedAt) / 1000;
  for (const socket of sockets) socket.destroy();
  return load.requests / seconds;
}

function open(url: string): Promise<Socket> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ host: hostname, port: Number(port), noDelay: true }, () =>
      resolve(socket),
    );
    socket.once('error', reject).setEncoding('latin1');
  });
}

/** Uses one connection: sends the next request once the previous answer has arrived completely. */
function sendInTurn(socket: Socket, load: Load, take: () => number): Promise<void> {
  const head = `POST ${load.path} HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\nx-api-key: ${load.key}\r\n`;
  return new Promise((resolve, reject) => {
    let answer = '';
    function sendNext(): void {
      const number = take();
      if (number >= load.requests) {
        resolve();
        return;
      }
      const body = load.bodyOf(number);
      const own = Object.entries(load.headersOf?.(body) ?? {}).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      );
      socket.write(`${head}${own.join('')}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    }
    socket.on('data', (chunk) => {
      answer += String(chunk);
      if (!isWhole(answer)) return;
      if (!answer.startsWith('HTTP/1.1 200 ')) reject(new Error(`not 200: ${answer.slice(0, 200)}`));
      answer = '';
      sendNext();
    });
    socket.once('close', () => reject(new Error('the connection ended')));
    sendNext();
  });
}

function isWhole(answer: string): boolean {
  const headEnd = answer.indexOf('\r\n\r\n');
  if (headEnd === -1) return false;
  const length = /\r\ncontent-length: (\d+)\r\n/i.exec(answer.slice(0, headEnd + 2))?.[1];
  return answer.length >= headEnd + 4 + Number(length);
}
