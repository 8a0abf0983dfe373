import type { AttributionRules } from '../../src/attribute/decisions.ts';
import { layoutFolders } from '../../src/config/layout-folders.ts';
import { loadLayout } from '../../src/map/layout/load-layout.ts';
import type { SourceSettings } from '../../src/model/config.ts';
import type { Layout } from '../../src/model/layout.ts';
import { type Run, sourcesOf } from '../../src/pipeline/run.ts';
import type { AttributeOrdersSettings } from './settings.ts';

/** The rules by which a job attributes orders. Its runs and its backfills use the same rules. */
export function attributionRules(
  run: Run<AttributeOrdersSettings>,
): Omit<AttributionRules, 'rulesHash' | 'period'> {
  const { job } = run;
  const sources = sourcesOf(run).map((source) => ({
    source: source.name,
    orderPlatform: source.orderPlatform,
    credited: creditedStatuses(job, layoutOf(run, source)),
  }));
  const start = job.startDate === null ? null : { day: job.startDate, timeZone: job.timeZone };
  return {
    job: job.name,
    sources,
    brandId: job.brandId,
    revenue: job.revenue,
    creditsDrafts: job.drafts === 'credit',
    creditsRenewals: job.renewals === 'credit',
    start,
  };
}

/**
 * The statuses that a job credits: its own, or else those of the layout. Null: every status, because the job says
 * so or the format has none.
 */
export function creditedStatuses(
  { include }: Pick<AttributeOrdersSettings, 'include'>,
  { status }: Pick<Layout, 'status'>,
): readonly string[] | null {
  return include === 'any' ? null : (include ?? status.credited);
}

function layoutOf(run: Run, source: SourceSettings): Layout {
  return loadLayout(source.layout, layoutFolders(run.config.path));
}
