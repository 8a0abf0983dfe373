import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { creditBars, dispositionLines } from '../../../jobs/attribute-orders/render.ts';
import { isOrdersReport, type OrdersReport } from '../../../jobs/attribute-orders/report.ts';
import { isAttributeOrders } from '../../../jobs/attribute-orders/settings.ts';
import { kindOf, loadConfig } from '../../../jobs/index.ts';
import { waysToSet } from '../../config/environment/read-variable.ts';
import type { JobSettings } from '../../config/job-fields.ts';
import { shortPath } from '../../config/locate.ts';
import type { PipelineConfig } from '../../config/schema.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { configurationError, KnownError } from '../../core/known-error.ts';
import { packageFile } from '../../core/package.ts';
import { plural } from '../../core/text/plural.ts';
import { type Block, type CountLine, section } from '../../render/block.ts';
import { renderReportPage } from '../../render/html/report-page.ts';
import { renderRunSummary } from '../../render/report-renderer.ts';
import type { Terminal } from '../../render/terminal.ts';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import { type PerformedJob, performConfigured } from '../run/perform-job.ts';
import type { Output } from '../terminal/output.ts';

const ACCOUNT = fileURLToPath(packageFile('config/demo/sandbox.yaml'));

/**
 * Starts the sandbox, runs all jobs of the demo's configuration in order on an empty database, then repeats
 * the jobs that post orders, to show that nothing is posted twice. Leaves a report page, and a database that
 * other commands can read.
 *
 * @param options.isVerbose shows each run like the command `run`; otherwise only its result.
 * @returns 130 if a person interrupted it.
 * @throws KnownError `demo_failed` (exit 1) if a run failed or the second run posted something.
 */
export async function runDemo(output: Output, { isVerbose }: { isVerbose: boolean }): Promise<ExitCode> {
  const folder = prepareDemoFolder();
  const path = join(folder, 'pipeline.yaml');
  const sandbox = await startSandbox({ port: 0, data: ACCOUNT });
  try {
    const config = loadConfig(path, {
      ...process.env,
      // Ignore any other target in the environment, however it is set.
      ...Object.fromEntries(
        ['INFLUENCER_API_URL', 'INFLUENCER_API_KEY'].flatMap(waysToSet).map((name) => [name, '']),
      ),
      INFLUENCER_API_URL: sandbox.url,
      INFLUENCER_API_KEY: sandbox.key,
    });
    output.print(introduceDemo(output.terminal));
    const jobs = Object.values(config.jobs);
    const performed: PerformedJob[] = [];
    const reportPath = join(folder, 'report.html');
    for (const job of [...jobs, ...jobs.filter(isAttributeOrders)]) {
      const isAgain = performed.length >= jobs.length;
      const before = isAgain ? await countReferrals(sandbox.url) : 0;
      const done = await performShown(output, { config, job, isAgain, isVerbose, reportPath });
      if (done.exitCode === EXIT.interrupted) return EXIT.interrupted;
      if (done.summary.finished.status === 'failed') throw runFailed(output, done);
      performed.push(done);
      const postedAgain = isAgain ? (await countReferrals(sandbox.url)) - before : 0;
      if (postedAgain !== 0)
        throw new KnownError({
          code: 'demo_failed',
          message: `The second run posted ${plural(postedAgain, 'order')}.`,
          help: 'This must not happen. Please report it with the output above.',
        });
    }
    const firstRuns = performed.slice(0, jobs.length);
    writeFileSync(reportPath, pageOf(firstRuns));
    const posted = await countReferrals(sandbox.url);
    output.print('');
    for (const { summary } of firstRuns)
      if (isOrdersReport(summary.report)) output.show(tellOrders(summary.report));
    output.print(
      endDemo({ posted, reportPath: shortPath(reportPath), folder: shortPath(folder) }, output.terminal),
    );
    output.emit({ event: 'demo_finished', posted, posted_again: 0, report: reportPath });
    return EXIT.ok;
  } finally {
    await sandbox.close();
  }
}

/** Opens the demo's data in the console until a person stops it. */
export async function showDemo(output: Output): Promise<ExitCode> {
  const { performConsole } = await import('../console/console.ts');
  const config = shortPath(join(demoFolder(), 'pipeline.yaml'));
  await performConsole(output, { config, host: '127.0.0.1', port: 0, open: output.terminal.isInteractive });
  return EXIT.ok;
}

type Step = {
  readonly config: PipelineConfig;
  readonly job: JobSettings;
  readonly isAgain: boolean;
  readonly isVerbose: boolean;
  readonly reportPath: string;
};

