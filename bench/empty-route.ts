/**
 * A fastify route that reads its body and answers `{}`: the upper bound for a server built on fastify. Prints
 * its address in the same way as the sandbox.
 */
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';

const server = Fastify({ exposeHeadRoutes: false, forceCloseConnections: true });
server.post('/*', (_request, reply) => reply.send({}));
await server.listen({ port: 0, host: '127.0.0.1' });
const { port } = server.server.address() as AddressInfo;
process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${port}`, key: 'none' })}\n`);
process.once('SIGTERM', () => void server.close());
