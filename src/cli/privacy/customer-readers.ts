import { kindOf } from '../../../jobs/index.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import type { CustomerReader } from '../../privacy/recover-customers.ts';

/** Lists the sources that the jobs of a configuration read for their customers, with the rule of the job. */
export function readersOf(config: PipelineConfig): readonly CustomerReader[] {
  return Object.values(config.jobs).flatMap((job) => {
    const purpose = kindOf(job).purpose(job);
    const { customersOf: brandId } = job;
    if (purpose?.readFor !== 'customers' || brandId === undefined) return [];
    const { consent } = purpose;
    return job.sources.flatMap((name) => {
      const source = config.sources[name];
      return source === undefined ? [] : [{ brandId, source, consent }];
    });
  });
}
