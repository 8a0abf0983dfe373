import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { applyMutant, type Mutant } from './list-mutants.ts';
import type { HaveRun, ToRun } from './run-tests-process.ts';

export type Stage = {
  readonly tests: readonly string[];
  /** How many tests pass without a fault. */
  readonly passed: number;
  /** How long all of them may take, and how long each test. */
  readonly limitMs: number;
  readonly testTimeoutMs: number;
};

/** What noticed a fault; null if nothing did. `late` has the tests that took too long; null if none did. */
export type Notice = { readonly by: string | null; readonly late: Stage | null };

export type TestRunner = {
  /** Runs test files of the copy until one fails. Null if they do not end within the limit. */
  run(
    tests: readonly string[],
    options: Pick<Stage, 'limitMs' | 'testTimeoutMs'> & { readonly recordsCalls: boolean },
  ): Promise<HaveRun | null>;
  /** Runs test files against a fault, one stage after the other, until a test fails or the limit of a stage is over. */
  tryMutant(mutant: Mutant, stages: readonly Stage[]): Promise<Notice>;
  close(): Promise<void>;
};

/** Copies a checkout to a folder of its own, uncommitted changes included, and runs tests there. */
export function openTestRunner(root: string): TestRunner {
  const copy = mkdtempSync(join(tmpdir(), 'influencer-sync-mutants-'));
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  // One that was deleted but not committed is listed, and is not there.
  for (const file of files.split('\0'))
    if (file !== '' && existsSync(join(root, file)))
      cpSync(join(root, file), join(copy, file), { verbatimSymlinks: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  let child: ChildProcess | null = null;
  /** The files that are not what the tests have loaded last. */
  const changed = new Set<string>();

  function start(): ChildProcess {
    child ??= spawn(process.execPath, ['tools/mutants/run-tests-process.ts'], {
      cwd: copy,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      detached: true,
    });
    return child;
  }

  async function end(): Promise<void> {
    const ending = child;
    child = null;
    if (ending?.pid === undefined || ending.exitCode !== null) return;
    const ended = once(ending, 'exit');
    // It is the leader of a group: the workers that hang are in it. Its server ends by itself.
    process.kill(-ending.pid, 'SIGKILL');
    await ended;
  }

  async function ask(request: Omit<ToRun, 'changed'>, limitMs: number): Promise<HaveRun | null> {
    const asked = start();
    const over = new AbortController();
    const answered = once(asked, 'message', { signal: over.signal }).then(([answer]) => answer as HaveRun);
    const ended = once(asked, 'exit', { signal: over.signal }).then(() => null);
    const late = sleep(limitMs, null, { signal: over.signal });
    asked.send({ ...request, changed: [...changed] } satisfies ToRun);
    changed.clear();
    const answer = await Promise.race([answered, ended, late]);
    over.abort();
    await Promise.allSettled([answered, ended, late]);
    if (answer === null) await end();
    return answer;
  }

  /** Vitest may cancel a run because a test has failed in the one before: then no test fails, and some do not run. */
  async function runWhole({ tests, passed, limitMs, testTimeoutMs }: Stage): Promise<HaveRun | null> {
    for (let left = 2; ; left -= 1) {
      const answer = await ask({ tests, recordsCalls: false, testTimeoutMs }, limitMs);
      const isCancelled = answer !== null && answer.failed === null && passedIn(answer) < passed;
      if (!isCancelled || left === 0) return answer;
    }
  }

  return {
    run: (tests, { limitMs, ...options }) => ask({ tests, ...options }, limitMs),
    async tryMutant(mutant, stages) {
      const path = join(copy, mutant.file);
      const source = readFileSync(path, 'utf8');
      // The databases of the tests are copies of one that the process has migrated at its start.
      const isMigration = path.endsWith('.sql');
      if (isMigration) await end();
      writeFileSync(path, applyMutant(source, mutant));
      changed.add(mutant.file);
      try {
        for (const stage of stages) {
          const answer = await runWhole(stage);
          if (answer === null)
            return {
              by: `no end of ${stage.tests[0]} within ${Math.round(stage.limitMs / 1000)} s`,
              late: stage,
            };
          const { failed, isLate } = answer;
          if (failed === null) continue;
          const late = { ...stage, tests: stage.tests.filter((test) => failed.startsWith(test)) };
          return { by: failed, late: isLate ? late : null };
        }
        return { by: null, late: null };
      } finally {
        writeFileSync(path, source);
        changed.add(mutant.file);
        if (isMigration) await end();
      }
    },
    async close() {
      await end();
      rmSync(copy, { recursive: true, force: true });
    },
  };
}

function passedIn({ files }: HaveRun): number {
  return Object.values(files).reduce((sum, { passed }) => sum + passed, 0);
}
