/** Runs versitygw, a gateway that offers a folder as S3, as the S3 contract suite does (`.ci/versitygw`). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '../test/support/free-port.ts';
import { installGo } from './install.ts';

const VERSION = 'v1.8.0';
const START_TIMEOUT_MS = 30_000;

export type Store = {
  readonly url: string;
  /** Environment variables for the standard chain: endpoint, region, credentials. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
};

/**
 * @param folder an empty folder for the objects.
 * @returns the running store, or why it cannot be had.
 */
export async function startVersitygw(folder: string): Promise<Store | { readonly missing: string }> {
  const installed = installGo({
    module: 'github.com/versity/versitygw',
    version: VERSION,
    command: 'cmd/versitygw',
  });
  if ('missing' in installed) return installed;
  const [buckets, metadata] = ['buckets', 'metadata'].map((name) => join(folder, name)) as [string, string];
  for (const place of [buckets, metadata]) mkdirSync(place);
  const port = await findFreePort();
  const [key, secret] = ['benchmark', 'benchmark-secret'];
  // Amazon's S3 keeps connections open. The gateway closes each after one request, unless told otherwise.
  const args = [
    '--quiet',
    '--keep-alive',
    '--port',
    `127.0.0.1:${port}`,
    'posix',
    '--sidecar',
    metadata,
    buckets,
  ];
  const child = spawn(installed.path, args, {
    stdio: 'ignore',
    env: { ...process.env, ROOT_ACCESS_KEY: key, ROOT_SECRET_KEY: secret },
  });
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (!(await answers(port))) {
    if (child.exitCode !== null || Date.now() > deadline) throw new Error('versitygw did not start');
    await sleep(100);
  }
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    env: {
      AWS_ENDPOINT_URL_S3: url,
      AWS_REGION: 'us-east-1',
      AWS_ACCESS_KEY_ID: key,
      AWS_SECRET_ACCESS_KEY: secret,
    },
    async stop() {
      child.kill('SIGTERM');
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

async function answers(port: number): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
