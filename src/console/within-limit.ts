import { setTimeout as sleep } from 'node:timers/promises';
import { KnownError } from '../core/known-error.ts';

export type Tried<Value> =
  | { readonly kind: 'done'; readonly value: Value }
  | { readonly kind: 'failed'; readonly why: string };

/**
 * Waits for the reading of a file, up to a limit. Its store may be slow or unreachable; then the page shows
 * the reason instead of failing.
 */
export async function withinLimit<Value>(work: Promise<Value>, limitMs: number): Promise<Tried<Value>> {
  const timer = new AbortController();
  const late = sleep(limitMs, null, { signal: timer.signal }).then(
    (): Tried<Value> => ({
      kind: 'failed',
      why: `The file could not be read within ${Math.round(limitMs / 1000)} seconds. Try again later, or use the command.`,
    }),
  );
  const done = work.then(
    (value): Tried<Value> => ({ kind: 'done', value }),
    (error: unknown): Tried<Value> => ({
      kind: 'failed',
      why:
        error instanceof KnownError
          ? `${error.details.message} ${error.details.help}`
          : 'The file could not be read.',
    }),
  );
  try {
    return await Promise.race([done, late]);
  } finally {
    late.catch(() => {});
    timer.abort();
  }
}
