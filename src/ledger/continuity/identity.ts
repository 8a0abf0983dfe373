import { sql } from 'kysely';
import type { Database } from '../../db/connect.ts';

/** The id of this ledger; null before its first run. */
export async function readLedgerId(db: Database): Promise<string | null> {
  const row = await db.selectFrom('ledger.identity').select('ledger_id').executeTakeFirst();
  return row?.ledger_id ?? null;
}

/** The id of this ledger, made now where there is none yet. */
export async function ensureLedgerId(db: Database): Promise<string> {
  await sql`insert into ledger.identity default values on conflict do nothing`.execute(db);
  const { ledger_id: ledgerId } = await db
    .selectFrom('ledger.identity')
    .select('ledger_id')
    .executeTakeFirstOrThrow();
  return ledgerId;
}

/** What people see of a ledger's id: in `order_notes`, messages and the names of journals. */
export function shortLedgerId(ledgerId: string): string {
  return ledgerId.slice(0, 8);
}
