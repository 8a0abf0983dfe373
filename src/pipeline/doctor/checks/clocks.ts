import { readClock } from '../../../db/server/inspect-server.ts';
import type { Finding } from '../../../model/finding.ts';
import type { Check, Patient } from '../check.ts';

const ABOUT = 'clock';

/** A `Date` header has whole seconds, and a slow answer is old when it comes: less than this says nothing. */
const TOLERATED_MS = 5_000;
/** Stores and services refuse signed requests that are some minutes off; S3 does at fifteen. */
const HARMFUL_MS = 5 * 60_000;

/** This machine's clock against the database's and the service's. Leases and slots go by the database's alone. */
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
  // They looked at their clock at some moment between.
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
