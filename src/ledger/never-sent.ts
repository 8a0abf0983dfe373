import { sql } from 'kysely';

/**
 * Row `e` of `ledger.entries` was never processed by the service, as far as can be proven: each attempt was refused, throttled or never written.
 * Whoever decides what should be sent reads by it, too.
 */
export const neverSent = sql`(e.state in ('ready', 'held') and e.attempt = e.not_sent and e.doubtful_attempt is null)`;
