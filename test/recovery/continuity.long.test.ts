import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../src/db/connect.ts';
import {
  countRows,
  countStates,
  look,
  manyRows,
  repeated,
  toCsv,
  type Workshop,
  type WorkshopOptions,
} from '../runs/workshop.ts';
import { suiteDatabases } from '../support/absent-server.ts';
import { findFreePort } from '../support/free-port.ts';
import { runStatement, urlOf } from '../support/test-database.ts';
import { waitFor } from '../support/wait-for.ts';
import { backUp, loseClaims, makeTablesAnew, openReplaceable, useEmbedded } from './lost-databases.ts';

const REFERRAL = 'new_influencer_referral';

/** Posts ten orders, takes a backup, posts ten more orders, and restores the backup. */
async function restoreOldBackup(options: WorkshopOptions = {}): Promise<Workshop> {
  const shop = await openReplaceable(options);
  shop.drop('one.csv', toCsv(manyRows(10, 'a')));
  expect((await shop.run()).exitCode).toBe(0);
  const backup = await backUp(shop);
  shop.drop('two.csv', toCsv(manyRows(10, 'b')));
  expect((await shop.run()).exitCode).toBe(0);
  expect(await shop.posted()).toHaveLength(20);
  shop.env.DATABASE_URL = backup;
  return shop;
}

/** Leaves only the end of the newest journal, which has the number of claims, and the last one, but not the other orders. */
function loseLines(shop: Workshop): void {
  const folder = join(shop.folder, '.data', 'journal');
  const journals = readdirSync(folder).filter((name) => name.endsWith('.ndjson'));
  const newest = journals.sort().at(-1) ?? '';
  const lines = readFileSync(join(folder, newest), 'utf8').trimEnd().split('\n');
  const last = lines.filter((line) => line.startsWith('{"claim"')).at(-1) ?? '';
  writeFileSync(join(folder, newest), `${[lines[0], last, lines.at(-1)].join('\n')}\n`);
}

describe('a database that was restored from an older backup', () => {
  it('is usable after `ledger recover`: orders that the service accepted count as accepted, and none is posted twice', async () => {
    const shop = await restoreOldBackup();
    const recovered = await shop.cli('ledger', 'recover', '--reason', 'restored the backup of this morning');
    expect(recovered.exitCode).toBe(0);
    expect(recovered.stdout).toContain('10 accepted by the service');
    const db = await connect({ url: shop.env.DATABASE_URL ?? '', embeddedFolder: '' });
    onTestFinished(() => db.destroy());
    const { rows } = await sql`select action, reason, after from ops.audit`.execute(db);
    expect(rows).toEqual([
      {
        action: 'recover_ledger',
        reason: 'restored the backup of this morning',
        after: { accepted: 10, in_doubt: 0, not_processed: 0 },
      },
    ]);
    shop.drop('three.csv', toCsv(manyRows(5, 'c')));
    const run = await shop.run();
    expect(run).toMatchObject({
      exitCode: 0,
      finished: { counts: { entries: { accepted: 5, in_doubt: 0, ready: 0 } } },
    });
    expect(repeated(await shop.posted())).toEqual([]);
    expect(await shop.posted()).toHaveLength(25);
    await look(shop.env.DATABASE_URL ?? '', async (db) => {
      expect(await countStates(db)).toEqual({ accepted: 25 });
    });
    expect((await shop.run()).exitCode).toBe(0);
    expect(await shop.posted()).toHaveLength(25);
  });

  it('holds an order whose answer was lost before the restore as a doubt, with its amount', async () => {
    const shop = await openReplaceable();
    shop.drop('one.csv', toCsv(manyRows(3, 'a')));
    await shop.run();
    const backup = await backUp(shop);
    await shop.sandbox.setFaults([{ kind: 'reset_after', operation: REFERRAL, count: 1 }]);
    shop.drop('two.csv', toCsv(manyRows(3, 'b')));
    expect((await shop.run()).exitCode).toBe(6);
    shop.env.DATABASE_URL = backup;
    expect((await shop.cli('ledger', 'recover', '--reason', 'restored')).stdout).toContain('1 in doubt');
    expect(await shop.run()).toMatchObject({
      exitCode: 6,
      finished: { counts: { entries: { in_doubt: 1 } } },
    });
    expect(repeated(await shop.posted())).toEqual([]);
    expect((await shop.cli('review')).stdout).toContain('1 order in doubt');
  });

  it('stays blocked while claims are missing that no journal describes, until an operator abandons them', async () => {
    const shop = await restoreOldBackup();
    loseLines(shop);
    const partly = await shop.cli('ledger', 'recover', '--reason', 'restored');
    expect(partly.exitCode).toBe(7);
    expect(partly.stderr.replace(/\s+/g, ' ')).toContain('9 claims are still missing');
    expect((await shop.run()).exitCode).toBe(7);
    expect(await shop.posted()).toHaveLength(20);
    const given = await shop.cli('ledger', 'recover', '--reason', 'the disk is lost', '--accept-undescribed');
    expect(given.exitCode).toBe(0);
  });

  it('accepts a list of the orders that the service has (`ledger recover --from`)', async () => {
    const shop = await openReplaceable();
    shop.drop('one.csv', toCsv(manyRows(2, 'a')));
    await shop.run();
    const backup = await backUp(shop);
    await shop.sandbox.setFaults([{ kind: 'reset_after', operation: REFERRAL, count: 1 }]);
    shop.drop('two.csv', toCsv(manyRows(2, 'b')));
    await shop.run();
    shop.env.DATABASE_URL = backup;
    const rows = (await shop.posted()).map((id) => `shopify,${id}`);
    shop.write('service.csv', `order_platform,order_id\n${rows.join('\n')}\n`);
    const recovered = await shop.cli(
      'ledger',
      'recover',
      '--reason',
      'listed there',
      '--from',
      'service.csv',
    );
    expect(recovered.exitCode).toBe(0);
    expect(await shop.run()).toMatchObject({ finished: { counts: { entries: { in_doubt: 0, ready: 0 } } } });
    expect(repeated(await shop.posted())).toEqual([]);
  });
});

