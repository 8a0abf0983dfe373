import { boundAccount } from '../../../ledger/bind-account.ts';
import { readLedgerId, shortLedgerId } from '../../../ledger/continuity/identity.ts';
import { countMachines } from '../../../ledger/continuity/machines.ts';
import { countUnreadable } from '../../../ledger/spool.ts';
import type { Finding } from '../../../model/finding.ts';
import { isLoopback } from '../../../model/text/is-loopback.ts';
import { listDoubleCredits } from '../../../report/list-doubts.ts';
import { readWaitingClaims } from '../../../report/waiting-claims.ts';
import { compare, describeJournals, explainContinuity } from '../../open-ledger.ts';
import { spoolFolder } from '../../posting/recover-previous-runs.ts';
import type { Check, Patient } from '../check.ts';

const ABOUT = 'ledger';

/** Whether the database still has all that was posted from here, and whether this machine could tell. */
export const ledger: Check = {
  name: ABOUT,
  async look(patient) {
    const { db, config, hasTables } = patient;
    const unreadable = countUnreadable(spoolFolder({ config }));
    const spool: readonly Finding[] =
      unreadable === 0
        ? []
        : [
            {
              status: 'warning',
              about: ABOUT,
              what: `${unreadable} lines of the spool could not be used and were set aside.`,
              why: 'Each was an answer of the service; its order stays in doubt.',
              mend: `Compare them with \`npx influencer-sync review\`, then remove ${spoolFolder({ config })}/unreadable.`,
            },
          ];
    if (db === null || !hasTables) return spool;
    const opened = { ...patient, db };
    return [
      ...(await continuityOf(opened)),
      ...(await machinesOf(opened)),
      ...(await creditsOf(opened)),
      ...spool,
    ];
  },
};

type Opened = Patient & { readonly db: NonNullable<Patient['db']> };

async function continuityOf({ db, config }: Opened): Promise<readonly Finding[]> {
  const accountId = await boundAccount(db);
  const { continuity } = await compare(db, { config, accountId });
  const problem = explainContinuity(continuity, config)?.details;
  if (problem !== undefined)
    return [
      {
        status: 'problem',
        about: ABOUT,
        what: problem.message,
        why: 'What the database does not know would be posted a second time, so every run refuses (exit 7).',
        mend: problem.help,
      },
    ];
  const ledgerId = await readLedgerId(db);
  const name = ledgerId === null ? 'A new ledger' : `Ledger ${shortLedgerId(ledgerId)}`;
  if (continuity.kind === 'unmarked' && continuity.claims > 0)
    return [
      {
        status: isLoopback(config.api.url) ? 'warning' : 'problem',
        about: ABOUT,
        what: `${name} has ${continuity.claims} claims, and there is no journal of it here (${describeJournals(config)}).`,
        why: 'A run from here cannot notice a database that was restored or replaced, and would post its orders again.',
        mend: 'Run jobs where the data folder is kept, keep it on a volume that lasts, or set ledger.mark_uri to a folder or S3. The first run from here begins a journal.',
      },
    ];
  return [
    {
      status: 'ok',
      about: ABOUT,
      what:
        continuity.kind === 'continuous'
          ? `${name} has all that was posted from here.`
          : `${name}: nothing has been posted yet.`,
    },
  ];
}

async function machinesOf({ db, config }: Opened): Promise<readonly Finding[]> {
  const machines = await countMachines(db);
  if (machines < 2 || config.ledger.mark !== null) return [];
  return [
    {
      status: 'warning',
      about: ABOUT,
      what: `${machines} data folders have posted to this ledger within 90 days, each with journals that the others lack.`,
      why: 'After a restore or a failover every run is refused until `ledger recover` was run with each of them. A disk image of an older database is noticed only where its own claims are missing.',
      mend: 'Set ledger.mark_uri to a folder or an S3 address that all of them use.',
    },
  ];
}

async function creditsOf({ db }: Opened): Promise<readonly Finding[]> {
  const double = await listDoubleCredits(db);
  const waiting = await readWaitingClaims(db);
  const findings: Finding[] = [];
  if (double.length > 0)
    findings.push({
      status: 'problem',
      about: ABOUT,
      what: `${double.length} orders were accepted more than once by the service.`,
      why: 'Their influencers were credited twice.',
      mend: 'npx influencer-sync review lists them with their amounts. Correct them in the service, then acknowledge each.',
    });
  if (waiting.claims > 0)
    findings.push({
      status: 'warning',
      about: ABOUT,
      what: `${waiting.claims} orders were sent before the ledger went back, and no file has stated them to this database since.`,
      why: 'They are not posted again, and they are in no report either.',
      mend: 'Leave their exports where the sources read: the next run finds them.',
    });
  return findings;
}
