import { defineCommand, NO_WAIT, parseCount, WAIT } from '../command.ts';

const JOB = 'name of the job in the configuration; the only one if you omit it';

const READ_OPTIONS = [
  ['--file <text>', 'read only files whose address contains this text'],
  ['--allow-empty', 'succeed even if there are no files'],
  WAIT,
  NO_WAIT,
] as const;

export const runCommand = defineCommand({
  name: 'run',
  changes: true,
  description: 'run a job once: read new files and do its work',
  takes: [
    ['[job]', JOB],
    [
      '--limit <count>',
      'maximum number of orders, customers or influencers (for clicks: requests) to send; the rest waits',
      parseCount,
    ],
    ...READ_OPTIONS,
    ['--yes', 'approve what the run submits, without being asked (submit-outreach)'],
    [
      '--new-ledger',
      'start a new ledger in place of another one; orders that the old ledger posted may be posted again',
    ],
    [
      '--reason <text>',
      'why you run it, for example again after a failure; kept in ops.audit (with --new-ledger: required)',
    ],
    ['--report <file.html>', 'write the results of the run to a page for the browser'],
  ],
  examples: [
    ['run attribute-orders --dry-run', 'show what it would do: the short form of `plan attribute-orders`'],
    ['run attribute-orders', 'the whole job'],
    ['run attribute-orders --limit 10', 'a careful first run: post ten orders, then check'],
    ["run attribute-orders --reason 'the worker had no memory'", 'again, after units of work failed'],
    ['run attribute-orders --file 2026-04', 'read only the files of April'],
    [
      'run attribute-orders --report report.html',
      'a page that you can share: who earned what, and what to fix',
    ],
    ['run attribute-orders --json | tail -n 1', 'the run_finished event, for a program'],
  ],
  action: async ({ output }, { job: jobName, ...options }) =>
    (await import('./perform-job.ts')).performJob(output, {
      jobName,
      options,
      isPlan: options.dryRun === true,
    }),
});

export const planCommand = defineCommand({
  name: 'plan',
  summary: 'show what `run` would do: reads all, and sends nothing',
  description: 'show what `run` would do now; reads everything, stores nothing and sends nothing',
  takes: [['[job]', JOB], ...READ_OPTIONS],
  examples: [
    ['plan attribute-orders', 'for a person'],
    ['plan attribute-orders --json', 'for a program'],
  ],
  notes:
    'Numbers of runs may be skipped: a plan uses one without storing a run, and so may a run that was killed.',
  action: async ({ output }, { job: jobName, ...options }) =>
    (await import('./perform-job.ts')).performJob(output, { jobName, options, isPlan: true }),
});
