import type { SourceSettings } from '../../config/source-fields.ts';
import { KnownError } from '../../core/known-error.ts';
import type { Purpose } from '../../core/layout.ts';
import type { RunStop } from '../../core/run.ts';
import type { UnitEnd, UnitPayload } from '../../core/work.ts';
import type { Intake } from '../../intake/read/intake-file.ts';
import { intakeSource, readingHash } from '../../intake/read/intake-source.ts';
import type { Run } from '../../ops/run.ts';
import { requireSame, spreadUnits, type UnitRun } from './share.ts';

/**
 * Reads the new files of several sources into the database. Workers read one source each, if there are any;
 * otherwise this process reads one source after the other. The files of one source are always read in
 * sequence, because what a file states about an order depends on the files before it.
 *
 * @returns the sources that were not read because their workers died. Null if there are none. The other
 * sources were read.
 * @throws KnownError the error of the first source that failed, after the others have ended. See
 * `intakeSource`.
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

function spreadSources(run: Run, sources: readonly SourceSettings[], purpose: Purpose) {
  const { progress, options, config } = run;
  const { file, allowEmpty } = options;
  return spreadUnits(run, {
    kind: 'read-source',
    async cut() {
      const label = `Reading ${sources.length} sources`;
      if (sources.length > 1) progress.begin({ name: 'read', label, unit: 'rows', total: null });
      return sources.map(
        (source): UnitPayload => ({
          source: source.name,
          uri: source.uri,
          file,
          allowEmpty,
          hash: readingHash(config, source, purpose),
        }),
      );
    },
    onEnd: () => false,
  });
}

/** Performs the unit `read-source`: reads the new files of one source into the database. */
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
