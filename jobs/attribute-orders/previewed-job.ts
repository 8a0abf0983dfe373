import type { PipelineConfig } from '../../src/config/schema.ts';
import type { OrderReading } from '../../src/core/layout.ts';
import type { GateRules } from './decide/gate.ts';
import { type AttributeOrdersSettings, attributionJobs, CREDIT_DEFAULTS } from './settings.ts';

/** The settings of the job that decides about the orders. */
export type PreviewedJob = GateRules &
  Pick<OrderReading, 'include'> & {
    /** The first day of the job's own period; null if orders of any age belong to it. */
    readonly start: { readonly day: string; readonly timeZone: string } | null;
  };

/** The settings of a job by which its runs and previews decide about orders. */
export function creditRules({
  revenue,
  drafts,
  renewals,
}: Pick<AttributeOrdersSettings, 'revenue' | 'drafts' | 'renewals'>): Pick<
  GateRules,
  'revenue' | 'creditsDrafts' | 'creditsRenewals'
> {
  return { revenue, creditsDrafts: drafts === 'credit', creditsRenewals: renewals === 'credit' };
}

/**
 * A job with the settings that `init` writes, or, by default, with those of a job that states none. The brand is null if it
 * is not known yet.
 */
export function proposedJob({
  brandId,
  include,
  revenue = CREDIT_DEFAULTS.revenue,
  renewals = null,
}: Pick<PreviewedJob, 'brandId' | 'include'> &
  Partial<Pick<PreviewedJob, 'revenue'>> & {
    readonly renewals?: AttributeOrdersSettings['renewals'] | null;
  }): PreviewedJob {
  const rules = creditRules({ ...CREDIT_DEFAULTS, revenue, renewals: renewals ?? CREDIT_DEFAULTS.renewals });
  return { ...rules, brandId, include, start: null, needsTime: false };
}

export type JobOfSource = PreviewedJob & { readonly name: string };

/** The configured job that credits the orders of a source, for a preview. Null if there is none. */
export function jobOfSource(config: PipelineConfig, source: string): JobOfSource | null {
  const job = attributionJobs(config).find(({ sources }) => sources.includes(source));
  if (job === undefined) return null;
  const { name, brandId, include, startDate, timeZone } = job;
  const start = startDate === null ? null : { day: startDate, timeZone };
  const needsTime = start !== null || config.statements.terms !== null;
  return { ...creditRules(job), name, brandId, include, start, needsTime };
}
