import { databaseClock } from '../db/clock.ts';
import type { Database } from '../db/connect.ts';

/** Sessions of the console that were signed out before their end. */
export type SignOuts = {
  add(sessionId: string, endsAt: Date): Promise<void>;
  includes(sessionId: string): Promise<boolean>;
};

/** Keeps sign-outs in the database, for every process that serves the console, until the sessions would have ended. */
export function openSignOuts({ db, readDb }: { db: Database; readDb: Database }): SignOuts {
  return {
    async add(sessionId, endsAt) {
      await db.deleteFrom('ops.console_sign_outs').where('ends_at', '<', databaseClock).execute();
      await db
        .insertInto('ops.console_sign_outs')
        .values({ session_id: sessionId, ends_at: endsAt })
        .onConflict((known) => known.doNothing())
        .execute();
    },
    async includes(sessionId) {
      const signOut = readDb.selectFrom('ops.console_sign_outs').where('session_id', '=', sessionId);
      return (await signOut.executeTakeFirst()) !== undefined;
    },
  };
}
