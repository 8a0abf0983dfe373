import type { Database } from '../db/connect.ts';
import { execute, finds } from '../db/statement.ts';

/** Sessions of the console that were signed out before their end. */
export type SignOuts = {
  add(sessionId: string, endsAt: Date): Promise<void>;
  includes(sessionId: string): Promise<boolean>;
};

/** Keeps sign-outs in the database, for every process that serves the console, until the sessions would have ended. */
export function openSignOuts({ db, readDb }: { readonly db: Database; readonly readDb: Database }): SignOuts {
  return {
    async add(sessionId, endsAt) {
      await execute(db)`delete from ops.console_sign_outs where ends_at < clock_timestamp()`;
      await execute(db)`
        insert into ops.console_sign_outs (session_id, ends_at) values (${sessionId}, ${endsAt}) on conflict do nothing`;
    },
    async includes(sessionId) {
      return finds(readDb)`select from ops.console_sign_outs where session_id = ${sessionId}`;
    },
  };
}
