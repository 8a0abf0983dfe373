/**
 * Compares ours with other tools on the same work, in the same run, on the same Postgres server: loading one
 * file of Shopify rows, and posting orders to the sandbox. The tools are installed at first use, outside of
 * this project. A tool that cannot be had is skipped.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../src/db/connect.ts';
import { migrate } from '../src/db/migrate.ts';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import type { Measurement } from './measure.ts';
import { compareLoading } from './peers/compare-loading.ts';
import { comparePosting } from './peers/compare-posting.ts';

export type PeersCase = {
  /** Rows of the file. */
  readonly rows: number;
  /** Orders to post. */
  readonly posts: number;
  /** How often each tool does each work; the medians count. */
  readonly rounds: number;
};

/** @returns seconds of ours, and seconds of each other tool ÷ ours. */
export async function measurePeers({ rows, posts, rounds }: PeersCase): Promise<readonly Measurement[]> {
  const server = await startPostgresServer();
  const folder = mkdtempSync(join(tmpdir(), 'influencer-sync-bench-'));
  const [loading, posting] = ['loading', 'posting'].map((name) => join(folder, name)) as [string, string];
  for (const place of [loading, posting]) mkdirSync(place);
  const db = await connect({ url: server.url, embeddedFolder: '' });
  try {
    await migrate(db);
    const place = { db, url: server.url, rounds };
    return [
      ...(await compareLoading({ ...place, folder: loading, rows })),
      ...(await comparePosting({ ...place, folder: posting, posts })),
    ];
  } finally {
    await db.destroy();
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}
