import { refusal } from '../../core/known-error.ts';
import type { JobDecision } from '../../decisions/control-job.ts';
import { defineCommand } from '../command.ts';

const DECISIONS: Readonly<Record<JobDecision, string>> = {
  run_now: 'have `serve` run the job now, in addition to its schedule',
  pause: 'skip the slots of a job until you resume it',
  resume: 'stop skipping the slots of a job, from the next one on',
};

export const jobsCommand = defineCommand({
  name: 'jobs',
  summary: 'list the jobs: last and next run, and whether they are paused',
  description: 'list the jobs: when each runs next, how its last run ended, and whether it is paused',
  examples: [
    ['jobs', 'every job of the configuration'],
    ["jobs pause orders --reason 'the shop corrects its export'", 'skip its slots'],
    ["jobs resume orders --reason 'corrected'", 'run it again from the next slot on'],
    ["jobs run-now orders --reason 'corrected'", '`serve` starts a run within seconds'],
  ],
  async action({ output, open }) {
    const { nextSlots } = await import('../../ops/schedule/next-slots.ts');
    const { describeJobs } = await import('../../reports/runs/runs.ts');
    const { listRuns } = await import('../../reports/runs/list-runs.ts');
    const { isServed, listPausedJobs } = await import('../../reports/runs/list-slots.ts');
    const { config, read } = await open();
    const jobs = Object.values(config.jobs);
    const slots = nextSlots(jobs, new Date());
    const { paused, runs, served } = await read(async (db) => ({
      paused: await listPausedJobs(db),
      runs: await listRuns(db, { perJob: true, limit: MAX_JOBS }),
      served: await isServed(db),
    }));
    const names = new Set([...jobs.map(({ name }) => name), ...paused.map(({ job }) => job)]);
    const listed = [...names].map((name) => {
      const { kind = null, schedule = null, timeZone = null, after = null } = config.jobs[name] ?? {};
      return {
        job: name,
        kind,
        schedule,
        timeZone,
        after,
        nextSlot: slots.find(({ job }) => job === name)?.at ?? null,
        lastRun: runs.find(({ job }) => job === name) ?? null,
        paused: paused.find(({ job }) => job === name) ?? null,
      };
    });
    for (const { lastRun, paused: pause, ...job } of listed)
      output.emit({
        event: 'job',
        ...job,
        last_run: lastRun === null ? null : { run_id: lastRun.runId, status: lastRun.status },
        paused: pause === null ? null : { by: pause.pausedBy, since: pause.pausedAt, reason: pause.reason },
      });
    output.show(describeJobs(listed, served));
  },
  commands: (['run_now', 'pause', 'resume'] as const).map((decision) =>
    defineCommand({
      name: decision.replace('_', '-'),
      decides: { says: 'why', kept: 'in ops.audit' },
      description: DECISIONS[decision],
      takes: [['<job>', 'name of the job']],
      async action({ output, open }, { job, reason }) {
        const { controlJob } = await import('../../decisions/control-job.ts');
        const { config, decide } = await open();
        const controlled = await decide((trx, here) =>
          controlJob(trx, { jobs: config.jobs, job, decision, reason, ...here }),
        );
        if (controlled.kind === 'refused')
          throw refusal({
            code: 'job_unchanged',
            message: controlled.why,
            where: job,
            help: 'See the state of each job: npx influencer-sync jobs',
          });
        output.emit({ event: 'job_changed', job, decision, audit_id: controlled.auditId });
        output.print(controlled.summary);
      },
    }),
  ),
});

/** Maximum number of jobs. Jobs of earlier configurations have runs too. */
const MAX_JOBS = 1_000;
