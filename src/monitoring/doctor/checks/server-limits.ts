import type { Finding } from '../../../core/finding.ts';
import { inspectLimits, type ServerLimits } from '../../../db/server/inspect-limits.ts';
import type { Check } from '../../../runs/doctor-check.ts';

const ABOUT = 'database settings';

/**
 * The maximum number of connections of a run, including the one that watches for lock waits. `serve` uses
 * some more.
 */
const CONNECTIONS_OF_A_RUN = 9;
const MS_PER_MINUTE = 60_000;

/**
 * Checks settings of the server, database or role that would make a run fail, and replication that can lose
 * commits.
 */
export const serverLimits: Check = {
  name: ABOUT,
  async look({ config, db }) {
    if (db === null || config.database.url === '') return [];
    const limits = await inspectLimits(db);
    const findings = [
      ...readOnlyOf(limits),
      ...(limits.isOwnSession ? [] : pooledOf(limits, config.database.statementMinutes * MS_PER_MINUTE)),
      ...connectionsOf(limits),
      ...replicationOf(limits),
    ];
    if (findings.length > 0) return findings;
    const how = limits.isOwnSession ? `${limits.connectionsLeft} connections are left` : 'behind a pooler';
    return [{ status: 'ok', about: ABOUT, what: `The server accepts writes; ${how}.` }];
  },
};

function readOnlyOf({ isStandby, isReadOnly }: ServerLimits): readonly Finding[] {
  if (!isStandby && !isReadOnly) return [];
  return [
    {
      status: 'problem',
      about: ABOUT,
      what: isStandby
        ? 'The server is a standby, so it accepts no writes.'
        : 'This role, or this database, is set to read-only.',
      why: 'A run writes to the database before it posts.',
      fix: isStandby
        ? 'Point database.url to the primary server.'
        : 'As the owner:  alter role … reset default_transaction_read_only  (or alter database …), or use the role that runs jobs.',
    },
  ];
}

/** A pooler shares sessions, so this process does not change the session settings of the role. */
function pooledOf({ isolation, statementTimeoutMs }: ServerLimits, limitMs: number): readonly Finding[] {
  const findings: Finding[] = [];
  if (isolation !== 'read committed')
    findings.push({
      status: 'warning',
      about: ABOUT,
      what: `Behind this pooler, statements run at isolation level ${isolation}.`,
      why: 'Concurrent statements then fail and are repeated, and a run may end early.',
      fix: "alter role … set default_transaction_isolation = 'read committed'",
    });
  if (statementTimeoutMs > 0 && statementTimeoutMs < limitMs)
    findings.push({
      status: 'warning',
      about: ABOUT,
      what: `Behind this pooler, the server ends statements after ${statementTimeoutMs / 1000} s (statement_timeout).`,
      why: 'Reading a large file takes longer; influencer-sync has its own limit (database.statement_minutes).',
      fix: 'alter role … set statement_timeout = 0',
    });
  return findings;
}

function connectionsOf({ connectionsLeft, isOwnSession }: ServerLimits): readonly Finding[] {
  if (!isOwnSession || connectionsLeft >= CONNECTIONS_OF_A_RUN) return [];
  return [
    {
      status: 'warning',
      about: ABOUT,
      what: `${Math.max(0, connectionsLeft)} connections are left for this user; a run opens up to ${CONNECTIONS_OF_A_RUN}.`,
      why: 'A run without a connection ends and posts nothing more.',
      fix: 'End unneeded sessions, raise max_connections or the connection limit of the role or database, or put a pooler in front.',
    },
  ];
}

function replicationOf({ asynchronousStandbys }: ServerLimits): readonly Finding[] {
  if (asynchronousStandbys === 0) return [];
  const one = asynchronousStandbys === 1;
  return [
    {
      status: 'warning',
      about: ABOUT,
      what: `${one ? 'A standby follows' : `${asynchronousStandbys} standbys follow`} this server asynchronously (synchronous_standby_names is empty).`,
      why: 'A failover to a standby that lags loses the last commits: claims and answers of posted orders. The mark and the journals (docs/ledger.md) reveal the loss, and the next run stops before it posts. Without a data folder or mark that survives the failover, orders could be posted twice.',
      fix: 'Set synchronous_standby_names. Or keep the data folder on a durable disk, and run `ledger recover` after a failover.',
    },
  ];
}