/** Commands that write decisions. They refuse a ledger that lost claims as a run does. */
const DECIDING = [
  'review 1 --write-off --reason x',
  'review 1 --resend --yes --reason x',
  'review --all --write-off --yes --reason x',
  'review --held --exclude --yes --reason x',
  'files release --all --yes --reason x',
  'files reread one.csv',
  'checks acknowledge 1 --reason x',
  'checks expect-date 2026-11-27 sale',
  'backfill orders --from 2026-04-01 --to 2026-04-30',
  'backfill orders --from 2026-04-01 --to 2026-04-30 --plan',
  'backfill orders --from 2026-04-01 --to 2026-04-30 --yes',
  'backfill resume',
  'backfill pause',
  'backfill cancel',
  'jobs pause orders --reason x',
  'ledger seed service.csv --reason x',
  'ledger unseed 1 --reason x',
  'leaks acknowledge MIA10 --reason x',
  'prune --yes',
  'run orders',
  'plan orders',
];

/** Commands that only show something. They say it. */
const READING = [
  'review',
  'review --held',
  'explain order a1',
  'files',
  'checks',
  'runs',
  'jobs',
  'rejected',
  'backfill status',
  'ledger seeds',
  'reconcile',
  'conflicts',
  'returns',
  'leaks',
  'prune',
  "query 'select 1'",
];

/** Starts `serve`, and waits until it says that the database went back, where probes and metrics look. */
async function expectNotReady(shop: Workshop): Promise<void> {
  const port = await findFreePort();
  const serving = shop.start('serve', '--port', String(port));
  const ask = async (path: string): Promise<string> =>
    fetch(`http://127.0.0.1:${port}${path}`).then(
      (answer) => answer.text(),
      () => '',
    );
  await waitFor(async () => (await ask('/readyz')).includes('ledger_went_back'));
  expect(JSON.parse(await ask('/readyz'))).toMatchObject({
    ready: false,
    checks: { ledger: { ok: false, code: 'ledger_went_back' } },
  });
  expect(await ask('/metrics')).toMatch(/^influencer_sync_ledger_continuous 0$/m);
  serving.kill('SIGTERM');
  await serving.ended;
}

