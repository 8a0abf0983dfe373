import { inspectLimits, type ServerLimits } from '../../../db/inspect-limits.ts';
import type { Finding } from '../../../model/finding.ts';
import type { Check } from '../check.ts';

const ABOUT = 'database settings';

/** What a run opens at most, with the one beside that looks who waits for whom; `serve` takes some more. */
const CONNECTIONS_OF_A_RUN = 9;
const MS_PER_MINUTE = 60_000;

/** Settings of a server, a database or a role that a run would fail on, and replication that can lose commits. */
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
    return [{ status: 'ok', about: ABOUT, what: `The server takes writes; ${how}.` }];
  },
};

function readOnlyOf({ isStandby, isReadOnly }: ServerLimits): readonly Finding[] {
  if (!isStandby && !isReadOnly) return [];
  return [
    {
      status: 'problem',
      about: ABOUT,
      what: isStandby
        ? 'The server is a standby: it takes no writes.'
        : 'This role, or this database, is set to read-only.',
      why: 'A run writes all that it does, before it posts.',
      mend: isStandby
        ? 'Point database.url to the primary server.'
        : 'As the owner:  alter role … reset default_transaction_read_only  (or alter database …), or use the role that runs jobs.',
    },
  ];
}

/** A pooler shares sessions, so this process leaves them as the role has them. */
function pooledOf({ isolation, statementTimeoutMs }: ServerLimits, limitMs: number): readonly Finding[] {
  const findings: Finding[] = [];
  if (isolation !== 'read committed')
    findings.push({
      status: 'warning',
      about: ABOUT,
      what: `Behind this pooler, statements run at isolation level ${isolation}.`,
      why: 'Statements that run beside each other then fail and are repeated; a run may end early.',
      mend: "alter role … set default_transaction_isolation = 'read committed'",
    });
  if (statementTimeoutMs > 0 && statementTimeoutMs < limitMs)
    findings.push({
      status: 'warning',
      about: ABOUT,
      what: `Behind this pooler, the server ends statements after ${statementTimeoutMs / 1000} s (statement_timeout).`,
      why: 'Reading a large file takes longer; influencer-sync has a limit of its own (database.statement_minutes).',
      mend: 'alter role … set statement_timeout = 0',
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
      why: 'A run that gets no connection ends, and posts nothing more.',
      mend: 'End sessions that are not needed, raise max_connections or the connection limit of the role or database, or put a pooler in front.',
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
      why: 'A failover to a standby that lags loses the last commits: claims and answers of orders that were posted. The mark and the journal of the ledger (docs/ledger.md) find that out, and the next run stops before it posts; without a data folder or mark that outlives the failover, orders could be posted twice.',
      mend: 'Set synchronous_standby_names, or keep the data folder on a lasting disk, and run `ledger recover` after a failover.',
    },
  ];
}
