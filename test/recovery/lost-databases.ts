import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { sql } from 'kysely';
import { onTestFinished } from 'vitest';
import { look, openWorkshop, type Workshop, type WorkshopOptions } from '../runs/workshop.ts';
import { suiteDatabases } from '../support/absent-server.ts';
import { layEmbeddedDatabase } from '../support/embedded-database.ts';
import { createTestDatabase, runStatement, urlOf } from '../support/test-database.ts';

/** Opens a deployment whose database can be copied while nothing is connected to it. */
export async function openReplaceable(options: WorkshopOptions = {}): Promise<Workshop> {
  const database = await createTestDatabase(suiteDatabases());
  onTestFinished(() => database.drop());
  return openWorkshop({ ...options, databaseUrl: database.url });
}

/**
 * Takes a backup of the database: an exact copy, like one restored from `pg_dump`.
 *
 * @returns the URL of the copy.
 */
export async function backUp(shop: Workshop): Promise<string> {
  const { serverUrl, prefix } = suiteDatabases();
  const name = `${prefix}backup${randomInt(2 ** 40).toString(36)}`;
  const original = nameOf(shop.env.DATABASE_URL ?? '');
  await runStatement(serverUrl, `create database ${name} template ${original}`);
  onTestFinished(() => runStatement(serverUrl, `drop database if exists ${name} with (force)`));
  return urlOf(serverUrl, name);
}

/**
 * Removes `DATABASE_URL`, so that a new embedded database is used. Its tables exist already, or the first run
 * creates them.
 */
export async function useEmbedded(shop: Workshop, content: 'migrated' | 'empty' = 'migrated'): Promise<void> {
  delete shop.env.DATABASE_URL;
  await layEmbeddedDatabase(join(shop.folder, '.data'), content);
}

/**
 * Reverts the claims of an order as if they had been committed after the backup, and keeps everything else
 * that was committed since.
 */
export function loseClaims(databaseUrl: string, orderId: string): Promise<void> {
  return look(databaseUrl, async (db) => {
    await db.transaction().execute(async (trx) => {
      await sql`set local session_replication_role = replica`.execute(trx);
      for (const table of ['ledger.answers', 'ledger.attempts'])
        await sql`delete from ${sql.table(table)}
          where entry_id in (select entry_id from ledger.entries where order_id = ${orderId})`.execute(trx);
      await sql`update ledger.entries set state = 'ready', attempt = 0 where order_id = ${orderId}`.execute(
        trx,
      );
    });
  });
}

/** Recreates a table, as `pg_restore --clean` does with the tables of the database that it restores into. */
export function makeTablesAnew(databaseUrl: string): Promise<void> {
  return look(databaseUrl, async (db) => {
    await sql`
      create table ledger.restored (like ledger.identity including all);
      insert into ledger.restored select * from ledger.identity;
      drop table ledger.identity;
      alter table ledger.restored rename to identity`.execute(db);
  });
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1);
}
