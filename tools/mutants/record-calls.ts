/**
 * A setup file: notes which functions of `src/` and `jobs/` a test file calls, so that a fault is shown only to tests that reach it.
 * Functions that a test calls in another process are not noted.
 */
import { Session } from 'node:inspector';
import { afterAll, inject } from 'vitest';

/** The names of the called functions of each file, by its path from the root of the checkout. */
export type Calls = Readonly<Record<string, readonly string[]>>;

declare module 'vitest' {
  interface TaskMeta {
    calls?: Calls;
  }
  export interface ProvidedContext {
    /** False while a fault is tried: only the run without one says what a test calls. */
    recordsCalls: boolean;
  }
}

// Test files share a process, and this module is evaluated for each of them.
const shared = globalThis as { mutantsSession?: Session };

function openSession(): Session {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return session;
}

/** The functions called since the last time. The answer comes before `post` returns. */
function takeCalls(session: Session): Calls {
  const calls: Record<string, string[]> = {};
  session.post('Profiler.takePreciseCoverage', (_error, { result }) => {
    for (const { url, functions } of result) {
      const [, path] = /\/((?:src|jobs)\/[^?]*\.ts)/.exec(url.replace(process.cwd(), '')) ?? [];
      if (path === undefined) continue;
      calls[path] = functions
        .filter(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0)
        .map(({ functionName }) => functionName);
    }
  });
  return calls;
}

if (inject('recordsCalls')) {
  shared.mutantsSession ??= openSession();
  const session = shared.mutantsSession;
  // biome-ignore lint/correctness/noEmptyPattern: Vitest demands a pattern here.
  afterAll(({}, file) => {
    file.meta.calls = takeCalls(session);
  });
}
