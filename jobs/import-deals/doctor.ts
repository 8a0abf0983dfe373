import { findingsOf, ok } from '../../src/core/finding.ts';
import { checkFirstRows } from '../../src/intake/map/map-rows.ts';
import type { Diagnostic, NewestFile } from '../../src/runs/runnable-kind.ts';
import { isMirrored, mirrorMissing } from './decide-requests.ts';
import { readCreators } from './read-creators.ts';
import { isImportDeals } from './settings.ts';

/** Checks whether the account was mirrored, without which no run of such a job starts. */
const mirror: Diagnostic = {
  name: 'mirror',
  async look({ config, db, databaseProblem, hasTables }) {
    const jobs = Object.values(config.jobs).filter(isImportDeals);
    if (jobs.length === 0 || databaseProblem !== null) return [];
    if (db !== null && hasTables && (await isMirrored(db))) return [ok('The account was mirrored.')];
    return jobs.flatMap(({ name }) => findingsOf(`run of ${name}`, mirrorMissing(name).details));
  },
};

export const diagnostics: readonly Diagnostic[] = [mirror];

/** Checks the first rows of a list of creators. @throws FileHeld if a run would hold it for them. */
export async function checkCreators({ layout, otherLayouts, open }: NewestFile): Promise<string> {
  await checkFirstRows(open(), { layout, readFor: 'creators', otherLayouts, open: readCreators });
  return '';
}
