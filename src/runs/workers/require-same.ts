import { hostname } from 'node:os';
import { configurationError } from '../../core/known-error.ts';

/** @throws KnownError `worker_differs` if this worker would not do the same as the run. */
export function requireSame(
  what: string,
  { here, there }: { readonly here: unknown; readonly there: unknown },
): void {
  if (here === there) return;
  throw configurationError({
    code: 'worker_differs',
    message: `A worker (process ${process.pid} on ${hostname()}) has a different ${what} than the run.`,
    help: 'Give all processes that run jobs, and all workers, the same configuration, layouts and environment, and restart them.',
    safe: 'This unit changed nothing.',
  });
}
