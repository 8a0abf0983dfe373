/** A process that starts a server, prints its URL, and waits to be killed. */
import { startPostgresServer } from './postgres-server.ts';

const { url } = await startPostgresServer();
process.stdout.write(`${url}\n`);
setInterval(() => {}, 60_000);
