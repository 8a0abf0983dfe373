/**
 * Measures every example question about the views of schema bi on a database with a million orders and 50,000
 * deals. Also measures what it costs a run to keep the sums up to date.
 */
import { sql } from 'kysely';
import { reportOrders } from '../jobs/attribute-orders/report.ts';
import { connect, type Database } from '../src/db/connect.ts';
import { migrate } from '../src/db/migrate.ts';
import { refreshReporting } from '../src/rollups/refresh-reporting.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import { type Question, readQuestions } from '../test/support/read-questions.ts';
import { fillMoney } from './fill-money.ts';
import { type FillOptions, fillReporting, JOB } from './fill-reporting.ts';
import { type Measurement, median } from './measure.ts';

export type ViewsCase = FillOptions & { readonly rounds: number };

/**
 * @returns for each view the median milliseconds of its slowest question, then the seconds of the work of a
 * run.
 */
export async function measureViews(given: ViewsCase): Promise<readonly Measurement[]> {
  const server = await startPostgresServer();
  const db = await connect({ url: server.url, embeddedFolder: '', maxConnections: 1 });
  try {
    await migrate(db);
    await fillReporting(db, given);
    const first = await timed('first refresh', () => refreshReporting(db, { job: JOB }));
    await sql`vacuum analyze`.execute(db);
    const hourly = await changeAnHour(db);
    const summary = await timed('summary of a run', () => summarise(db));
    await fillMoney(db);
    await sql`vacuum analyze`.execute(db);
    return [...(await measureQuestions(db, given.rounds)), first, hourly, summary];
  } finally {
    await db.destroy();
    await server.stop();
  }
}

/** @returns milliseconds at the median for each view, the slowest of its questions. */
export async function measureQuestions(db: Database, rounds: number): Promise<readonly Measurement[]> {
  const questions = readQuestions();
  const views = [...new Set(questions.map(({ view }) => view))];
  const answered: Measurement[] = [];
  for (const view of views) answered.push(await measureView(db, { view, questions, rounds }));
  return answered;
}

async function measureView(
  db: Database,
  { view, questions, rounds }: { view: string; questions: readonly Question[]; rounds: number },
): Promise<Measurement> {
  const medians: { slug: string; ms: number }[] = [];
  for (const { slug, sql: statement } of questions.filter((question) => question.view === view)) {
    // The examples name orders and deals of a small shop.
    const text = statement
      .replaceAll("'D1'", "'DEAL10'")
      .replaceAll("'shop-orders'", "'shop-1'")
      .replaceAll(/'100\d'/g, "'5600000500001'");
    const times: number[] = [];
    for (let round = 0; round <= rounds; round += 1) {
      const startedAt = performance.now();
      await sql.raw(text).execute(db);
      if (round > 0) times.push(performance.now() - startedAt);
    }
    medians.push({ slug, ms: median(times) });
  }
  medians.sort((a, b) => b.ms - a.ms);
  const detail = medians.map(({ slug, ms }) => `${slug} ${ms.toFixed(0)} ms`).join(', ');
  return { name: view, value: medians[0]?.ms ?? Number.NaN, unit: 'ms', detail };
}

/** Decides the orders of one hour again, as if their export had just been read. */
async function changeAnHour(db: Database): Promise<Measurement> {
  await sql`
    update ledger.entries set amount = amount + 1
    where entry_id in (select entry_id from intake.attributions order by order_version_id desc limit 300)`.execute(
    db,
  );
  await sql`
    update intake.attributed_files set attributed_at = now()
    where source_file_id = (select max(source_file_id) from intake.attributed_files)`.execute(db);
  return timed('refresh after an hour', () => refreshReporting(db, { job: JOB }));
}

async function summarise(db: Database): Promise<unknown> {
  const { rows } = await sql<{ id: string }>`select max(run_id) as id from ops.runs`.execute(db);
  return reportOrders(db, {
    runId: rows[0]?.id ?? '',
    job: JOB,
    sources: ['shop-0', 'shop-1'],
    codeProblems: [],
    areOwnersChecked: true,
    areReportsStale: false,
  });
}

async function timed(name: string, work: () => Promise<unknown>): Promise<Measurement> {
  const startedAt = performance.now();
  const result = await work();
  const seconds = (performance.now() - startedAt) / 1000;
  return {
    name,
    value: seconds,
    unit: 's',
    detail: `${JSON.stringify(result).slice(0, 60)} in ${seconds.toFixed(2)} s`,
  };
}
