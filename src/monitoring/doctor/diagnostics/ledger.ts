import { type Finding, ok, problem, warning } from '../../../core/finding.ts';
import { isLoopback } from '../../../core/http/is-loopback.ts';
import type { KnownError } from '../../../core/known-error.ts';
import { plural } from '../../../core/text/plural.ts';
import { compare } from '../../../ledger/continuity/compare-ledger.ts';
import { readLedgerId, shortLedgerId } from '../../../ledger/continuity/identity.ts';
import { describeBlindness, describeJournals } from '../../../ledger/continuity/journal-places.ts';
import { countMachines } from '../../../ledger/continuity/machines.ts';
import { spoolFolder } from '../../../ledger/sending/recover-previous-runs.ts';
import { countUnreadable } from '../../../ledger/spool.ts';
import { listDoubleCredits } from '../../../reports/doubts/list-doubts.ts';
import { readWaitingClaims } from '../../../reports/doubts/waiting-claims.ts';
import { describeStranded, findRenamedJob } from '../../../runs/renamed-job.ts';
import type { Diagnostic, Patient } from '../../../runs/runnable-kind.ts';

/**
 * Checks whether the database still has everything that was posted from here, and whether this machine could
 * detect a loss.
 */
export const ledger: Diagnostic = {
  name: 'ledger',
  async look(patient) {
    const { db, config, hasTables, databaseProblem } = patient;
    const spool = spoolIn(spoolFolder({ config }));
    // A run creates the database and applies the migrations, and then compares it.
    if (db === null || !hasTables) {
      const loss = databaseProblem === null ? (await compare(db, { config })).problem : null;
      return loss === null ? spool : [toFinding(loss), ...spool];
    }
    const opened = { ...patient, db };
    return [
      ...(await continuityOf(opened)),
      ...(await machinesOf(opened)),
      ...(await creditsOf(opened)),
      ...(await strandedIn(opened)),
      ...spool,
    ];
  },
};

function spoolIn(folder: string): readonly Finding[] {
  const unreadable = countUnreadable(folder);
  if (unreadable === 0) return [];
  const what = `${plural(unreadable, 'unusable line of the spool was', 'unusable lines of the spool were')} set aside.`;
  const why = 'Each was an answer of the service, and its order stays in doubt.';
  return [
    warning(what, why, `Compare them with \`npx influencer-sync review\`, then remove ${folder}/unreadable.`),
  ];
}

type Opened = Patient & { readonly db: NonNullable<Patient['db']> };

function toFinding({ details: { message, help } }: KnownError): Finding {
  const why = 'Orders that the database does not know would be posted twice, so every run refuses (exit 7).';
  return problem(message, why, help);
}

async function continuityOf({ db, config }: Opened): Promise<readonly Finding[]> {
  const { continuity, problem: loss } = await compare(db, { config });
  if (loss !== null) return [toFinding(loss)];
  const ledgerId = await readLedgerId(db);
  const name = ledgerId === null ? 'A new ledger' : `Ledger ${shortLedgerId(ledgerId)}`;
  if (continuity.kind === 'unmarked' && continuity.hasClaims)
    return [
      (isLoopback(config.api.url) ? warning : problem)(
        `${name} has claims, but this machine has no journal of it (${describeJournals(config)}).`,
        'A run on this machine cannot detect a restored or replaced database, and would post its orders again.',
        'Run jobs where the data folder is, keep it on a durable volume, or set ledger.mark_uri to a folder or S3. The first run on this machine starts a journal.',
      ),
    ];
  // The demo leaves no record outside its folder, and names no service when its sandbox is gone.
  const isTrial = config.api.url === '' || isLoopback(config.api.url);
  const blindness = describeBlindness(config, {
    ledgerId,
    hasClaims: continuity.kind === 'continuous' && !isTrial,
  });
  const why =
    'The journals are in the same folder as the embedded database, so an older copy of both looks complete, and its orders would be posted again.';
  const fix =
    'Keep the state folder of this user (XDG_STATE_HOME) and let it write there, or set ledger.mark_uri to a folder or S3.';
  return [
    ...(blindness === null ? [] : [warning(blindness, why, fix)]),
    ok(
      continuity.kind === 'continuous'
        ? `${name} has every order that this machine posted.`
        : `${name}: nothing was posted yet.`,
    ),
  ];
}

async function machinesOf({ db, config }: Opened): Promise<readonly Finding[]> {
  const machines = await countMachines(db);
  if (machines < 2 || config.ledger.mark !== null) return [];
  return [
    warning(
      `${machines} data folders have posted to this ledger within 90 days, each with journals that the others lack.`,
      'After a restore or a failover, every run is refused until you have run `ledger recover` with each of them. A machine detects an older disk image of the database only if its own claims are missing from it.',
      'Set ledger.mark_uri to a folder or an S3 address that all of them use.',
    ),
  ];
}

async function creditsOf({ db }: Opened): Promise<readonly Finding[]> {
  const double = await listDoubleCredits(db);
  const waiting = await readWaitingClaims(db);
  const findings: Finding[] = [];
  if (double.length > 0)
    findings.push(
      problem(
        `${plural(double.length, 'order was', 'orders were')} accepted more than once by the service.`,
        'An influencer was credited twice for each.',
        'npx influencer-sync review lists them with their amounts. Correct them in the service, then acknowledge each.',
      ),
    );
  if (waiting.claims > 0)
    findings.push(
      warning(
        `${plural(waiting.claims, 'order was', 'orders were')} sent before the database went back to an earlier state, and no file has stated ${waiting.claims === 1 ? 'it' : 'them'} since.`,
        'They are not posted again, but no report contains them.',
        'Keep their exports where the sources read them. The next run finds them.',
      ),
    );
  return findings;
}

async function strandedIn({ db, config, kinds }: Opened): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const known = Object.keys(config.jobs);
  for (const job of Object.values(config.jobs)) {
    const kind = kinds.find((one) => one.kind === job.kind);
    const renamed = kind === undefined ? null : await findRenamedJob(db, { config, job, kind });
    if (renamed === null) continue;
    known.push(renamed);
    findings.push(
      ok(
        `${job.name} continues ${renamed}, which the configuration no longer names. Its next run takes over what ${renamed} has decided and sent.`,
      ),
    );
  }
  const stranded = await describeStranded(db, known);
  if (stranded === null) return findings;
  const why = 'They stay as they are until a run of their job posts them.';
  return [...findings, { status: 'problem', ...stranded, why }];
}
