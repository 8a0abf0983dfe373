import type { SourceSettings } from '../model/config.ts';
import { EXIT } from '../model/exit-code.ts';
import { KnownError, type Problem } from '../model/known-error.ts';
import type { Layout, ReadFor } from '../model/layout.ts';
import { layoutFor } from './layout-for.ts';

/**
 * Checks that a source can be read for what it is read for, and that it gives what its layout's format lacks.
 *
 * @throws KnownError `layout_unfit`, `source_incomplete` (exit 2), the latter naming each setting to add.
 */
export function checkSource(layout: Layout, source: SourceSettings, readFor: ReadFor = 'orders'): void {
  if (layoutFor(layout, readFor) === null) throw unfit(layout, source, readFor);
  // Customers have no times, and an amount without a currency still tells who has spent much.
  if (readFor === 'contacts') return;
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

function unfit(layout: Layout, source: SourceSettings, readFor: ReadFor): KnownError {
  return new KnownError({
    code: 'layout_unfit',
    message:
      readFor === 'orders'
        ? `The layout ${layout.name} is one of customers: it has no orders.`
        : `The layout ${layout.name} has no e-mail column, so it names no customers.`,
    where: `sources.${source.name}.layout`,
    help:
      readFor === 'orders'
        ? 'Name a layout of orders, or leave this source to a job of the kind identify-customers.'
        : 'Name another layout; or, if the files do have the column, add it to the layout: columns: { email: [Email] }',
    safe: 'Nothing was read or sent.',
    exitCode: EXIT.configuration,
  });
}
