import type { FastifyInstance } from 'fastify';
import { requireWholeLedger } from '../ledger/continuity/compare-ledger.ts';
import { openSignOuts } from '../ops/sign-outs.ts';
import { createAuthenticate } from './access/authenticate.ts';
import { createProviderSignIn } from './access/provider.ts';
import { type BulkWorker, startBulkWorker } from './bulk-worker.ts';
import type { ConsoleOptions } from './console-server.ts';

/**
 * Adds the console to a server, below `console.base_path`. Its pages are loaded with the first request, because
 * most processes only wait for a schedule, and no page is opened there.
 *
 * @throws KnownError about `console.auth` (exit 2).
 */
export function addConsole(server: FastifyInstance, options: ConsoleOptions): void {
  const { config, host, localActor, onError, onLoaded = () => {} } = options;
  const { oidc, url, basePath, readOnly } = config.console;
  const provider =
    oidc === null ? null : createProviderSignIn(oidc, { url, signOuts: openSignOuts(options), onError });
  const authenticate = createAuthenticate(config.console, { host, localActor, provider });
  const onChanged = readOnly ? () => {} : addBulkWorker(server, options);
  let loading: Promise<FastifyInstance | null> | null = null;
  /** Returns null after an error, and the next request tries again. */
  async function load(): Promise<FastifyInstance | null> {
    try {
      const { createConsoleServer } = await import('./console-server.ts');
      const loaded = createConsoleServer({ ...options, authenticate, provider, onChanged });
      await loaded.ready();
      onLoaded();
      return loaded;
    } catch (error) {
      loading = null;
      onError(error);
      return null;
    }
  }
  void server.register(
    async (scope) => {
      // The console reads the body itself.
      scope.removeAllContentTypeParsers();
      scope.addContentTypeParser('*', (_request, _body, done) => done(null));
      for (const path of ['/', '/*'])
        scope.all(path, async (request, reply) => {
          loading ??= load();
          const loaded = await loading;
          // The request is not signed in yet, so the answer must not contain the error.
          if (loaded === null)
            return reply.code(500).send('The console cannot be loaded. The log of the process says why.\n');
          reply.hijack();
          loaded.routing(request.raw, reply.raw);
        });
      scope.addHook('preClose', async () => (await loading)?.close());
    },
    { prefix: basePath },
  );
}

/**
 * Carries out bulk actions that were confirmed here or in another process, while the server listens.
 * @returns a function that makes the worker look for work at once.
 */
function addBulkWorker(server: FastifyInstance, { db, config, onError }: ConsoleOptions): () => void {
  let worker: BulkWorker | null = null;
  server.addHook('onListen', async () => {
    const mayDecide = () => requireWholeLedger(db, config);
    worker = startBulkWorker({ db, config, leaseMs: config.api.leaseSeconds * 1000, mayDecide, onError });
  });
  server.addHook('preClose', async () => worker?.stop());
  return () => worker?.wake();
}
