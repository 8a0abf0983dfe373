import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CliProcess, startCli } from '../../support/run-cli.ts';
import { waitFor } from '../../support/wait-for.ts';

export const PIPELINE = `database: {url: "\${DATABASE_URL}"}
api: {url: "\${INFLUENCER_API_URL:-}", key: "\${INFLUENCER_API_KEY:-}"}
sources: {}
jobs: {}
webhooks: {secret: "\${INFLUENCER_WEBHOOK_SECRET:-}"}
`;

/** Starts `influencer-sync webhooks` as a separate process and waits until it listens. */
export async function startReceiverProcess(
  folder: string,
  env: Readonly<Record<string, string>>,
  port = 0,
): Promise<{ readonly url: string; readonly process: CliProcess }> {
  writeFileSync(join(folder, 'pipeline.yaml'), PIPELINE);
  const args = ['webhooks', '--config', 'pipeline.yaml', '--json', '--port', String(port)];
  const process = startCli(args, { cwd: folder, env });
  await waitFor(() => process.stdout().includes('\n'));
  const { url } = JSON.parse(process.stdout().split('\n')[0] ?? '{}') as { url: string };
  return { url, process };
}