/** Performs one run, with its full output or in one line. */
async function performShown(
  output: Output,
  { config, job, isAgain, isVerbose, reportPath }: Step,
): Promise<PerformedJob> {
  const options = { config: shortPath(config.path), ...(isAgain ? {} : { report: reportPath }) };
  const request = { jobName: job.name, options, isPlan: false };
  if (isVerbose) {
    const heading = isAgain ? 'Orders again: a second run must post 0' : kindOf(job).demo;
    output.print(`\n${output.terminal.style('bold', heading)}\n\n`);
  }
  const shown = output.about(options);
  const done = await performConfigured(isVerbose ? shown : quietly(shown), config, request);
  output.emit(done.summary.finished);
  const did = done.renderer.did(done.summary.report.counts);
  if (!isVerbose) output.print(`  ${job.name.padEnd(20)}${did}${isAgain ? ' the second time' : ''}`);
  return done;
}

/** Suppresses the output of a run except notes about changes on this machine. Events are still emitted. */
function quietly(output: Output): Output {
  return {
    ...output,
    print: () => {},
    warn: () => {},
    createProgress: () =>
      output.json
        ? output.createProgress()
        : {
            begin: () => {},
            advance: () => {},
            end: () => {},
            note: (message) => output.print(`  ${message}`),
          },
  };
}

function pageOf(performed: readonly PerformedJob[]): string {
  const [orders, others] = [true, false].map((wanted) =>
    performed.filter(({ summary }) => isOrdersReport(summary.report) === wanted),
  );
  return renderReportPage([...(orders ?? []), ...(others ?? [])], {
    title: 'Report of the demo',
    madeAt: new Date(),
  });
}

/** Counts the referrals in the sandbox's request log: what it really processed. */
async function countReferrals(url: string): Promise<number> {
  const log = await (await fetch(`${url}/_sandbox/log/referrals`)).text();
  return log.split('\n').filter((line) => line !== '').length;
}

function runFailed(output: Output, { summary, renderer }: PerformedJob): KnownError {
  output.print(renderRunSummary(summary, { renderer, terminal: output.terminal }));
  return new KnownError({
    code: 'demo_failed',
    message: `The run of ${summary.finished.job} failed.`,
    help: 'Start the demo again; with --verbose it shows every step. If it fails again, please report it.',
  });
}

/**
 * Prepares the folder in which the demo works: a copy of its configuration and exports. The database and
 * report of an earlier demo are removed; other files stay. The bundled files are never written to, so that a
 * copy of them never contains a ledger.
 */
function prepareDemoFolder(): string {
  const folder = demoFolder();
  try {
    mkdirSync(folder, { recursive: true });
    for (const made of ['.data', 'report.html']) rmSync(join(folder, made), { recursive: true, force: true });
    cpSync(fileURLToPath(packageFile('config/demo/')), folder, { recursive: true });
    return folder;
  } catch (cause) {
    throw configurationError({
      code: 'demo_folder',
      message: 'The demo cannot write its files here.',
      where: shortPath(folder),
      help: 'Start it in a folder that this user may write to.',
      safe: 'Nothing was run.',
      cause,
    });
  }
}

function demoFolder(): string {
  return resolve('influencer-sync-demo');
}

function introduceDemo(terminal: Terminal): string {
  return `${terminal.style('bold', 'influencer-sync demo')}: the exports of two shops and their tools, run against
a sandbox of the service. It takes some seconds; nothing leaves this machine.
`;
}

/** The result of the orders: what each influencer earned, what was not credited, and why. */
function tellOrders({ counts, details }: OrdersReport): readonly Block[] {
  const lines = dispositionLines(counts, { details }).filter(([label]) => !CREDITED.includes(label));
  const unreadable: CountLine = [
    'unreadable rows',
    counts.rejected_rows,
    { note: 'with file, line and fix in the report', color: 'yellow' },
  ];
  return [
    ...section('Who earned what', {
      note: `${plural(counts.entries.accepted, 'order')} credited, amounts by currency`,
      parts: creditBars(details),
    }),
    {
      kind: 'counts',
      count: counts.orders,
      whole: 'What was not credited, and why',
      meaning: '',
      lines: [...lines, unreadable].map(([label, count, more]) => [label, count, { ...more, always: false }]),
    },
  ];
}

const CREDITED: readonly string[] = ['posted', 'already known'];

/** The end: a second run posted nothing, and which commands to try next. */
function endDemo(
  { posted, reportPath, folder }: { posted: number; reportPath: string; folder: string },
  terminal: Terminal,
): string {
  return `
${terminal.style('bold', 'The same job again')}: 0 orders posted. The sandbox still has ${posted}, each once.

${terminal.style('bold', 'The whole report')}, for a browser:  ${reportPath}
${terminal.style('bold', 'With your own exports')}:            npx influencer-sync init FOLDER
${terminal.style('bold', 'Look around')}:                      cd ${folder}
  npx influencer-sync console --open
  npx influencer-sync explain order 5601000000101
  npx influencer-sync statement --month 2026-05
  npx influencer-sync status
`;
}