describe('a ledger that lost claims', () => {
  it('is refused by every command that decides, with the text of a run; every command that reads says it, and a serving process is not ready', async () => {
    const shop = await restoreOldBackup({ schedule: '0 4 1 1 *' });
    shop.write('service.csv', 'order_platform,order_id\nshopify,a1\n');
    const text = (result: { readonly stdout: string; readonly stderr: string }) =>
      `${result.stdout} ${result.stderr}`.replace(/\s+/g, ' ');
    // The refused run itself is recorded.
    const count = async () => ({
      ...(await look(shop.env.DATABASE_URL ?? '', countRows)),
      'ops.run_requests': 0,
      'ops.runs': 0,
    });
    const before = await count();
    for (const command of DECIDING) {
      const refused = await shop.cli(...command.split(' '));
      expect({ command, exitCode: refused.exitCode, text: text(refused) }).toEqual({
        command,
        exitCode: 7,
        text: expect.stringMatching(
          /Error: The ledger lost claims\..* 10 orders \([\d.]+ EUR\).*ledger recover/,
        ),
      });
    }
    expect(await count(), 'nothing is recorded').toEqual(before);
    for (const command of READING) {
      const shown = await shop.cli(
        ...(command.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", '')),
      );
      expect({ command, exitCode: shown.exitCode, text: shown.stderr.replace(/\s+/g, ' ') }).toEqual({
        command,
        exitCode: expect.toBeOneOf([0, 3, 6]),
        text: expect.stringMatching(/Warning: The ledger lost claims\..*may be incomplete.*ledger recover/),
      });
    }
    const status = await shop.cli('status', '--json');
    expect(status.exitCode).toBe(7);
    expect(JSON.parse(status.stdout.trim().split('\n').at(0) ?? '')).toMatchObject({
      ledger: { is_continuous: false, code: 'ledger_went_back' },
    });
    const doctor = await shop.cli('doctor');
    expect(doctor.exitCode).not.toBe(0);
    expect(doctor.stdout + doctor.stderr).toContain('The ledger lost claims');
    await expectNotReady(shop);
    expect(await shop.posted()).toHaveLength(20);
  });

  it('is reported wherever a run would end with exit 7, also if the database is missing or has no tables', async () => {
    const shop = await openReplaceable();
    shop.drop('one.csv', toCsv(manyRows(2, 'a')));
    expect((await shop.run()).exitCode).toBe(0);
    const everywhere = async () => {
      for (const command of ['plan orders', 'status', 'review', 'doctor']) {
        const { exitCode, stdout, stderr } = await shop.cli(...command.split(' '));
        const text = (stdout + stderr).replace(/\s+/g, ' ');
        expect({ command, exitCode, text }).toEqual({
          command,
          exitCode: command === 'doctor' ? 2 : 7,
          text: expect.stringContaining('The database lacks 2 orders (3.03 EUR)'),
        });
      }
    };
    const { serverUrl, prefix } = suiteDatabases();
    const name = `${prefix}empty${process.pid}`;
    await runStatement(serverUrl, `create database ${name}`);
    onTestFinished(() => runStatement(serverUrl, `drop database if exists ${name} with (force)`));
    shop.env.DATABASE_URL = urlOf(serverUrl, name);
    await everywhere();
    // A run makes the tables first.
    const refused = await shop.cli('run', 'orders');
    expect(refused.exitCode).toBe(7);
    expect(refused.stderr).toContain('This is another ledger');
    expect(await shop.posted()).toHaveLength(2);
    delete shop.env.DATABASE_URL;
    await everywhere();
    expect(existsSync(join(shop.folder, '.data', 'postgres')), 'nobody has made one').toBe(false);
  });
});

describe('a list of the orders that the service has', () => {
  it('is recorded with the recovery or not at all, and giving it again adds nothing, whether or not claims are still missing', async () => {
    const shop = await restoreOldBackup();
    loseLines(shop);
    const recover = (...more: string[]) =>
      shop.cli('ledger', 'recover', '--reason', 'listed there', '--from', 'service.csv', ...more);
    const recorded = () =>
      look(shop.env.DATABASE_URL ?? '', async (db) => {
        const { rows } = await sql`
          select (select count(*)::int from ledger.seeds) as lists, (select count(*)::int from ledger.evidence) as orders,
            (select count(*)::int from ledger.lost_claims) as claims, (select count(*)::int from ledger.recoveries) as recoveries,
            (select array_agg(action order by audit_id) from ops.audit) as audit`.execute(db);
        return rows[0];
      });

    shop.write('service.csv', 'order_platform,order_id\nshopify,b1\nshopify,1.23E+12\n');
    expect((await recover()).exitCode).toBe(3);
    expect(await recorded()).toEqual({ lists: 0, orders: 0, claims: 0, recoveries: 0, audit: null });

    const rows = (await shop.posted()).map((id) => `shopify,${id}`);
    shop.write('service.csv', `order_platform,order_id\n${rows.join('\n')}\n`);
    const first = await recover();
    expect(first.exitCode).toBe(7);
    expect(first.stderr.replace(/\s+/g, ' ')).toContain('What this command recorded stays recorded');
    const once = { lists: 1, orders: 20, claims: 1 };
    const audit = ['seed_orders', 'recover_ledger'];
    expect(await recorded()).toEqual({ ...once, recoveries: 1, audit });

    const second = await recover();
    expect(second.exitCode).toBe(7);
    expect(second.stdout).toContain('Seed 1 contains this list already: 20 orders');
    expect(await recorded()).toMatchObject({ ...once, audit: [...audit, 'recover_ledger'] });
    expect((await recover('--accept-undescribed')).exitCode).toBe(0);
    expect(await recorded()).toMatchObject(once);
    expect((await shop.run()).exitCode).toBe(0);
    expect(repeated(await shop.posted())).toEqual([]);
  });
});

describe('another database than before', () => {
  it('is rejected if DATABASE_URL is not set, until an operator starts a new ledger and gives a reason', async () => {
    const shop = await openReplaceable();
    shop.drop('one.csv', toCsv(manyRows(5, 'a')));
    expect((await shop.run()).exitCode).toBe(0);
    await useEmbedded(shop);
    for (const command of ['run', 'plan']) {
      const refused = await shop.cli(command, 'orders');
      expect(refused.exitCode).toBe(7);
      expect(refused.stderr).toContain('This is another ledger');
      expect(refused.stderr).toContain('DATABASE_URL');
    }
    expect((await shop.run('--new-ledger')).exitCode).toBe(2);
    expect(await shop.posted()).toHaveLength(5);
    const begun = await shop.run('--new-ledger', '--reason', 'the old one was a trial');
    expect(begun.exitCode).toBe(0);
    expect(await shop.posted()).toHaveLength(10);
    expect((await shop.run()).exitCode).toBe(0);
    const audit = await shop.cli('query', 'select action, reason, after from ops.audit', '--json');
    expect(audit.stdout).toContain(
      '{"action":"begin_new_ledger","reason":"the old one was a trial","after":{"disregarded_claims": 5}}',
    );
  });

  it('takes over the orders of a lost ledger from the journals (`ledger recover`)', async () => {
    const shop = await openReplaceable();
    shop.drop('one.csv', toCsv(manyRows(5, 'a')));
    await shop.run();
    await useEmbedded(shop);
    expect((await shop.cli('ledger', 'recover', '--reason', 'the server is gone for good')).exitCode).toBe(0);
    expect(await shop.run()).toMatchObject({ exitCode: 0 });
    expect(await shop.posted()).toHaveLength(5);
  });
});

describe('two machines, each with its own data folder', () => {
  it('are both blocked after a restore until the journal of each is recovered', async () => {
    const shop = await openReplaceable();
    const data = join(shop.folder, '.data');
    shop.drop('one.csv', toCsv(manyRows(3, 'a')));
    await shop.run();
    const backup = await backUp(shop);
    shop.drop('two.csv', toCsv(manyRows(3, 'b')));
    await shop.run();
    // The second machine has the same database and its own data folder.
    renameSync(data, join(shop.folder, 'first-data'));
    mkdirSync(data);
    shop.drop('three.csv', toCsv(manyRows(3, 'c')));
    await shop.run();
    shop.env.DATABASE_URL = backup;
    expect((await shop.run()).exitCode).toBe(7);
    // This machine knows its own claims, and their numbers show that there were others.
    const partly = await shop.cli('ledger', 'recover', '--reason', 'restored');
    expect(partly.exitCode).toBe(7);
    expect(partly.stderr.replace(/\s+/g, ' ')).toContain('every other machine');
    expect((await shop.run()).exitCode).toBe(7);
    renameSync(data, join(shop.folder, 'second-data'));
    renameSync(join(shop.folder, 'first-data'), data);
    expect((await shop.cli('ledger', 'recover', '--reason', 'restored')).exitCode).toBe(0);
    expect((await shop.run()).exitCode).toBe(0);
    expect(repeated(await shop.posted())).toEqual([]);
    expect(await shop.posted()).toHaveLength(9);
  });
});

describe('a database that was moved', () => {
  it('must be compared on every machine that posted to it, even on one whose own claims are complete', async () => {
    const shop = await openReplaceable();
    const data = join(shop.folder, '.data');
    shop.drop('one.csv', toCsv(manyRows(3, 'a')));
    await shop.run();
    // The second machine posts as well, followed by the first machine again. The backup lacks these later
    // claims.
    renameSync(data, join(shop.folder, 'first-data'));
    shop.drop('two.csv', toCsv(manyRows(3, 'b')));
    await shop.run();
    const backup = await backUp(shop);
    renameSync(data, join(shop.folder, 'second-data'));
    renameSync(join(shop.folder, 'first-data'), data);
    shop.drop('three.csv', toCsv(manyRows(3, 'c')));
    await shop.run();
    shop.env.DATABASE_URL = backup;

    renameSync(data, join(shop.folder, 'first-data'));
    renameSync(join(shop.folder, 'second-data'), data);
    for (const command of ['run', 'plan']) {
      const refused = await shop.cli(command, 'orders');
      expect(refused.exitCode).toBe(7);
      expect(refused.stderr.replace(/\s+/g, ' ')).toMatch(
        /is not where it was.*another machine has posted to it.*which last posted 20\d\d-/,
      );
    }
    expect((await shop.cli('ledger', 'recover', '--reason', 'restored')).exitCode).toBe(7);
    renameSync(data, join(shop.folder, 'second-data'));
    renameSync(join(shop.folder, 'first-data'), data);
    expect((await shop.cli('ledger', 'recover', '--reason', 'restored')).exitCode).toBe(0);
    expect((await shop.run()).exitCode).toBe(0);
    renameSync(data, join(shop.folder, 'first-data'));
    renameSync(join(shop.folder, 'second-data'), data);
    expect((await shop.run()).exitCode).toBe(0);
    expect(repeated(await shop.posted())).toEqual([]);
    expect(await shop.posted()).toHaveLength(9);
  });

  it('must also be compared if a backup was restored into the same database', async () => {
    const shop = await openReplaceable();
    const data = join(shop.folder, '.data');
    const database = shop.env.DATABASE_URL ?? '';
    shop.drop('one.csv', toCsv(manyRows(1, 'a')));
    await shop.run();
    renameSync(data, join(shop.folder, 'first-data'));
    shop.drop('two.csv', toCsv(manyRows(1, 'b')));
    await shop.run();
    expect((await shop.cli('doctor')).stdout.replace(/\s+/g, ' ')).toContain(
      '2 data folders have posted to this ledger within 90 days',
    );
    await loseClaims(database, 'b1');
    await makeTablesAnew(database);
    renameSync(data, join(shop.folder, 'second-data'));
    renameSync(join(shop.folder, 'first-data'), data);
    const refused = await shop.cli('run', 'orders');
    expect(refused.stderr.replace(/\s+/g, ' ')).toContain('The database is not where it was');
    expect(refused.exitCode).toBe(7);
    expect(await shop.posted()).toHaveLength(2);
  });

  it('with no missing claims requires one confirmation by an operator, with a reason', async () => {
    const shop = await openReplaceable();
    shop.drop('one.csv', toCsv(manyRows(2, 'a')));
    await shop.run();
    shop.env.DATABASE_URL = await backUp(shop);
    shop.drop('two.csv', toCsv(manyRows(2, 'b')));
    const refused = await shop.cli('run', 'orders');
    expect(refused.exitCode).toBe(7);
    expect(refused.stderr.replace(/\s+/g, ' ')).toContain(
      'another machine may have posted orders that the database lacks',
    );
    expect((await shop.cli('ledger', 'recover', '--reason', 'moved to the new server')).exitCode).toBe(0);
    expect((await shop.run()).exitCode).toBe(0);
    expect(await shop.posted()).toHaveLength(4);
  });
});

describe('two accepted answers for one order', () => {
  it('are shown as a double credit with its amount and cause exit 6 until an operator acknowledges it', async () => {
    const shop = await openReplaceable();
    const journal = join(shop.folder, '.data', 'journal');
    shop.drop('one.csv', toCsv(manyRows(2, 'a')));
    await shop.run();
    const backup = await backUp(shop);
    shop.drop('two.csv', toCsv(manyRows(1, 'b')));
    await shop.run();
    // The database is restored. The journal of what was posted since is not on this machine, and an operator
    // gives those claims up.
    renameSync(journal, `${journal}-elsewhere`);
    shop.env.DATABASE_URL = backup;
    const refused = await shop.cli('run', 'orders');
    expect(refused.exitCode).toBe(7);
    expect(refused.stderr.replace(/\s+/g, ' ')).toContain('This machine has no journal of it');
    expect((await shop.cli('ledger', 'recover', '--reason', 'the disk is lost')).exitCode).toBe(7);
    await shop.cli('ledger', 'recover', '--reason', 'the disk is lost', '--accept-undescribed');
    expect((await shop.run()).exitCode).toBe(0);
    expect(repeated(await shop.posted())).toEqual(['b1']);
    rmSync(journal, { recursive: true });
    renameSync(`${journal}-elsewhere`, journal);
    expect((await shop.cli('ledger', 'recover', '--reason', 'the disk is here again')).exitCode).toBe(0);

    const run = await shop.cli('run', 'orders');
    expect(run.exitCode).toBe(6);
    for (const [command = '', ...more] of [['review'], ['status'], ['explain', 'order', 'b1'], ['doctor']]) {
      const shown = await shop.cli(command, ...more);
      expect({ command, text: (shown.stdout + shown.stderr).replace(/\s+/g, ' ') }).toEqual({
        command,
        text: expect.stringMatching(/double credit|(credited|accepted) more than once/i),
      });
      if (command === 'review' || command === 'status') expect(shown.stdout).toContain('1.01 EUR');
    }
    const review = await shop.cli('review', '--json');
    expect(review.exitCode).toBe(6);
    const credit = JSON.parse(review.stdout.trim().split('\n').at(0) ?? '') as { readonly entry_id: string };
    expect(credit).toMatchObject({ event: 'double_credit', order_id: 'b1', credits: 2 });

    const settled = await shop.cli(
      'review',
      credit.entry_id,
      '--acknowledge',
      '--reason',
      'one was taken back in the service',
    );
    expect(settled.exitCode).toBe(0);
    expect((await shop.cli('review')).exitCode).toBe(0);
    expect((await shop.run()).exitCode).toBe(0);
    expect(await shop.posted()).toHaveLength(4);
  });
});

describe('the spool', () => {
  it('sets an unreadable line aside with a warning, and the run continues', async () => {
    const shop = await openReplaceable();
    const spool = join(shop.folder, '.data', 'spool');
    mkdirSync(spool, { recursive: true });
    appendFileSync(
      join(spool, '00000000-0000-4000-8000-000000000000.ndjson'),
      '{"entryId":"1","atte\u0000}\n',
    );
    shop.drop('one.csv', toCsv(manyRows(2, 'a')));
    const run = await shop.cli('run', 'orders');
    expect(run.exitCode).toBe(0);
    expect(run.stderr.replace(/\s+/g, ' ')).toContain('set aside');
    expect(await shop.posted()).toHaveLength(2);
    expect((await shop.cli('doctor')).stdout.replace(/\s+/g, ' ')).toContain('set aside');
    rmSync(join(spool, 'unreadable'), { recursive: true });
    expect((await shop.cli('doctor')).stdout.replace(/\s+/g, ' ')).not.toContain('set aside');
  });
});
