import { cpSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { describe, expect, it, onTestFinished } from 'vitest';
import { seededRandom } from '../../src/sandbox/random-id.ts';
import {
  countStates,
  look,
  manyRows,
  openWorkshop,
  repeated,
  toCsv,
  type Workshop,
} from '../runs/workshop.ts';
import { startServer } from '../support/absent-server.ts';
import { type DatabaseProxy, startDatabaseProxy } from '../support/database-proxy.ts';
import { type CliProcess, type CliResult, startCli } from '../support/run-cli.ts';
import { waitFor } from '../support/wait-for.ts';

/*
 * A real primary and a real asynchronous standby. Runs post from two machines. At a random time the standby
 * is cut off; later the primary dies and the standby takes over, as in a failover or after restoring a
 * backup. In the meantime runs are killed or lose their database.
 *
 * `npm run test:campaigns -- continuity` runs the long form with 100 rounds of about 20 s; CONTINUITY_SEED
 * repeats one.
 */
const ROUNDS = Number(process.env.CONTINUITY_ROUNDS ?? 1);
const SEED = Number(process.env.CONTINUITY_SEED ?? 1);

/** Orders in each file. */
const ORDERS = 24;

type PostgresServer = Awaited<ReturnType<typeof startServer>>;

type Round = {
  readonly shop: Workshop;
  readonly machines: readonly Machine[];
  /** The connection of the runs to the database. */
  readonly way: DatabaseProxy;
  /** The connection of the standby to the primary. */
  readonly wire: DatabaseProxy;
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
};

/** A folder with the same configuration and its own data folder. */
type Machine = { readonly data: string; readonly start: (...args: string[]) => CliProcess };

describe('a failover that loses commits, at any time', () => {
  for (let seed = SEED; seed < SEED + ROUNDS; seed += 1) {
    it(`posts no order twice and loses none (seed ${seed})`, async () => {
      const random = seededRandom(String(seed));
      const isMarked = random() < 0.5;
      const round = await openRound(isMarked);
      const { shop, machines, wire, standby, primary } = round;
      let orders = 0;
      const drop = (): void => {
        orders += ORDERS;
        shop.drop(`${orders}.csv`, toCsv(manyRows(ORDERS, `o${orders}-`)));
      };
      const anyMachine = (): Machine => machines[random() < 0.5 ? 0 : 1] as Machine;

      // Before the standby is cut off: one run, complete or killed.
      drop();
      const first = anyMachine().start('run', 'orders');
      if (random() < 0.3) {
        await reach(shop, first, 5);
        first.kill('SIGKILL');
      }
      await first.ended;
      await waitFor(() => isLevel(primary, standby));
      if (random() < 0.5) wire.cut();

      // While or after the standby is cut off: a run that the failover interrupts, or that ended before it.
      drop();
      const known = (await shop.posted()).length;
      const second = anyMachine().start('run', 'orders');
      await reach(shop, second, known + Math.floor(random() * ORDERS));
      wire.cut();
      await reach(shop, second, known + Math.floor(random() * ORDERS));
      if (random() < 0.3) second.kill('SIGKILL');
      if (random() < 0.3) await second.ended;
      await failOver(round);
      await second.ended;

      // The actions of an operator, on each machine, until a run succeeds everywhere.
      drop();
      const codes: (number | null)[] = [];
      for (let turn = 0; turn < 3; turn += 1) {
        for (const machine of machines) {
          if (isMarked && random() < 0.5) rmSync(machine.data, { recursive: true, force: true });
          const { exitCode } = await runWhenFree(machine);
          codes.push(exitCode);
          if (exitCode === 7)
            await machine.start('ledger', 'recover', '--reason', 'the standby took over').ended;
        }
      }
      expect(codes.slice(-2).map((code) => (code === 6 ? 0 : code))).toEqual([0, 0]);

      const posted = await shop.posted();
      expect(repeated(posted)).toEqual([]);
      await look(standby.url, async (db) => {
        const { accepted = 0, in_doubt: doubts = 0, ...others } = await countStates(db);
        expect(others).toEqual({});
        expect(accepted + doubts).toBe(orders);
        // An accepted order must exist in the service.
        const { rows } = await sql<{ id: string }>`
          select order_id as id from ledger.entries where state = 'accepted'`.execute(db);
        expect(rows.map(({ id }) => id).filter((id) => !posted.includes(id))).toEqual([]);
      });
    });
  }
});

async function openRound(isMarked: boolean): Promise<Round> {
  const primary = await startServer();
  const wire = await startDatabaseProxy(primary.url);
  const standby = await primary.startStandby(wire.url);
  const way = await startDatabaseProxy(primary.url);
  onTestFinished(async () => {
    await Promise.all([way.close(), wire.close()]);
    await Promise.all([primary.stop(), standby.stop()]);
  });
  const shop = await openWorkshop({
    databaseUrl: way.url,
    sandbox: { latencyMs: 15 },
    api: 'lease_seconds: 8\ntimeout_seconds: 4',
    ...(isMarked ? { markUri: './mark' } : {}),
  });
  const second = join(shop.folder, 'second');
  mkdirSync(second);
  mkdirSync(join(shop.folder, 'mark'));
  for (const name of ['pipeline.yaml', 'codes.csv']) cpSync(join(shop.folder, name), join(second, name));
  for (const name of ['exports', 'mark']) symlinkSync(join(shop.folder, name), join(second, name));
  const machines = [shop.folder, second].map((cwd) => ({
    data: join(cwd, '.data'),
    start: (...args: string[]) => startCli(args, { cwd, env: shop.env }),
  }));
  return { shop, machines, way, wire, primary, standby };
}

/** Waits until the service has this many orders or the run has ended. */
async function reach(shop: Workshop, run: CliProcess, orders: number): Promise<void> {
  let hasEnded = false;
  void run.ended.then(() => {
    hasEnded = true;
  });
  await waitFor(async () => hasEnded || (await shop.posted()).length >= orders);
}

/** The primary dies without warning and the standby takes over under the same address. */
async function failOver({ primary, standby, way }: Round): Promise<void> {
  await primary.kill();
  await ask(standby, 'select pg_promote()');
  way.moveTo(standby.url);
}

/** Starts a run once the lease of a killed one has expired. */
async function runWhenFree(machine: Machine): Promise<CliResult> {
  for (;;) {
    const ended = await machine.start('run', 'orders').ended;
    if (ended.exitCode !== 5) return ended;
  }
}

async function isLevel(primary: PostgresServer, standby: PostgresServer): Promise<boolean> {
  const at = await ask(primary, 'select pg_current_wal_flush_lsn() as answer');
  return (await ask(standby, `select pg_last_wal_replay_lsn() >= '${at}' as answer`)) === true;
}

async function ask(server: PostgresServer, question: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    const { rows } = await client.query<{ answer: unknown }>(question);
    return rows[0]?.answer;
  } finally {
    await client.end();
  }
}
