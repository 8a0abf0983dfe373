import type { PipelineConfig } from '../../src/config/schema.ts';
import type { SourceSettings } from '../../src/config/source-fields.ts';
import type { OrderReading } from '../../src/core/layout.ts';
import { statusRules } from '../../src/intake/layout/status-rules.ts';
import type { Layout } from '../../src/intake/layout/to-layout.ts';
import type { Thresholds } from '../../src/intake/orders/find-hold-reason.ts';
import { foldWord } from '../../src/intake/values/clean-text.ts';
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

/** The limits at which a run of a job holds a file of orders, and what it expects of them. */
export function thresholdsOf(
  { revenue, include }: Pick<PreviewedJob, 'revenue' | 'include'>,
  { layout, source }: { readonly layout: Layout; readonly source: SourceSettings },
): Thresholds {
  const { credited, notCredited, mayLackColumn } = statusRules(layout, source, include);
  return {
    ...source.limits,
    source: source.name,
    expected: {
      // Refunds only reduce the revenue. They do not change which column it is read from.
      revenue: revenue === 'subtotal' ? 'subtotal' : 'total',
      credited: credited === 'any' ? null : credited,
      mayLackStatus: mayLackColumn,
      listed: credited === 'any' ? null : [...credited, ...notCredited, ...excludedStatuses(layout)],
      currency: source.currency,
    },
  };
}

/** Statuses by which a rule of the layout excludes orders. */
function excludedStatuses({ exclusions, columns }: Layout): readonly string[] {
  const isOfStatus = (names: readonly string[]): boolean =>
    names.some((name) => columns.status?.includes(name) === true);
  return exclusions.flatMap((rule) => (isOfStatus(rule.columns) ? (rule.equals ?? []).map(foldWord) : []));
}
