import { attributeOrders as attribute } from '../attribute/attribute-orders.ts';
import { loadCodes } from '../attribute/load-codes.ts';
import { prepareEntries } from '../attribute/prepare-entries.ts';
import { layoutFolders } from '../config/layout-folders.ts';
import { boundAccount } from '../ledger/bind-account.ts';
import { loadLayout } from '../map/load-layout.ts';
import type { AttributeOrdersSettings, SourceSettings } from '../model/config.ts';
import type { Layout } from '../model/layout.ts';
import { refreshReporting } from '../report/refresh-reporting.ts';
import { reportOrders } from '../report/report-orders.ts';
import { intakeSource } from './intake-source.ts';
import { openAccount } from './open-account.ts';
import { postReady } from './post-ready.ts';
import { type Run, sourcesOf } from './run.ts';
import type { FlowEnd } from './run-job.ts';
import { settlePast } from './settle-past.ts';

/** In a plan before the first run there is no account yet; nothing of a plan is kept or sent. */
const NO_ACCOUNT = 'not bound yet';

/** The way of orders: list → open → decode → parse → group → map → stage → seal → attribute → claim → post → record → report. */
export async function attributeOrders(run: Run<AttributeOrdersSettings>): Promise<FlowEnd> {
  const { db, job, client } = run;
  const sources = sourcesOf(run);
  const accountId =
    client === null ? ((await boundAccount(db)) ?? NO_ACCOUNT) : await openAccount(db, client);
  if (client !== null) await settlePast(run);

  const codes = await loadCodes(db, {
    job: job.name,
    path: job.codes,
    timeZone: sources[0]?.timeZone ?? null,
    brandId: job.brandId,
    linkParameters: sources.flatMap((source) => layoutOf(run, source).links.parameters),
  });
  for (const source of sources) await intakeSource(run, source);
  run.progress.begin({ name: 'attribute', label: 'Attributing orders', unit: 'orders', total: null });
  const { brandId, revenue } = job;
  const credited = sources.map((source) => ({
    source: source.name,
    orderPlatform: source.orderPlatform,
    credited: job.include ?? layoutOf(run, source).status.credited,
  }));
  const { decided } = await attribute(db, {
    job: job.name,
    sources: credited,
    brandId,
    revenue,
    start: job.startDate === null ? null : { day: job.startDate, timeZone: job.timeZone },
    codesHash: codes.hash,
  });
  run.progress.advance(decided);
  const orderPlatformBySource = Object.fromEntries(
    sources.map((source) => [source.name, source.orderPlatform]),
  );
  await prepareEntries(db, { job: job.name, runId: run.runId, accountId, orderPlatformBySource });

  const stop = client === null ? null : await postReady(run, { client, accountId, backfill: null });
  await refreshReporting(db, { job: job.name });
  const report = await reportOrders(db, {
    runId: run.runId,
    job: job.name,
    sources: job.sources,
    codeProblems: codes.problems,
  });
  return { stop, report };
}

function layoutOf(run: Run, source: SourceSettings): Layout {
  return loadLayout(source.layout, layoutFolders(run.config.path));
}
