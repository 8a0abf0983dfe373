import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { sql } from 'kysely';
import { onTestFinished } from 'vitest';
import { look, openWorkshop, type Workshop, type WorkshopOptions } from '../pipeline/workshop.ts';
import { suiteDatabases } from '../support/absent-server.ts';
import { layEmbeddedDatabase } from '../support/embedded-database.ts';
import { createTestDatabase, runStatement, urlOf } from '../support/test-database.ts';

/** A deployment whose database can be copied while nothing is connected to it. */
export async function openReplaceable(options: WorkshopOptions = {}): Promise<Workshop> {
  const database = await createTestDatabase(suiteDatabases());
  onTestFinished(() => database.drop());
  return openWorkshop({ ...options, databaseUrl: database.url });
}

/**
 * What a backup of the database holds now: a copy of it, byte for byte, as `pg_dump` and restore make one.
 *
 * @returns its address.
 */
export async function backUp(shop: Workshop): Promise<string> {
  const { serverUrl, prefix } = suiteDatabases();
  const name = `${prefix}backup${randomInt(2 ** 40).toString(36)}`;
  const original = nameOf(shop.env.DATABASE_URL ?? '');
  await runStatement(serverUrl, `create database ${name} template ${original}`);
  onTestFinished(() => runStatement(serverUrl, `drop database if exists ${name} with (force)`));
  return urlOf(serverUrl, name);
}

/** `DATABASE_URL` is left out: a new embedded database takes its place, whose tables are made already, or by the first run. */
export async function useEmbedded(shop: Workshop, content: 'migrated' | 'empty' = 'migrated'): Promise<void> {
  delete shop.env.DATABASE_URL;
  await layEmbeddedDatabase(join(shop.folder, '.data'), content);
}

/** The database as it was before an order was claimed, whatever was committed since: as if that commit had come after a backup. */
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

/** What `pg_restore --clean` does to the tables of the database that it puts a backup into: they are made anew. */
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
