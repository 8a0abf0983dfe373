import type { JobDecision } from '../../../decisions/control-job.ts';
import { addConfigOptions, addExamples, type CommandDefinition, type ConfigOptions } from '../../command.ts';

export type ControlJobOptions = ConfigOptions & { readonly reason: string };

const DECISIONS: readonly {
  readonly name: string;
  readonly decision: JobDecision;
  readonly description: string;
}[] = [
  {
    name: 'run-now',
    decision: 'run_now',
    description: 'have `serve` run the job now, in addition to its schedule',
  },
  { name: 'pause', decision: 'pause', description: 'skip the slots of a job until you resume it' },
  {
    name: 'resume',
    decision: 'resume',
    description: 'stop skipping the slots of a job, from the next one on',
  },
];

export const jobsCommand: CommandDefinition = {
  name: 'jobs',
  define(command, act) {
    addConfigOptions(
      command.description(
        'list the jobs: when each runs next, how its last run ended, and whether it is paused',
      ),
    ).action(
      act(async (output, options: ConfigOptions) =>
        (await import('../../actions/manage-jobs.ts')).showJobs(output, options),
      ),
    );
    addExamples(command, [
      ['jobs', 'every job of the configuration'],
      ["jobs pause orders --reason 'the shop corrects its export'", 'skip its slots'],
      ["jobs resume orders --reason 'corrected'", 'run it again from the next slot on'],
      ["jobs run-now orders --reason 'corrected'", '`serve` starts a run within seconds'],
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
