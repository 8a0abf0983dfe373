import type { JobDecision } from '../../../pipeline/decisions/control-job.ts';
import { addConfigOptions, addExamples, type CommandDefinition, type ConfigOptions } from '../command.ts';

export type ControlJobOptions = ConfigOptions & { readonly reason: string };

const DECISIONS: readonly {
  readonly name: string;
  readonly decision: JobDecision;
  readonly description: string;
}[] = [
  {
    name: 'run-now',
    decision: 'run_now',
    description: 'ask the process that serves for a run now, beside the schedule',
  },
  { name: 'pause', decision: 'pause', description: 'skip the slots of a job until you resume it' },
  { name: 'resume', decision: 'resume', description: 'run the slots of a job again, from the next one on' },
];

export const jobsCommand: CommandDefinition = {
  name: 'jobs',
  define(command, act) {
    addConfigOptions(
      command.description('list the jobs: when each runs next, how it ended last, whether it is paused'),
    ).action(
      act(async (output, options: ConfigOptions) =>
        (await import('../../actions/manage-jobs.ts')).showJobs(output, options),
      ),
    );
    addExamples(command, [
      ['jobs', 'every job of the configuration'],
      ["jobs pause orders --reason 'the shop corrects its export'", 'its slots are skipped'],
      ["jobs resume orders --reason 'corrected'", 'from the next slot on it runs again'],
      ["jobs run-now orders --reason 'corrected'", '`serve` begins a run within seconds'],
    ]);
    for (const { name, decision, description } of DECISIONS)
      addConfigOptions(command.command(name).description(description))
        .argument('<job>', 'name of the job')
        .requiredOption('--reason <text>', 'why; kept in ops.audit')
        .action(
          act(async (output, job: string, options: ControlJobOptions) =>
            (await import('../../actions/manage-jobs.ts')).performControl(output, { job, decision, options }),
          ),
        );
  },
};
