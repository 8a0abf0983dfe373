import { RejectedSoFar } from '../../src/intake/files/rejected-so-far.ts';
import type { SealedRead } from '../../src/intake/files/seal-read.ts';
import type { ExpectedOrders } from '../../src/intake/orders/count-staged.ts';
import { createStager } from '../../src/intake/orders/create-stager.ts';
import { sealFile } from '../../src/intake/orders/seal-file.ts';
import { watchDates } from '../../src/map/orders/date-order.ts';
import { mapOrders } from '../../src/map/orders/map-orders.ts';
import { foldWord } from '../../src/map/values/clean-text.ts';
import type { Layout } from '../../src/model/layout.ts';
import type { OrderIdColumn } from '../../src/model/order.ts';
import type { FileContent, Intake, Reading } from '../../src/pipeline/intake-file.ts';
import { type Run, throwIfDraining } from '../../src/pipeline/run.ts';
import type { AttributeOrdersSettings } from './settings.ts';

/** A file's rows become orders: group → map → stage → seal. */
export function createOrderIntake({ job }: Run<AttributeOrdersSettings>): Intake {
  const { revenue, include } = job;
  return {
    purpose: { readFor: 'orders', job: { revenue, include } },
    take: (run, reading, content) => take(run, { ...reading, expected: expectedBy(job, reading) }, content),
  };
}

async function take(
  run: Run,
  { source, layout, otherLayouts, expected }: Reading & { readonly expected: ExpectedOrders },
  { chunks, digest, ...read }: FileContent,
): Promise<SealedRead<unknown>> {
  const { db, runId, progress } = run;
  const sums = Object.keys(layout.grouping.sum).length > 0;
  const stager = createStager(db, { ...read, runId, sums });
  const rejectedSoFar = new RejectedSoFar({ source: source.name, ...source.limits });
  let rowsRead = 0;
  const dates = watchDates(layout, source);
  let orderIdColumn: OrderIdColumn = { name: null, isFallback: false };
  const onIdColumn = (column: OrderIdColumn): void => {
    orderIdColumn = column;
  };
  for await (const batch of mapOrders(chunks, { layout, source, otherLayouts, dates, onIdColumn })) {
    throwIfDraining(run);
    rejectedSoFar.take(batch);
    if (!(await stager.add(batch))) return { kind: 'lost' };
    rowsRead += batch.rowsRead;
    progress.advance(0, batch.rowsRead);
  }
  if ((await stager.finish()) === null) return { kind: 'lost' };
  dates?.require();
  const { maxRejectedShare, maxCancelledShare, maxZeroRevenueShare, maxUnlistedShare } = source.limits;
  const limits = { maxRejectedShare, maxCancelledShare, maxZeroRevenueShare, maxUnlistedShare };
  const thresholds = { source: source.name, ...limits, expected };
  return sealFile(db, { ...read, runId, rowsRead, contentSha256: digest(), sums, thresholds, orderIdColumn });
}

function expectedBy(
  { revenue, include }: AttributeOrdersSettings,
  { layout, source }: Reading,
): ExpectedOrders {
  const credited = include ?? layout.status.credited;
  return {
    // Refunds take revenue away, and say nothing of the column it stands in.
    revenue: revenue === 'subtotal' ? 'subtotal' : 'total',
    credited,
    listed: credited === null ? null : listedStatuses(layout, credited),
    currency: source.currency,
  };
}

/**
 * Every word that an order's status may be without surprise, as orders carry it: those that the layout knows, translates to or excludes,
 * and those that are credited.
 */
function listedStatuses(layout: Layout, credited: readonly string[]): readonly string[] {
  const { status, exclusions, columns } = layout;
  const isOfStatus = (names: readonly string[]): boolean =>
    names.some((name) => columns.status?.includes(name) === true);
  const excluded = exclusions.flatMap((rule) => (isOfStatus(rule.columns) ? (rule.equals ?? []) : []));
  const words = [...status.known, ...Object.values(status.words), ...credited, ...excluded];
  return [...new Set(words.map(foldWord))];
}
