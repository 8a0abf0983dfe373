import { findPlainConnections } from '../../../config/plain-connections.ts';
import { type Finding, ok, problem, warning } from '../../../core/finding.ts';
import { readDatabaseClock } from '../../../db/clock.ts';
import { inspectLimits, type ServerLimits } from '../../../db/server/inspect-server.ts';
import type { Diagnostic, Patient } from '../../../runs/runnable-kind.ts';

/**
 * The maximum number of connections of a run, including the one that watches for lock waits. `serve` uses some more.
 */
const CONNECTIONS_OF_A_RUN = 9;
const MS_PER_MINUTE = 60_000;

/**
 * Checks settings of the server, database or role that would make a run fail, and replication that can lose commits.
 */
export const serverLimits: Diagnostic = {
  name: 'database settings',
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
    return [ok(`The server accepts writes; ${how}.`)];
  },
};

function readOnlyOf({ isStandby, isReadOnly }: ServerLimits): readonly Finding[] {
  if (!isStandby && !isReadOnly) return [];
  return [
    problem(
      isStandby
        ? 'The server is a standby, so it accepts no writes.'
        : 'This role, or this database, is set to read-only.',
      'A run writes to the database before it posts.',
      isStandby
        ? 'Point database.url to the primary server.'
        : 'As the owner:  alter role … reset default_transaction_read_only  (or alter database …), or use the role that runs jobs.',
    ),
  ];
}

/** A pooler shares sessions, so this process does not change the session settings of the role. */
function pooledOf({ isolation, statementTimeoutMs }: ServerLimits, limitMs: number): readonly Finding[] {
  const findings: Finding[] = [];
  if (isolation !== 'read committed')
    findings.push(
      warning(
        `Behind this pooler, statements run at isolation level ${isolation}.`,
        'Concurrent statements then fail and are repeated, and a run may end early.',
        "alter role … set default_transaction_isolation = 'read committed'",
      ),
    );
  if (statementTimeoutMs > 0 && statementTimeoutMs < limitMs)
    findings.push(
      warning(
        `Behind this pooler, the server ends statements after ${statementTimeoutMs / 1000} s (statement_timeout).`,
        'Reading a large file takes longer; influencer-sync has its own limit (database.statement_minutes).',
        'alter role … set statement_timeout = 0',
      ),
    );
  return findings;
}

function connectionsOf({ connectionsLeft, isOwnSession }: ServerLimits): readonly Finding[] {
  if (!isOwnSession || connectionsLeft >= CONNECTIONS_OF_A_RUN) return [];
  return [
    warning(
      `${Math.max(0, connectionsLeft)} connections are left for this user; a run opens up to ${CONNECTIONS_OF_A_RUN}.`,
      'A run without a connection ends and posts nothing more.',
      'End unneeded sessions, raise max_connections or the connection limit of the role or database, or put a pooler in front.',
    ),
  ];
}

function replicationOf({ asynchronousStandbys }: ServerLimits): readonly Finding[] {
  if (asynchronousStandbys === 0) return [];
  const one = asynchronousStandbys === 1;
  return [
    warning(
      `${one ? 'A standby follows' : `${asynchronousStandbys} standbys follow`} this server asynchronously (synchronous_standby_names is empty).`,
      'A failover to a standby that lags loses the last commits: claims and answers of posted orders. The mark and the journals (docs/ledger.md) reveal the loss, and the next run stops before it posts. Without a data folder or mark that survives the failover, orders could be posted twice.',
      'Set synchronous_standby_names. Or keep the data folder on a durable disk, and run `ledger recover` after a failover.',
    ),
  ];
}

/** Checks whether secrets and customer data are encrypted on their way to other machines. */
export const encryption: Diagnostic = {
  name: 'encryption',
  async look({ config, pgSslMode }) {
    const why = 'Any machine on the network path can read it and use it.';
    return findPlainConnections(config, pgSslMode).map(({ message, help }) => warning(message, why, help));
  },
};

/**
 * Smaller differences mean nothing: a `Date` header has whole seconds, and a slow answer is already old when
 * it arrives.
 */
const TOLERATED_MS = 5_000;
/** Stores and services refuse signed requests whose time is some minutes off. S3 refuses them at fifteen. */
const HARMFUL_MS = 5 * 60_000;

/**
 * Compares the clock of this machine with those of the database and the service. Leases and slots use only
 * the clock of the database.
 */
export const clocks: Diagnostic = {
  name: 'clock',
  async look(patient) {
    return [
      ...(await comparedWith(patient, 'the database', () => databaseClock(patient))),
      ...(await comparedWith(patient, 'the service', () => serviceClock(patient))),
    ];
  },
};

async function comparedWith(
  { now }: Patient,
  whom: string,
  read: () => Promise<Date | null>,
): Promise<readonly Finding[]> {
  const before = now().getTime();
  const theirs = await read();
  if (theirs === null) return [];
  // The other clock was read at some time between `before` and `after`.
  const after = now().getTime();
  const their = theirs.getTime();
  const offMs = their < before ? before - their : Math.max(0, their - after);
  const seconds = Math.round(offMs / 1_000);
  if (offMs < TOLERATED_MS) return [ok(`The clocks of this machine and ${whom} agree.`)];
  return [
    (offMs < HARMFUL_MS ? warning : problem)(
      `The clock of this machine is ${seconds} s ${their < before ? 'ahead of' : 'behind'} that of ${whom}.`,
      'Stores refuse requests signed with a wrong time. Schedules and leases use the clock of the database.',
      'Let NTP (chrony, systemd-timesyncd) set the wrong clock.',
    ),
  ];
}

function databaseClock({ db }: Patient): Promise<Date | null> {
  return db === null ? Promise.resolve(null) : readDatabaseClock(db);
}

async function serviceClock({ client }: Patient): Promise<Date | null> {
  const answer = await client?.exchange('public_hello');
  if (answer?.kind !== 'answer') return null;
  const date = new Date(String(answer.headers.date ?? ''));
  return Number.isNaN(date.getTime()) ? null : date;
}
