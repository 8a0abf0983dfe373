import type { SourceSettings } from '../../model/config.ts';
import { KnownError } from '../../model/known-error.ts';
import type { Purpose } from '../../model/layout.ts';
import type { RunStop } from '../../model/run.ts';
import type { UnitEnd, UnitPayload } from '../../model/work.ts';
import type { Intake } from '../intake-file.ts';
import { intakeSource, readingHash } from '../intake-source.ts';
import type { Run } from '../run.ts';
import { requireSame } from './require-same.ts';
import type { UnitRun } from './unit-run.ts';

/**
 * Brings the new files of several sources into the database: each source by a worker, where there are any, else one after the other here.
 * The files of one source are read one after the other in any case: what a file says of an order depends on the files before it.
 *
 * @returns which sources nobody could read because their workers died; null where there are none. The others are read all the same.
 * @throws KnownError what `intakeSource` throws, of the first source that failed, when the others have ended.
 */
export async function intakeSources(
  run: Run,
  sources: readonly SourceSettings[],
  intake: Intake,
): Promise<RunStop | null> {
  const ends = await spreadSources(run, sources, intake.purpose);
  const givenUp: string[] = [];
  for (const [index, source] of sources.entries()) {
    const end: UnitEnd = ends?.[index] ?? { kind: 'left' };
    if (end.kind === 'failed') throw new KnownError(end.problem);
    if (end.kind === 'left') await intakeSource(run, source, intake);
    if (end.kind === 'given_up') givenUp.push(`Source ${source.name} was not read. ${end.message}`);
  }
  return givenUp.length === 0 ? null : { kind: 'units_given_up', message: givenUp.join(' ') };
}

async function spreadSources(
  run: Run,
  sources: readonly SourceSettings[],
  purpose: Purpose,
): Promise<readonly UnitEnd[] | null | undefined> {
  const { spread, progress, options, config, draining } = run;
  const { file, allowEmpty } = options;
  return spread?.({
    kind: 'read-source',
    async cut() {
      const label = `Reading ${sources.length} sources`;
      if (sources.length > 1) progress.begin({ name: 'read', label, unit: 'rows', total: null });
      return sources.map(
        (source): UnitPayload => ({
          ...{ source: source.name, uri: source.uri, file, allowEmpty },
          hash: readingHash(config, source, purpose),
        }),
      );
    },
    ...{ signal: draining, isLeaseHeld: run.isLeaseHeld },
    onProgress: (rows) => progress.advance(rows),
    onEnd(end) {
      if (end.kind === 'done') for (const note of end.result.notes) progress.note(note);
      return false;
    },
  });
}

/** The unit `read-source`: brings the new files of one source into the database. */
export async function readSource({ run, kind, unit: { payload } }: UnitRun): Promise<Record<string, never>> {
  const source = run.config.sources[String(payload.source)];
  requireSame('source with that name', { here: source?.uri, there: payload.uri });
  const intake = (await kind.openIntake?.(run)) ?? null;
  if (intake === null || source === undefined)
    throw new Error(`no worker can read sources for ${run.job.kind}`);
  requireSame(`layout or settings for source ${source.name}`, {
    here: readingHash(run.config, source, intake.purpose),
    there: payload.hash,
  });
  await intakeSource(run, source, intake);
  return {};
}
