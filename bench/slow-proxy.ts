/**
 * Forwards requests to an S3 store on this machine, and delays each request for an object, as a store far away
 * does. Run as a process of its own: `node bench/slow-proxy.ts <url of the store> <milliseconds>`. Prints its
 * address.
 */
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

const [, , store = '', latencyMs = '0'] = process.argv;
const agent = new Agent({ keepAlive: true });

const server = createServer((incoming, outgoing) => {
  const { method, url = '/', headers } = incoming;
  const isOfObject = method === 'GET' && !url.includes('list-type=');
  setTimeout(
    () => {
      const forwarded = request(store, { agent, method, path: url, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        pipeline(answer, outgoing, () => {});
      });
      forwarded.on('error', () => outgoing.destroy());
      pipeline(incoming, forwarded, () => {});
    },
    isOfObject ? Number(latencyMs) : 0,
  );
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}`, key: '' })}\n`);
});
