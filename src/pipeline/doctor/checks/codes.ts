import { readCodeRows } from '../../../attribute/load-codes.ts';
import { findUnknownOwners } from '../../../mirror/find-unknown-owners.ts';
import type { Finding } from '../../../model/finding.ts';
import type { CodeProblem } from '../../../model/orders-report.ts';
import type { Check, Patient } from '../check.ts';

/** So many are told one by one. */
const SHOWN = 10;

/** The codes of each job: how many there are, and whether the mirror knows whose they are. Mistakes in them are those of the configuration. */
export const codes: Check = {
  name: 'codes',
  async look(patient) {
    const findings: Finding[] = [];
    for (const job of Object.values(patient.config.jobs))
      if (job.kind === 'attribute-orders' && job.codes !== null)
        findings.push(...(await lookAtCodes(patient, { about: `codes of ${job.name}`, path: job.codes })));
    return findings;
  },
};

async function lookAtCodes(
  { db, hasTables }: Patient,
  { about, path }: { readonly about: string; readonly path: string },
): Promise<readonly Finding[]> {
  const { rows, warnings } = readCodeRows(path);
  const unknown = db === null || !hasTables ? null : await findUnknownOwners(db, rows);
  const problems = [...warnings, ...(unknown ?? [])];
  const count = rows.length === 1 ? '1 code' : `${rows.length.toLocaleString('en')} codes`;
  const mirror =
    unknown === null
      ? 'whose they are was not compared, because no run of mirror-account has read the account yet'
      : 'the mirror knows their owners';
  if (problems.length === 0) return [{ status: 'ok', about, what: `${count}; ${mirror}.` }];
  const more = problems.length - SHOWN;
  return problems.slice(0, SHOWN).map((problem, index) => ({
    status: 'warning',
    about,
    what: `${placeOf(problem)}: ${problem.reason}${index === SHOWN - 1 && more > 0 ? ` And ${more} more like this.` : ''}`,
    why:
      problem.line === 1
        ? 'What stands in it has no effect.'
        : 'The service refuses an order of somebody whom it does not know, and its revenue is credited to nobody.',
    mend: problem.help,
  }));
}

function placeOf({ line, column, value }: CodeProblem): string {
  return `codes.csv line ${line}, ${column ?? 'row'}${value === null ? '' : ` ${JSON.stringify(value)}`}`;
}
