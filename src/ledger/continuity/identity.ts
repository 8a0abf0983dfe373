import type { Database } from '../../db/connect.ts';

/** Returns the id of this ledger, or null before its first run. */
export async function readLedgerId(db: Database): Promise<string | null> {
  const row = await db.selectFrom('ledger.identity').select('ledger_id').executeTakeFirst();
  return row?.ledger_id ?? null;
}

/** Returns the id of this ledger, and creates one if it has none yet. */
export async function ensureLedgerId(db: Database): Promise<string> {
  const identity = db.insertInto('ledger.identity').defaultValues();
  await identity.onConflict((known) => known.doNothing()).execute();
  const { ledger_id: ledgerId } = await db
    .selectFrom('ledger.identity')
    .select('ledger_id')
    .executeTakeFirstOrThrow();
  return ledgerId;
}

/** Shortens a ledger's id to the form shown in `order_notes`, messages and the names of journals. */
export function shortLedgerId(ledgerId: string): string {
  return ledgerId.slice(0, 8);
}
