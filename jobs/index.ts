import type { Environment } from '../src/config/environment/read-variable.ts';
import type { JobSettings } from '../src/config/job-fields.ts';
import { loadConfigFile, type OnBrokenFiles } from '../src/config/load-config-file.ts';
import type { PipelineConfig } from '../src/config/schema.ts';
import type { BackfillRunCounts } from '../src/core/backfill.ts';
import { configurationError } from '../src/core/known-error.ts';
import type { StoredVariables } from '../src/core/variable.ts';
import type { CountsBlock } from '../src/render/block.ts';
import { backfillDid } from './attribute-orders/backfill/render.ts';
import { attributeOrders } from './attribute-orders/index.ts';
import { deleteData } from './delete-data/index.ts';
import { identifyCustomers } from './identify-customers/index.ts';
import { importDeals } from './import-deals/index.ts';
import type { JobKind } from './job-kind.ts';
import { mirrorAccount } from './mirror-account/index.ts';
import { postClicks } from './post-clicks/index.ts';
import { submitOutreach } from './submit-outreach/index.ts';
import { tellCorrections } from './tell-corrections/index.ts';

/** All job kinds. To add one, create a folder next to this file and add it to this list. */
export const jobKinds: readonly JobKind[] = [
  attributeOrders,
  identifyCustomers,
  mirrorAccount,
  postClicks,
  submitOutreach,
  importDeals,
  tellCorrections,
  deleteData,
];

/** The kind with this name. Null if there is none, for example for a run that an older version recorded. */
function findKind(kind: string): JobKind | null {
  return jobKinds.find((candidate) => candidate.kind === kind) ?? null;
}

/** The kind of a configured job. The configuration has already been checked. */
export function kindOf({ kind }: Pick<JobSettings, 'kind'>): JobKind {
  const found = findKind(kind);
  if (found === null) throw new Error(`there is no kind of job ${kind}`);
  return found;
}

/**
 * The settings and the kind of a configured job.
 *
 * @throws KnownError `job_unknown` (exit 2), which lists the existing jobs.
 */
export function findJob(config: PipelineConfig, name: string): { job: JobSettings; kind: JobKind } {
  const job = config.jobs[name];
  if (job !== undefined) return { job, kind: kindOf(job) };
  throw configurationError({
    code: 'job_unknown',
    message: `There is no job "${name}".`,
    where: config.path,
    help: `Existing jobs: ${Object.keys(config.jobs).join(', ') || 'none'}.`,
    safe: 'Nothing was read or sent.',
  });
}

/**
 * What a run did, in a few words, for example `32 posted`. A process that plans or executes a backfill is
 * recorded under the kind `backfill`.
 */
export function didOf(kind: string, counts: object): string {
  if (kind === BACKFILL) return backfillDid(counts as BackfillRunCounts);
  return findKind(kind)?.render.did(counts) ?? '';
}

/** What became of each item that a run accounts for, from its kind and counts. Null if its kind is no longer known. */
export function tallyOf(kind: string, counts: object): CountsBlock | null {
  return findKind(kind)?.render.tally(counts) ?? null;
}

const BACKFILL = 'backfill';

/**
 * Reads `pipeline.yaml`, whose jobs may be of every kind.
 *
 * @param stored values that AWS returned for the variables that the file names.
 * @param onBrokenFiles see `loadConfigFile`.
 * @throws KnownError `config_missing` or `config_invalid` (exit 2). The latter lists all problems at once,
 * each with its place.
 */
export function loadConfig(
  path: string,
  env: Environment,
  stored: StoredVariables = new Map(),
  onBrokenFiles?: OnBrokenFiles,
): PipelineConfig {
  return loadConfigFile({ path, env, stored, kinds: jobKinds, onBrokenFiles });
}
