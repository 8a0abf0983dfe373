import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ports that systems give to outgoing connections, which would take one before its server listens. */
const [FIRST, AFTER_LAST] = [12_000, 32_000];

/** Returns a port of the loopback interface that is currently free. */
export async function findFreePort(): Promise<number> {
  const port = randomInt(FIRST, AFTER_LAST);
  const server = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
  return isFree ? port : findFreePort();
}
