import { expect, it } from 'vitest';
import { configurationError } from '../../src/core/known-error.ts';
import type { RunRequests, RunStep } from '../../src/core/run.ts';
import { explainAbort } from '../../src/ops/run.ts';
import { beginRun } from '../../src/ops/run-record.ts';
import { saveRunActivity } from '../../src/runs/record-activity.ts';
import { setup } from '../support/setup.ts';

it('what a run has done replaces what was written before; what it said is added once', async () => {
  const { db } = await setup();
  const runId = await beginRun(db, { job: 'orders', kind: 'test' });
  const at = (second: number) => new Date(Date.UTC(2026, 4, 1, 10, 0, second));
  const step = (change: Partial<RunStep> = {}): RunStep => ({
    name: 'read',
    label: 'Reading a.csv',
    times: 1,
    startedAt: at(0),
    finishedAt: null,
    seconds: 1,
    unit: 'bytes',
    done: 10,
    total: null,
    ...change,
  });
  const requests: RunRequests = {
    operation: 'x',
    requests: 4,
    answered: 1,
    refused: 1,
    throttled: 1,
    failed: 1,
    medianMs: 1,
    p95Ms: 2,
    slowestMs: 3,
  };
  const said = { number: 0, at: at(1), message: 'It begins.' };
  await saveRunActivity(db, { runId, activity: { steps: [step()], requests: [requests], messages: [said] } });
  const read = step({ label: 'Reading b.csv', times: 2, finishedAt: at(9), seconds: 9, done: 20, total: 20 });
  const more = {
    operation: 'x',
    requests: 14,
    answered: 5,
    refused: 4,
    throttled: 3,
    failed: 2,
    medianMs: 4,
    p95Ms: 5,
    slowestMs: 6,
  };
  await saveRunActivity(db, {
    runId,
    activity: {
      steps: [read, step({ name: 'post', label: 'Posting' })],
      requests: [more],
      messages: [said, { ...said, number: 1, message: 'It ends.' }],
    },
  });
  expect(await db.selectFrom('ops.run_steps').selectAll().orderBy('position').execute()).toEqual([
    {
      run_id: runId,
      step: 'read',
      position: 0,
      label: 'Reading b.csv',
      times: 2,
      started_at: at(0),
      seconds: '9.000',
      finished_at: at(9),
      unit: 'bytes',
      done: '20',
      total: '20',
    },
    {
      run_id: runId,
      step: 'post',
      position: 1,
      label: 'Posting',
      times: 1,
      started_at: at(0),
      seconds: '1.000',
      finished_at: null,
      unit: 'bytes',
      done: '10',
      total: null,
    },
  ]);
  expect(await db.selectFrom('ops.run_requests').selectAll().execute()).toEqual([
    {
      run_id: runId,
      operation: 'x',
      requests: '14',
      answered: '5',
      refused: '4',
      throttled: '3',
      failed: '2',
      median_ms: '4.0',
      p95_ms: '5.0',
      slowest_ms: '6.0',
    },
  ]);
  const messages = await db.selectFrom('ops.run_messages').select('message').orderBy('message_no').execute();
  expect(messages.map(({ message }) => message)).toEqual(['It begins.', 'It ends.']);
});

it('the error of a read that was told to stop says so, or says why if that is known; any other error stays as it is', () => {
  const lost = configurationError({ code: 'lost', message: 'It is lost.', help: 'Look.', safe: 'Nothing.' });
  const other = new Error('a bug');
  const abort = (reason?: unknown) => AbortSignal.abort(reason);
  const read = new DOMException('aborted', 'AbortError');
  expect(explainAbort(read, abort())).toMatchObject({ details: { code: 'interrupted', exitCode: 130 } });
  expect(explainAbort(read, abort(lost))).toBe(lost);
  expect(explainAbort(lost, abort(lost))).toBe(lost);
  expect(explainAbort(other, abort())).toBe(other);
  expect(explainAbort(read, new AbortController().signal)).toBe(read);
});
