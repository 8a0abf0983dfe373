import { sql } from 'kysely';

/**
 * True if the service provably never processed row `e` of `ledger.entries`: every attempt was throttled or
 * never written, or was refused and then replaced. The code that decides what should be sent also uses this
 * condition.
 */
export const neverSent = sql`(e.state in ('ready', 'held') and e.attempt = e.not_sent and e.doubtful_attempt is null)`;
