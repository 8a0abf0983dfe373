import { existsSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { countStates, look, manyRows, repeated, toCsv, type Workshop } from '../runs/workshop.ts';
import { suiteDatabases } from '../support/absent-server.ts';
import { type S3Server, startS3Server } from '../support/s3-server.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { waitFor } from '../support/wait-for.ts';
import { backUp, loseClaims, openReplaceable, useEmbedded } from './lost-databases.ts';

/** Simulates a new container: its data folder is empty. */
function replaceContainer(shop: Workshop): void {
  rmSync(join(shop.folder, '.data'), { recursive: true, force: true });
}

function markIn(shop: Workshop): readonly string[] {
  return readdirSync(join(shop.folder, 'mark')).sort();
}

/**
 * Posts four orders, takes a backup, posts four more, and restores the backup. Each run has an empty data
 * folder.
 */
async function restoreInContainers(shop: Workshop): Promise<void> {
  shop.drop('one.csv', toCsv(manyRows(4, 'a')));
  expect((await shop.run()).exitCode).toBe(0);
  replaceContainer(shop);
  const backup = await backUp(shop);
  shop.drop('two.csv', toCsv(manyRows(4, 'b')));
  expect((await shop.run()).exitCode).toBe(0);
  replaceContainer(shop);
  shop.env.DATABASE_URL = backup;
}

describe('a mark for machines without a persistent data folder', () => {
  it('in a folder detects a restored database and reports that claims are lost', async () => {
    const shop = await openReplaceable({ markUri: './mark' });
    await restoreInContainers(shop);
    // A run that ended in order leaves one journal and none of its interim notes.
    expect(markIn(shop).map((name) => name.includes('.open.'))).toEqual([false, false]);
    for (const command of ['plan', 'status', 'doctor']) {
      const told = await shop.cli(...(command === 'plan' ? ['plan', 'orders'] : [command]));
      expect(told.exitCode).not.toBe(0);
      expect(told.stdout + told.stderr).toContain('The ledger lost claims');
    }
    expect(await shop.posted()).toHaveLength(8);
  });

  it('in S3 does the same and lets a container without other state recover the ledger', async () => {
    const s3 = await startS3Server();
    onTestFinished(() => s3.close());
    s3.put('ledger', 'other/file.txt', 'not of the mark');
    const shop = await openReplaceable({ markUri: 's3://ledger/mark', env: s3.env });
    await restoreInContainers(shop);
    const refused = await shop.cli('run', 'orders');
    expect(refused.exitCode).toBe(7);
    expect(refused.stderr.replace(/\s+/g, ' ')).toMatch(/The ledger lost claims.* 4 orders \(10\.10 EUR\)/);
    expect(await shop.posted()).toHaveLength(8);
    replaceContainer(shop);
    const recovered = await shop.cli('ledger', 'recover', '--reason', 'restored the backup of this morning');
    expect(recovered).toMatchObject({ exitCode: 0 });
    expect(recovered.stdout).toContain('Recovered 4 claims');
    expect(recovered.stdout).toContain('4 accepted by the service');
    replaceContainer(shop);
    expect(await shop.run()).toMatchObject({ exitCode: 0 });
    expect(await shop.posted()).toHaveLength(8);
    await look(shop.env.DATABASE_URL ?? '', async (db) => {
      expect(await countStates(db)).toEqual({ accepted: 8 });
    });
    expect(
      s3.requests.some(({ operation, key }) => operation === 'DeleteObject' && key === 'other/file.txt'),
    ).toBe(false);
  });

  it('lets runs continue without an operator if a moved database lacks nothing', async () => {
    const shop = await openReplaceable({ markUri: './mark' });
    shop.drop('one.csv', toCsv(manyRows(2, 'a')));
    await shop.run();
    shop.env.DATABASE_URL = await backUp(shop);
    shop.drop('two.csv', toCsv(manyRows(2, 'b')));
    expect((await shop.run()).exitCode).toBe(0);
    expect(await shop.posted()).toHaveLength(4);
  });

  it('compares every claim with a moved database, not only the newest claim of each process', async () => {
    const shop = await openReplaceable({ markUri: './mark' });
    shop.drop('one.csv', toCsv(manyRows(2, 'a')));
    await shop.run();
    replaceContainer(shop);
    shop.drop('two.csv', toCsv(manyRows(1, 'b')));
    await shop.run();
    replaceContainer(shop);
    shop.env.DATABASE_URL = await backUp(shop);
    // The commit of `a2` came after the backup and that of `b1` before it, as with two processes that post in
    // parallel.
    await loseClaims(shop.env.DATABASE_URL, 'a2');
    const refused = await shop.cli('run', 'orders');
    expect(refused.stderr.replace(/\s+/g, ' ')).toMatch(
      /The ledger lost claims.* The database lacks 1 order \(/,
    );
    expect(refused.exitCode).toBe(7);
    const recovered = await shop.cli('ledger', 'recover', '--reason', 'restored the backup');
    expect(recovered.stdout).toContain('Recovered 1 claim');
    expect((await shop.run()).exitCode).toBe(0);
    expect([...(await shop.posted())].sort()).toEqual(['a1', 'a2', 'b1']);
  });

  it('rejects another database, including a new embedded one in the container', async () => {
    const shop = await openReplaceable({ markUri: './mark' });
    shop.drop('one.csv', toCsv(manyRows(3, 'a')));
    await shop.run();
    replaceContainer(shop);
    await useEmbedded(shop);
    const refused = await shop.run();
    expect(refused.exitCode).toBe(7);
    expect(refused.stderr).toContain('This is another ledger');
    expect(await shop.posted()).toHaveLength(3);
  });

  it('contains each claim before its request starts, so that a killed run leaves no unknown order', async () => {
    const shop = await openReplaceable({ markUri: './mark', sandbox: { latencyMs: 20 } });
    shop.drop('one.csv', toCsv(manyRows(2, 'a')));
    await shop.run();
    const backup = await backUp(shop);
    shop.drop('two.csv', toCsv(manyRows(60, 'b')));
    const run = shop.start('run', 'orders');
    await waitFor(async () => (await shop.posted()).length >= 12);
    run.kill('SIGKILL');
    await run.ended;
    const sent = await shop.posted();
    expect(markIn(shop).some((name) => name.includes('.open.'))).toBe(true);
    replaceContainer(shop);
    shop.env.DATABASE_URL = backup;
    expect((await shop.run()).exitCode).toBe(7);
    expect((await shop.cli('ledger', 'recover', '--reason', 'restored')).exitCode).toBe(0);
    const after = await shop.run();
    expect([0, 6]).toContain(after.exitCode);
    const posted = await shop.posted();
    expect(repeated(posted)).toEqual([]);
    expect(posted.length).toBeGreaterThan(sent.length);
    // Requests without an answer stay in doubt, as do claims that may not have been sent. All other orders
    // were posted.
    await look(shop.env.DATABASE_URL ?? '', async (db) => {
      const { accepted = 0, in_doubt: doubts = 0, ...others } = await countStates(db);
      expect(others).toEqual({});
      expect(accepted + doubts).toBe(62);
    });
  });

  it('that cannot be read or written blocks posting and explains the missing access', async () => {
    const s3 = await startS3Server();
    onTestFinished(() => s3.close());
    s3.put('ledger', 'mark/readme.txt', 'not of the mark');
    const shop = await openReplaceable({ markUri: 's3://ledger/mark/', env: s3.env });
    shop.drop('one.csv', toCsv(manyRows(3, 'a')));
    s3.fail({ operation: 'ListObjectsV2', kind: 'error', status: 403, code: 'AccessDenied', times: 99 });
    const unread = await shop.cli('run', 'orders');
    expect(unread.exitCode).toBe(2);
    expect(unread.stderr).toContain('The mark of the ledger cannot be read.');
    expect(unread.stderr).toContain('s3:PutObject');
    s3.heal();
    s3.fail({ operation: 'PutObject', kind: 'error', status: 403, code: 'AccessDenied', times: 99 });
    const unwritten = await shop.cli('run', 'orders');
    expect(unwritten.exitCode).toBe(1);
    expect(unwritten.stdout.replace(/\s+/g, ' ')).toContain(
      'failed The mark of the ledger cannot be written.',
    );
    expect(await shop.posted()).toEqual([]);
    s3.heal();
    expect(await shop.run()).toMatchObject({ exitCode: 0 });
    expect(await shop.posted()).toHaveLength(3);
  });

  it('drops journals older than 90 days, but never the newest one', async () => {
    const shop = await openReplaceable({ markUri: './mark' });
    for (const name of ['a', 'b']) {
      shop.drop(`${name}.csv`, toCsv(manyRows(1, name)));
      await shop.run();
    }
    const [oldest, newest] = markIn(shop);
    const before = new Date(Date.now() - 91 * 86_400_000);
    for (const name of markIn(shop)) utimesSync(join(shop.folder, 'mark', name), before, before);
    replaceContainer(shop);
    await shop.run();
    expect(markIn(shop)).toEqual([newest]);
    expect(existsSync(join(shop.folder, 'mark', oldest ?? ''))).toBe(false);
  });
});

describe('a run in a new container whose mark is in S3', () => {
  const MARK = { bucket: 'ledger', uri: 's3://ledger/mark' };

  /** What has happened to the database or the bucket after four orders were posted, and what the next run does. */
  const table: readonly {
    readonly happened: string;
    readonly make: (shop: Workshop, s3: S3Server) => Promise<unknown> | unknown;
    readonly exitCode: number;
    readonly says: RegExp;
    /** Also of `ledger recover`: it must not take part of the mark for the whole. */
    readonly stopsRecovery?: boolean;
  }[] = [
    {
      happened: 'the database was replaced by another one',
      make: async (shop) => {
        const other = await createTestDatabase(suiteDatabases());
        onTestFinished(() => other.drop());
        shop.env.DATABASE_URL = other.url;
      },
      exitCode: 7,
      says: /This is another ledger: this database holds a new ledger, but .* The database lacks 4 orders \(10\.10 EUR\)/,
    },
    {
      happened: 'the bucket was emptied',
      make: (_, s3) => s3.objects(MARK.bucket).clear(),
      exitCode: 0,
      says: /no journal of ledger \w+, so this run cannot detect a restored database. Later runs can, as long as you keep s3:\/\/ledger\/mark/,
    },
    {
      happened: 'the bucket was emptied and the database restored',
      make: async (shop, s3) => {
        s3.objects(MARK.bucket).clear();
        shop.env.DATABASE_URL = await backUp(shop);
      },
      exitCode: 7,
      says: /The database is not where it was/,
    },
    {
      happened: 'the bucket was deleted',
      make: (shop) => {
        shop.write('pipeline.yaml', readConfig(shop).replace(MARK.uri, 's3://gone/mark'));
      },
      exitCode: 2,
      says: /The mark of the ledger cannot be read.*gone/,
      stopsRecovery: true,
    },
    {
      happened: 'the store is unreachable',
      make: (_, s3) => s3.close(),
      exitCode: 1,
      says: /The mark of the ledger cannot be read/,
      stopsRecovery: true,
    },
    {
      happened: 'a later version wrote the mark',
      make: (_, s3) => changeJournals(s3, (text) => text.replace('{"journal":1,', '{"journal":2,')),
      exitCode: 2,
      says: /wrote a journal of the ledger at .* with a later version .* format 2, and this version reads format 1/,
      stopsRecovery: true,
    },
    {
      happened: 'a later version wrote the mark under names of its own',
      make: (_, s3) => {
        changeJournals(s3, (text) => text.replace('{"journal":1,', '{"journal":2,'));
        const objects = s3.objects(MARK.bucket);
        const [key = ''] = [...objects.keys()].filter((name) => name.startsWith('mark/'));
        s3.put(MARK.bucket, 'mark/v2.claims.ndjson', objects.get(key)?.content ?? '');
        objects.delete(key);
      },
      exitCode: 2,
      says: /with a later version/,
      stopsRecovery: true,
    },
    {
      happened: 'a journal of the mark was cut',
      make: (_, s3) => changeJournals(s3, (text) => text.slice(0, text.indexOf('{"claim"') + 80)),
      exitCode: 7,
      says: /The journal [\w-]+\.ndjson of the ledger cannot be read to its end: it lacks claims up to 4/,
      stopsRecovery: true,
    },
    {
      happened: 'a journal of the mark was overwritten',
      make: (_, s3) => changeJournals(s3, () => '<html>expired</html>'),
      exitCode: 7,
      says: /The journal [\w-]+\.ndjson of the ledger cannot be read\./,
      stopsRecovery: true,
    },
  ];

  it.each(table)('after $happened exits with $exitCode and says so', async (given) => {
    const s3 = await startS3Server();
    onTestFinished(() => s3.close());
    s3.put(MARK.bucket, 'other/file.txt', 'not of the mark');
    const shop = await openReplaceable({ markUri: MARK.uri, env: s3.env });
    shop.drop('one.csv', toCsv(manyRows(4, 'a')));
    expect((await shop.run()).exitCode).toBe(0);
    expect([...s3.objects(MARK.bucket).keys()].filter((key) => key.startsWith('mark/'))).toHaveLength(1);
    replaceContainer(shop);
    await given.make(shop, s3);
    shop.drop('two.csv', toCsv(manyRows(4, 'b')));
    const run = await shop.cli('run', 'orders');
    expect(run.exitCode, run.stderr).toBe(given.exitCode);
    expect((run.stdout + run.stderr).replace(/\s+/g, ' ')).toMatch(given.says);
    const posted = await shop.posted();
    expect(repeated(posted)).toEqual([]);
    expect(posted).toHaveLength(given.exitCode === 0 ? 8 : 4);
    if (given.stopsRecovery !== true) return;
    const recovery = await shop.cli('ledger', 'recover', '--reason', 'restored');
    expect(recovery.exitCode, recovery.stdout).toBe(given.exitCode);
    expect(await shop.posted()).toHaveLength(4);
  });

  function changeJournals(s3: S3Server, change: (text: string) => string): void {
    for (const [key, { content }] of s3.objects(MARK.bucket))
      if (key.startsWith('mark/')) s3.put(MARK.bucket, key, change(String(content)));
  }
});

function readConfig(shop: Workshop): string {
  return readFileSync(join(shop.folder, 'pipeline.yaml'), 'utf8');
}
