import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isAttributeOrders } from '../../../jobs/attribute-orders/settings.ts';
import { kindOf, loadConfig } from '../../../jobs/index.ts';
import { shortPath } from '../../config/locate.ts';
import type { JobSettings, PipelineConfig } from '../../model/config.ts';
import { EXIT } from '../../model/exit-code.ts';
import { KnownError } from '../../model/known-error.ts';
import { packageFile } from '../../package/package-file.ts';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import type { Output } from '../terminal/output.ts';
import { performConfigured } from './perform-job.ts';

const CONFIG = fileURLToPath(packageFile('config/demo/pipeline.yaml'));
const ACCOUNT = fileURLToPath(packageFile('config/demo/sandbox.yaml'));

/**
 * Starts the sandbox, runs the jobs of its configuration, in their order, from nothing, and posts orders again to show that nothing is posted twice.
 * What it leaves can be looked at afterwards with the other commands.
 *
 * @throws KnownError `demo_failed` (exit 1) when the second run posted something.
 */
export async function runDemo(output: Output): Promise<void> {
  const sandbox = await startSandbox({ port: 0, data: ACCOUNT });
  try {
    const config = loadConfig(CONFIG, {
      ...process.env,
      INFLUENCER_API_URL: sandbox.url,
      INFLUENCER_API_KEY: sandbox.key,
      INFLUENCER_API_URL_FILE: '',
      INFLUENCER_API_KEY_FILE: '',
    });
    // From nothing each time: it is the demo's own database.
    rmSync(config.database.dataFolder, { recursive: true, force: true });
    output.print(introduction(config, sandbox.url, output));
    const jobs = Object.values(config.jobs);
    for (const job of jobs) {
      output.print(`\n${heading(output, kindOf(job).demo)}\n\n`);
      await perform(output, config, job);
    }
    const posted = await countReferrals(sandbox.url);
    output.print(
      `\n${heading(output, 'Orders again')}\nThe sandbox now has ${posted} orders, and nothing has changed, so a second run\nmust post 0.\n\n`,
    );
    for (const job of jobs.filter(isAttributeOrders)) await perform(output, config, job);
    const postedAgain = (await countReferrals(sandbox.url)) - posted;
    if (postedAgain !== 0) throw postedTwice(postedAgain);
    output.emit({ event: 'demo_finished', posted, posted_again: postedAgain });
    output.print(ending(output, posted));
  } finally {
    await sandbox.close();
  }
}

async function perform(output: Output, config: PipelineConfig, job: JobSettings): Promise<void> {
  const options = { config: shortPath(CONFIG) };
  await performConfigured(output, config, { jobName: job.name, options, isPlan: false });
}

/** From the request log of the sandbox: what it really processed, whatever anyone says. */
async function countReferrals(url: string): Promise<number> {
  const log = await (await fetch(`${url}/_sandbox/log/referrals`)).text();
  return log.split('\n').filter((line) => line !== '').length;
}

function heading(output: Output, text: string): string {
  return output.terminal.style('bold', text);
}

function introduction(config: PipelineConfig, url: string, output: Output): string {
  const sources = Object.values(config.sources).map(({ name, layout }) => `${name} (${layout})`);
  return `${heading(output, 'influencer-sync demo')}
A sandbox of the service runs at ${url}, with an embedded Postgres in
this process. These exports are read:
${sources.map((source) => `  ${source}`).join('\n')}
Every row is accounted for. Nothing leaves this machine.
`;
}

function ending(output: Output, posted: number): string {
  const config = `--config ${shortPath(CONFIG)}`;
  return `\n${heading(output, 'Done')}: ${posted} orders were posted once, and 0 by the second run.

What to try next:
  # the history of one order: file and line, code, attempt, answer
  npx influencer-sync explain order 5601000000101 ${config}
  # the rows that could not be used, and how to fix them
  npx influencer-sync rejected ${config}
  # the state of all jobs
  npx influencer-sync status ${config}
  # a service of your own to develop against
  npx influencer-sync sandbox --port 4010
  # your own exports: edit the configuration, then look before you post
  npx influencer-sync plan attribute-orders --config config/pipeline.yaml
  # who sells most? docs/reporting.md has more questions
  npx influencer-sync query "select influencer_handle, currency, sum(accepted_orders) as orders,
    sum(accepted_amount) as amount from bi.deal_performance_daily group by 1, 2 order by 4 desc" ${config}
`;
}

function postedTwice(count: number): KnownError {
  return new KnownError({
    code: 'demo_failed',
    message: `The second run posted ${count} orders.`,
    help: 'This must not happen. Please report it with the output above.',
    exitCode: EXIT.crash,
  });
}
