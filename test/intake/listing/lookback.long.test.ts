import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { grownSince, openWorkshop, tableSizes, toCsv, type Workshop } from '../../runs/workshop.ts';
import { type S3Server, startS3Server } from '../../support/s3-server.ts';

const BUCKET = 'acme-exports';
const DAY_MS = 86_400_000;

const FLOW = `
sources:
  shop: {uri: "s3://${BUCKET}/\${EXPORTS}", lookback_days: 3, layout: generic, order_platform: shopify, time_zone: UTC, force_path_style: true}
jobs:
  orders: {kind: attribute-orders, source: shop, brand_id: 4819, codes: ./codes.csv}
`;

type Shop = {
  readonly shop: Workshop;
  readonly s3: S3Server;
  /** Writes a file with one order into the folder of a day, this many days before today. */
  readonly drop: (daysAgo: number, id: string, content?: string) => void;
  /**
   * Runs the job.
   * @returns the files that it read, by the names given to `drop`, and the number of pages that it listed.
   */
  readonly read: (
    ...args: string[]
  ) => Promise<{ readonly files: string[]; readonly pages: number; readonly exitCode: number | null }>;
};

async function openShop(): Promise<Shop> {
  const s3 = await startS3Server();
  onTestFinished(() => s3.close());
  const shop = await openWorkshop({ flow: FLOW, env: { ...s3.env, EXPORTS: 'orders/dt={date}/' } });
  return {
    shop,
    s3,
    drop: (daysAgo, id, content = toCsv([{ id }])) =>
      void s3.put(BUCKET, `orders/dt=${dayBefore(daysAgo)}/${id}.csv`, content),
    async read(...args) {
      const pages = pagesOf(s3);
      const known = await sealedFiles(shop);
      const { exitCode } = await shop.run('--allow-empty', ...args);
      const files = (await sealedFiles(shop)).filter((name) => !known.includes(name));
      return { exitCode, files, pages: pagesOf(s3) - pages };
    },
  };
}

function dayBefore(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
}

async function sealedFiles({ db }: Workshop): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select substring(uri from '([^/]+)[.]csv$') as name from intake.source_files where state = 'sealed' order by 1`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}

function pagesOf({ requests }: S3Server): number {
  return requests.filter(({ operation }) => operation === 'ListObjectsV2').length;
}

async function lastListedDaysAgo({ shop }: Shop, days: number): Promise<void> {
  await sql`update intake.listings set listed_at = now() - make_interval(days => ${days})`.execute(shop.db);
}

describe('a source with a date in its uri and lookback_days', () => {
  it('is listed completely at first and then only from some days before the last listing', async () => {
    const opened = await openShop();
    const { s3, drop, read } = opened;
    for (let file = 0; file < 2_100; file += 1)
      s3.put(BUCKET, `orders/dt=2020-01-01/${file}_SUCCESS/.part`, '');
    drop(400, 'o1');
    drop(1, 'o2');
    expect(await read()).toEqual({ exitCode: 0, files: ['o1', 'o2'], pages: 3 });
    drop(400, 'late');
    drop(2, 'o3');
    expect(await read()).toEqual({ exitCode: 0, files: ['o3'], pages: 1 });
    // After ten days without a run, the window is ten days longer.
    drop(12, 'o4');
    drop(15, 'too-late');
    await lastListedDaysAgo(opened, 10);
    expect(await read()).toEqual({ exitCode: 0, files: ['o4'], pages: 1 });
  });

  it('is listed back to the oldest held file, which is read after its correction', async () => {
    const { drop, read } = await openShop();
    drop(30, 'o1', 'not,an,export\n1,2,3\n');
    drop(0, 'o2');
    expect(await read()).toMatchObject({ exitCode: 3, files: ['o2'] });
    drop(20, 'o3');
    drop(40, 'older');
    expect(await read()).toMatchObject({ exitCode: 3, files: ['o3'] });
    drop(30, 'o1');
    expect(await read()).toMatchObject({ exitCode: 0, files: ['o1'] });
    // The next run detects that no file is held any more.
    await read();
    drop(20, 'late');
    expect(await read()).toMatchObject({ exitCode: 0, files: [] });
  });

  it('is listed completely again if its settings match other files, and for a file that is named', async () => {
    const { shop, drop, read } = await openShop();
    drop(0, 'o1');
    await read();
    drop(50, 'o2');
    drop(60, 'o3');
    const { stdout } = await shop.cli('files');
    expect(stdout).toContain(`older than ${dayBefore(3)}, where runs start: use run --file`);
    expect(await read()).toMatchObject({ files: [] });
    expect(await read('--file', 'o2.csv')).toMatchObject({ files: ['o2'] });
    shop.env.EXPORTS = 'orders/dt={date}/*.csv';
    expect(await read()).toMatchObject({ files: ['o3'] });
  });

  it('is listed for the same days again after a run that failed to list or read them', async () => {
    const opened = await openShop();
    const { s3, drop, read } = opened;
    drop(0, 'o1');
    await read();
    await lastListedDaysAgo(opened, 10);
    drop(12, 'o2');
    s3.fail({ operation: 'ListObjectsV2', kind: 'error', status: 403, code: 'AccessDenied' });
    expect((await read()).exitCode).not.toBe(0);
    s3.fail({ operation: 'GetObject', kind: 'error', status: 403, code: 'AccessDenied', times: 9 });
    expect((await read()).exitCode).not.toBe(0);
    s3.heal();
    expect(await read()).toMatchObject({ exitCode: 0, files: ['o2'] });
  });

  it('is not marked as listed by a plan, which leaves no dead rows', async () => {
    const { shop, drop, read } = await openShop();
    drop(400, 'o1');
    const before = await tableSizes(shop.db);
    expect((await shop.cli('plan', 'orders')).exitCode).toBe(0);
    expect(await grownSince(shop.db, before)).toEqual([]);
    expect(await read()).toMatchObject({ files: ['o1'] });
  });

  it('ignores a listing time in the future, which a wrong clock left behind', async () => {
    const opened = await openShop();
    const { drop, read } = opened;
    drop(0, 'o1');
    await read();
    await lastListedDaysAgo(opened, -30);
    drop(0, 'o2');
    drop(20, 'o3');
    expect(await read()).toMatchObject({ exitCode: 0, files: ['o2', 'o3'] });
    drop(20, 'late');
    expect(await read()).toMatchObject({ exitCode: 0, files: [] });
  });

  it('fails if none of the listed days has a file, and names the first of them', async () => {
    const opened = await openShop();
    const { shop, drop, read } = opened;
    drop(9, 'o1');
    await read();
    const { exitCode, stderr } = await shop.cli('run', 'orders');
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`Source shop has no files of ${dayBefore(3)} or later.`);
  });
});
