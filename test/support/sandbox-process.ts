import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { type SandboxOptions, startSandbox } from '../../src/sandbox/start-sandbox.ts';
import { MAIN } from './run-cli.ts';

/** A referral in the request log of the sandbox. */
export type TrueReferral = {
  readonly order_id: string;
  readonly order_platform: string;
  readonly order_revenue: unknown;
  readonly order_notes?: string;
};

/** A sandbox from which a test can read what the service really did. */
export type Service = {
  readonly url: string;
  readonly key: string;
  readonly webhookSecret: string;
  readonly accountId: string;
  /** All referrals that it processed, in order, including repeats. */
  referrals(): Promise<readonly TrueReferral[]>;
  /** Injects faults (see docs/sandbox.md). Null clears them. */
  setFaults(rules: readonly Record<string, unknown>[] | null): Promise<void>;
};

export type SandboxProcess = Service & { readonly pid: number };

/**
 * Starts the sandbox in this process, on a free port. It is closed when the test ends. Starting a separate
 * process would take most of a second.
 */
export async function startService(options: Partial<SandboxOptions> = {}): Promise<Service> {
  const sandbox = await startSandbox({ port: 0, ...options });
  onTestFinished(() => sandbox.close());
  const { url, key, webhookSecret, accounts } = sandbox;
  return { url, key, webhookSecret, accountId: accounts[0]?.id ?? '', ...questionsTo(url) };
}

/** Starts the sandbox as a separate process on a free port. It is killed when the test ends. */
export async function startSandboxProcess(options: readonly string[] = []): Promise<SandboxProcess> {
  const child = spawn(process.execPath, [MAIN, 'sandbox', '--port', '0', ...options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const { url, key, webhook_secret: webhookSecret } = await readFirstLine(child.stdout);
  const greeting = (await (
    await fetch(`${url}/v1/account/hello`, { headers: { 'x-api-key': key } })
  ).json()) as { message: string };
  return {
    url,
    key,
    webhookSecret,
    accountId: greeting.message.split(' - ')[1] ?? '',
    pid: child.pid ?? 0,
    ...questionsTo(url),
  };
}

function questionsTo(url: string): Pick<Service, 'referrals' | 'setFaults'> {
  return {
    async referrals() {
      const text = await (await fetch(`${url}/_sandbox/log/referrals`)).text();
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as TrueReferral);
    },
    async setFaults(rules) {
      const request =
        rules === null
          ? { method: 'DELETE' }
          : { method: 'POST', body: JSON.stringify(rules), headers: JSON_BODY };
      const answer = await fetch(`${url}/_sandbox/faults`, request);
      if (!answer.ok) throw new Error(`the sandbox refused the faults: ${await answer.text()}`);
    },
  };
}

const JSON_BODY = { 'content-type': 'application/json' };

type FirstLine = { readonly url: string; readonly key: string; readonly webhook_secret: string };

async function readFirstLine(output: NodeJS.ReadableStream): Promise<FirstLine> {
  for await (const line of createInterface({ input: output })) return JSON.parse(line) as FirstLine;
  throw new Error('the sandbox ended before it said where it listens');
}
