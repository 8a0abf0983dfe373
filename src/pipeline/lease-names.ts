import type { JobSettings } from '../model/config.ts';

/**
 * What a run keeps others from while it is at work: the job, and each source that it reads. Customers are kept by brand, so that no two
 * runs can submit the same one; what is read for its customers may be read for its orders at the same time.
 */
export function leaseNames(job: JobSettings): readonly string[] {
  if (job.kind !== 'identify-customers')
    return [`job:${job.name}`, ...job.sources.map((source) => `source:${source}`)];
  const sources = job.sources.map((source) => `customers in source:${source}`);
  return [`job:${job.name}`, `customers of brand:${job.brandId}`, ...sources];
}
