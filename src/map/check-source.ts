import type { SourceSettings } from '../model/config.ts';
import { EXIT } from '../model/exit-code.ts';
import { KnownError, type Problem } from '../model/known-error.ts';
import type { Layout } from '../model/layout.ts';

/**
 * Checks that a source gives what its layout's format lacks.
 *
 * @throws KnownError `source_incomplete` (exit 2), naming each setting to add.
 */
export function checkSource(layout: Layout, source: SourceSettings): void {
  const problems: Problem[] = [];
  const where = `sources.${source.name}`;
  if (layout.lacks.includes('currency') && source.currency === null) {
    problems.push({
      where,
      message: `The layout ${layout.name} has no currency column, so the source must say the currency.`,
      help: `Add to ${where}:  currency: EUR   (the currency in which the shop exports amounts)`,
    });
  }
  if (layout.lacks.includes('time_zone') && source.timeZone === null) {
    problems.push({
      where,
      message: `The layout ${layout.name} writes times without a zone, so the source must say the zone.`,
      help: `Add to ${where}:  time_zone: Europe/Amsterdam   (the zone of the shop)`,
    });
  }
  if (problems.length === 0) return;
  throw new KnownError({
    code: 'source_incomplete',
    message: `The source ${source.name} does not say what its export leaves out.`,
    where,
    help: 'Add the settings to pipeline.yaml and run the job again.',
    safe: 'Nothing was read or sent.',
    problems,
    exitCode: EXIT.configuration,
  });
}
