import { randomUUID } from 'node:crypto';
import { Kysely } from 'kysely';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import type { Database } from '../../src/db/connect.ts';
import { ServerDialect } from '../../src/db/server/connect-server.ts';
import type { DB } from '../../src/db/tables.ts';
import { waitFor } from './wait-for.ts';

const OURS = `select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname in ('intake', 'ledger', 'reporting') and c.relkind in ('r', 'i')`;

/**
 * The statistics after a load was rolled back and vacuumed: many pages, no rows, and no column statistics.
 */
const FALSIFY = `
  begin;
  update pg_class set reltuples = 0, relpages = 10000 where oid in (${OURS}) and (reltuples <> 0 or relpages <> 10000);
  delete from pg_statistic where starelid in (${OURS});
  commit`;

/** This transaction is rolled back, so that the tables have only pages of dead rows. */
const BLOAT = `
  begin;
  insert into intake.orders (source, order_id, source_file_id, is_current, content_hash, group_key, currency, line_no, record_no, row_count)
    select 'bloat', n::text, 0, true, n::text, n::text, 'EUR', n, n, 1 from generate_series(1, 20000) n;
  insert into intake.attributions (job, source, order_id, order_version_id, outcome, currency, is_pending, rules_hash)
    select 'bloat', 'bloat', n::text, n, 'organic', 'EUR', false, 'h' from generate_series(1, 20000) n;
  insert into ledger.evidence (kind, order_id, body_sha256) select 'webhook_order', n::text, 'bloat' || n from generate_series(1, 20000) n;
  insert into reporting.order_dispositions (job, source, order_id, order_version_id, ordered_at, day_utc, disposition, disposition_at, is_open, currency, amount)
    select 'bloat', 'bloat', n::text, n, now(), '2026-01-01', 'organic', now(), false, 'EUR', 1 from generate_series(1, 20000) n;
  rollback`;

const VACUUM = [
  'intake.orders',
  'intake.attributions',
  'ledger.entries',
  'ledger.evidence',
  'reporting.order_dispositions',
];

/**
 * Errors that another process causes by changing the same rows of the catalogue. This session tries again.
 */
const TRY_AGAIN = /concurrently|deadlock/;

export type FalseStatistics = {
  /** Inserts rows, rolls back, and vacuums. */
  bloat(): Promise<void>;
  /** Falsifies the statistics repeatedly, and vacuums if requested, until the returned function is called. */
  keep(options: { readonly vacuum: boolean }): () => Promise<void>;
};

/**
 * Opens a session that makes the statistics of our tables wrong. Null if the user of the database lacks the
 * privileges.
 */
export async function openFalseStatistics(databaseUrl: string): Promise<FalseStatistics | null> {
  const session = new pg.Client({ connectionString: databaseUrl });
  session.on('error', () => {});
  await session.connect();
  onTestFinished(() => session.end());
  const { rows } = await session.query<{ rolsuper: boolean }>(
    'select rolsuper from pg_roles where rolname = current_user',
  );
  if (rows[0]?.rolsuper !== true) return null;
  // The reads of this session, above all by vacuum, must not be counted as the work of the run: see
  // countPages.
  await session.query('set track_counts = off');

  async function tryTo(statement: string): Promise<void> {
    await session.query(statement).catch(async (error: Error) => {
      await session.query('rollback');
      if (!TRY_AGAIN.test(error.message)) throw error;
    });
  }
  async function vacuumAll(): Promise<void> {
    for (const table of VACUUM) await tryTo(`vacuum (skip_locked) ${table}`);
  }
  return {
    async bloat() {
      await tryTo(BLOAT);
      await vacuumAll();
      await tryTo(FALSIFY);
    },
    keep({ vacuum }) {
      let isOn = true;
      async function work(): Promise<void> {
        while (isOn) {
          if (vacuum) await vacuumAll();
          await tryTo(FALSIFY);
        }
      }
      const done = work();
      done.catch(() => {});
      return async () => {
        isOn = false;
        await done;
      };
    },
  };
}

/** Returns the same name for the same statement, whatever its parameters. */
function nameOf(statement: string): string {
  return statement.replace(/\s+/g, ' ').trim().slice(0, 160);
}

export type TimedDatabase = {
  readonly db: Database;
  /** Returns the total milliseconds of each statement since the last call. */
  take(): ReadonlyMap<string, number>;
  /** Closes the connections and waits until the server has ended their processes. */
  close(): Promise<void>;
};

/** Opens a database whose statements are timed, and limited to `limitMs` each. */
export function openTimed(databaseUrl: string, limitMs: number): TimedDatabase {
  let times = new Map<string, number>();
  const application_name = `timed-${randomUUID()}`;
  const pool = new pg.Pool({ connectionString: databaseUrl, application_name, statement_timeout: limitMs });
  pool.on('error', () => {});
  const db = new Kysely<DB>({
    dialect: new ServerDialect({ pool }),
    log({ query, queryDurationMillis }) {
      const name = nameOf(query.sql);
      times.set(name, (times.get(name) ?? 0) + queryDurationMillis);
    },
  });
  onTestFinished(() => db.destroy());
  return {
    db,
    take() {
      const taken = times;
      times = new Map();
      return taken;
    },
    async close() {
      await db.destroy();
      await askServer(databaseUrl, async (client) => {
        await waitFor(async () => {
          const { rowCount } = await client.query(
            'select from pg_stat_activity where application_name = $1',
            [application_name],
          );
          return rowCount === 0;
        });
      });
    },
  };
}

/**
 * Number of pages of our tables and indexes that were read since the database was created. This measures work
 * independently of the load of the machine. A server process reports its counts at most once a second while
 * it lives, and completely before it ends (`pgstat_report_stat` in PostgreSQL's source). So only connections
 * that were closed before are certain to be included.
 */
export async function countPages(databaseUrl: string): Promise<number> {
  return await askServer(databaseUrl, async (client) => {
    const { rows } = await client.query<{ pages: string | null }>(
      `select sum(coalesce(heap_blks_hit, 0) + coalesce(heap_blks_read, 0) + coalesce(idx_blks_hit, 0) + coalesce(idx_blks_read, 0)) as pages
        from pg_statio_user_tables where schemaname in ('intake', 'ledger', 'reporting')`,
    );
    return Number(rows[0]?.pages ?? 0);
  });
}

async function askServer<T>(databaseUrl: string, ask: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    return await ask(client);
  } finally {
    await client.end();
  }
}
