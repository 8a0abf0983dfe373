import type { AttributionRules } from '../../src/attribute/decisions.ts';
import { type LoadedCodes, loadCodes } from '../../src/attribute/load-codes.ts';
import { layoutFolders } from '../../src/config/layout-folders.ts';
import { loadLayout } from '../../src/map/load-layout.ts';
import { findUnknownOwners } from '../../src/mirror/find-unknown-owners.ts';
import type { SourceSettings } from '../../src/model/config.ts';
import type { Layout } from '../../src/model/layout.ts';
import { maskAddresses } from '../../src/model/text/mask-addresses.ts';
import { type Run, sourcesOf } from '../../src/pipeline/run.ts';
import type { AttributeOrdersSettings } from './settings.ts';

/** By what rules a job decides whose an order is: those of its runs, and of its backfills. */
export function attributionRules(
  run: Run<AttributeOrdersSettings>,
): Omit<AttributionRules, 'rulesHash' | 'period'> {
  const { job } = run;
  const sources = sourcesOf(run).map((source) => ({
    source: source.name,
    orderPlatform: source.orderPlatform,
    credited: job.include ?? layoutOf(run, source).status.credited,
  }));
  const start = job.startDate === null ? null : { day: job.startDate, timeZone: job.timeZone };
  return {
    job: job.name,
    sources,
    brandId: job.brandId,
    revenue: job.revenue,
    creditsDrafts: job.drafts === 'credit',
    start,
  };
}

/** Reads the job's codes.csv, if it has one, and says whose codes are somebody's whom the mirror does not know. */
export async function loadJobCodes(run: Run<AttributeOrdersSettings>): Promise<LoadedCodes> {
  const { db, job, progress } = run;
  const sources = sourcesOf(run);
  const loaded = await loadCodes(db, {
    job: job.name,
    path: job.codes,
    timeZone: sources[0]?.timeZone ?? null,
    brandId: job.brandId,
    linkParameters: sources.flatMap((source) => layoutOf(run, source).links.parameters),
  });
  const unknown = (await findUnknownOwners(db, loaded.rows)) ?? [];
  for (const { line, column, value, reason, help } of unknown.slice(0, UNKNOWN_SHOWN))
    progress.note(
      maskAddresses(`codes.csv line ${line}, ${column} ${JSON.stringify(value)}: ${reason} ${help}`),
    );
  if (unknown.length > UNKNOWN_SHOWN)
    progress.note(
      `${unknown.length - UNKNOWN_SHOWN} more owners in codes.csv are not known; doctor lists them.`,
    );
  return loaded;
}

/** A run says so much of it, each time; `doctor` says more. */
const UNKNOWN_SHOWN = 3;

function layoutOf(run: Run, source: SourceSettings): Layout {
  return loadLayout(source.layout, layoutFolders(run.config.path));
}
