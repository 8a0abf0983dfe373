/** A server that accepts whatever is posted to it and keeps nothing. Prints its address. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const server = createServer((request, reply) => {
  request.resume();
  request.on('end', () => reply.end('{}'));
});
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}`, key: 'none' })}\n`);
});
process.once('SIGTERM', () => {
  server.closeAllConnections();
  server.close();
});
