import { layoutFolders } from '../../src/config/layout-folders.ts';
import { foldPlatform } from '../../src/core/text/order-key.ts';
import { loadLayout } from '../../src/intake/layout/load-layout.ts';
import { statusRules } from '../../src/intake/layout/status-rules.ts';
import { type Run, sourcesOf } from '../../src/ops/run.ts';
import type { AttributionRules } from './decide/decisions.ts';
import { creditRules } from './previewed-job.ts';
import { type AttributeOrdersSettings, attributionJobs } from './settings.ts';

/** The rules by which a job attributes orders. Its runs and its backfills use the same rules. */
export function attributionRules(
  run: Pick<Run<AttributeOrdersSettings>, 'job' | 'config'>,
): Omit<AttributionRules, 'rulesHash' | 'period'> {
  const { job, config } = run;
  const sources = sourcesOf(run).map((source) => ({
    source: source.name,
    orderPlatform: source.orderPlatform,
    ownOrders: source.ownOrders,
    ...statusRules(loadLayout(source.layout, layoutFolders(config.path)), source, job.include),
  }));
  const jobs = attributionJobs(config);
  const ofBrand = jobs.filter(({ brandId }) => brandId === job.brandId);
  const ownPlatforms = sources.map(({ orderPlatform }) => foldPlatform(orderPlatform));
  const others = jobs
    .filter(({ name }) => name !== job.name)
    .flatMap((one) => one.sources.map((source) => ({ job: one.name, source })));
  const platforms = ofBrand
    .flatMap((one) => one.sources)
    .map((name) => foldPlatform(config.sources[name]?.orderPlatform ?? ''));
  return {
    job: job.name,
    sources,
    elsewhere: others.flatMap(({ source, ...of }) => {
      const orderPlatform = config.sources[source]?.orderPlatform;
      return orderPlatform !== undefined && ownPlatforms.includes(foldPlatform(orderPlatform))
        ? [{ ...of, source, orderPlatform }]
        : [];
    }),
    brandId: job.brandId,
    ...creditRules(job),
    attribution: job.attribution,
    start: job.startDate === null ? null : { day: job.startDate, timeZone: job.timeZone },
    hasTerms: config.statements.terms !== null,
    isBrandShared: new Set(platforms).size > 1,
  };
}
