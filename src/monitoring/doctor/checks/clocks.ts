import type { Finding } from '../../../core/finding.ts';
import { readClock } from '../../../db/server/inspect-server.ts';
import type { Check, Patient } from '../../../runs/doctor-check.ts';

const ABOUT = 'clock';

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
export const clocks: Check = {
  name: ABOUT,
  async look(patient) {
    const compared = [
      ...(await comparedWith(patient, 'the database', () => databaseClock(patient))),
      ...(await comparedWith(patient, 'the service', () => serviceClock(patient))),
    ];
    return compared;
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
  if (offMs < TOLERATED_MS)
    return [{ status: 'ok', about: ABOUT, what: `The clocks of this machine and ${whom} agree.` }];
  return [
    {
      status: offMs < HARMFUL_MS ? 'warning' : 'problem',
      about: ABOUT,
      what: `The clock of this machine is ${seconds} s ${their < before ? 'ahead of' : 'behind'} that of ${whom}.`,
      why: 'Stores refuse requests signed with a wrong time, and schedules fire at the wrong time. Leases are safe, because they use the clock of the database.',
      fix: 'Let NTP (chrony, systemd-timesyncd) set the wrong clock.',
    },
  ];
}

function databaseClock({ db }: Patient): Promise<Date | null> {
  return db === null ? Promise.resolve(null) : readClock(db);
}

async function serviceClock({ client }: Patient): Promise<Date | null> {
  const answer = await client?.exchange('public_hello');
  if (answer?.kind !== 'answer') return null;
  const date = new Date(String(answer.headers.date ?? ''));
  return Number.isNaN(date.getTime()) ? null : date;
}
