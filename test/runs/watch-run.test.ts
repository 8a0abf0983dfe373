import { expect, it, onTestFinished } from 'vitest';
import { type WatchedRun, watchRun } from '../../src/runs/watch-run.ts';
import { waitFor } from '../support/wait-for.ts';

const SHORT = 0.005; // minutes

function watch(limits: {
  deadlineMinutes?: number;
  stepMinutes?: number;
  stallMinutes?: number;
}): WatchedRun {
  const timing = { deadlineMinutes: null, stepMinutes: null, stallMinutes: 60, ...limits };
  const watched = watchRun({
    timing,
    draining: new AbortController().signal,
    graceMs: 60_000,
    cut: () => {},
  });
  onTestFinished(() => watched.stop());
  return watched;
}

/** Keeps reporting activity of a run until it is asked to end. */
async function move(watched: WatchedRun, how: (watched: WatchedRun) => void): Promise<string> {
  await waitFor(() => {
    how(watched);
    return watched.draining.aborted;
  });
  return (watched.draining.reason as Error).message;
}

const begin =
  (name: string) =>
  ({ progress }: WatchedRun) =>
    progress.begin({ name, label: name, unit: 'rows', total: null });

it('an active run is ended at its deadline', async () => {
  expect(await move(watch({ deadlineMinutes: SHORT }), begin('read'))).toContain('deadline_minutes');
});

it('an active run is ended when one step takes too long, and the message names the step', async () => {
  const watched = watch({ stepMinutes: SHORT });
  begin('post')(watched);
  expect(await move(watched, ({ progress }) => progress.advance(1))).toBe(
    `The step post took longer than ${SHORT} minutes (step_minutes), and the run was ended.`,
  );
});

it('a run without progress is ended, and answers of the service count as progress', async () => {
  const still = watch({ stallMinutes: SHORT });
  const moving = watch({ stallMinutes: 0.05 });
  await waitFor(() => {
    moving.notice();
    return still.draining.aborted;
  });
  expect(moving.draining.aborted).toBe(false);
  expect((still.draining.reason as Error).message).toContain('stall_minutes');
});

it('a run is ended together with all others, without a reason of its own', async () => {
  const all = new AbortController();
  const timing = { deadlineMinutes: null, stepMinutes: null, stallMinutes: 60 };
  const watched = watchRun({ timing, draining: all.signal, graceMs: 1, cut: () => {} });
  all.abort();
  expect(watched.draining.aborted).toBe(true);
  expect((watched.draining.reason as Error).name).toBe('AbortError');
  watched.stop();
});
