import type { JobSettings, PipelineConfig } from '../src/model/config.ts';
import { EXIT } from '../src/model/exit-code.ts';
import { KnownError } from '../src/model/known-error.ts';
import type { Run } from '../src/pipeline/run.ts';
import type { Flow, FlowEnd } from '../src/pipeline/run-job.ts';
import { attributeOrdersJob } from './attribute-orders.ts';
import { identifyCustomersJob } from './identify-customers.ts';
import { mirrorAccountJob } from './mirror-account.ts';

/** One kind of job: what a configuration names, and what runs. */
export type JobKind<Settings extends JobSettings = JobSettings> = {
  readonly kind: Settings['kind'];
  /** One line for people. */
  readonly summary: string;
  /** Written as a method, so that kinds with settings of their own fit into one list; `findJob` pairs each with its own. */
  flow(run: Run<Settings>): Promise<FlowEnd>;
};

/** Every kind of job. A new one is a file beside this one, and a line here. */
export const jobKinds: readonly JobKind[] = [attributeOrdersJob, identifyCustomersJob, mirrorAccountJob];

/**
 * The settings and the flow of a configured job.
 *
 * @throws KnownError `job_unknown` (exit 2) that lists those there are.
 */
export function findJob(config: PipelineConfig, name: string): { job: JobSettings; flow: Flow } {
  const job = config.jobs[name];
  const kind = jobKinds.find((candidate) => candidate.kind === job?.kind);
  if (job !== undefined && kind !== undefined) return { job, flow: kind.flow };
  throw new KnownError({
    code: 'job_unknown',
    message: `There is no job "${name}".`,
    where: config.path,
    help: `Jobs there: ${Object.keys(config.jobs).join(', ') || 'none'}.`,
    safe: 'Nothing was read or sent.',
    exitCode: EXIT.configuration,
  });
}
