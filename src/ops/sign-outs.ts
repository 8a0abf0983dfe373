import { sql } from 'kysely';
import type { Database } from '../db/connect.ts';

/** Sessions of the console that were signed out before their end. */
export type SignOuts = {
  add(sessionId: string, endsAt: Date): Promise<void>;
  includes(sessionId: string): Promise<boolean>;
};

/** Keeps sign-outs in the database, for every process that serves the console, until the sessions would have ended. */
export function openSignOuts({ db, readDb }: { readonly db: Database; readonly readDb: Database }): SignOuts {
  return {
    async add(sessionId, endsAt) {
      await sql`delete from ops.console_sign_outs where ends_at < clock_timestamp()`.execute(db);
      await sql`
        insert into ops.console_sign_outs (session_id, ends_at) values (${sessionId}, ${endsAt}) on conflict do nothing`.execute(
        db,
      );
    },
    async includes(sessionId) {
      const { rows } = await sql<{ isOut: boolean }>`
        select exists (select from ops.console_sign_outs where session_id = ${sessionId}) as "isOut"`.execute(
        readDb,
      );
      return rows[0]?.isOut ?? true;
    },
  };
}
