import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const ACCOUNT = `
brands: [{id: 4819, name: Acme}]
dealflows: [{id: D_TEST, name: Test, brand_id: 4819}]
deals: [{deal_id: DEAL1, influencer_handle: mia.test, platform: instagram, brand_id: 4819, dealflow_id: D_TEST, code: MIA10}]
credits: {search: 100000, reports: 50}
`;

/** A server that runs as a separate process, so that it does not share our event loop. */
export type ServerProcess = {
  readonly url: string;
  readonly key: string;
  /** Seconds from the start of the process to its first line. */
  readonly startSeconds: number;
  stop(): void;
};

/**
 * @param options options of `influencer-sync sandbox`, in addition to the account.
 * @param account YAML of the account. Defaults to one with a single deal.
 */
export async function startSandbox(options: readonly string[], account = ACCOUNT): Promise<ServerProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  const data = join(folder, 'account.yaml');
  writeFileSync(data, account);
  const args = ['sandbox', '--port', '0', '--data', data, ...options];
  try {
    return await startServer(new URL('../src/start.js', import.meta.url), args);
  } finally {
    // The sandbox has read the account once it prints its address.
    rmSync(folder, { recursive: true });
  }
}

/** Starts a program that prints one JSON line with its address and key. */
export async function startServer(program: URL, args: readonly string[]): Promise<ServerProcess> {
  const startedAt = performance.now();
  const child = spawn(process.execPath, [program.pathname, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const startSeconds = (performance.now() - startedAt) / 1000;
    const { url, key } = JSON.parse(line) as { url: string; key: string };
    return { url, key, startSeconds, stop: () => child.kill('SIGTERM') };
  }
  throw new Error('the server did not start');
}
