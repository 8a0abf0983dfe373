import type { SourceSettings } from '../../config/source-fields.ts';
import { type ConsentRule, submitsUnknown } from '../../core/customer.ts';
import { configurationError, type KnownError, type Problem } from '../../core/known-error.ts';
import type { Purpose, ReadFor } from '../../core/layout.ts';
import { foldHeader } from '../../core/text/fold.ts';
import { hasDateOrder } from '../values/date-order.ts';
import { LOWERING_MEANINGS, means } from './column-words.ts';
import { decidingColumns } from './earlier-columns.ts';
import { layoutFor } from './layout-for.ts';
import { loweringColumns } from './lowering-columns.ts';
import type { Layout } from './to-layout.ts';

/**
 * Checks that a layout supports the purpose, and that the source provides what the layout's format lacks, and
 * nothing that it cannot use.
 *
 * @throws KnownError `layout_unfit`, `source_incomplete` (exit 2). The latter names each setting to add.
 */
export function checkSource(layout: Layout, source: SourceSettings, purpose: Purpose = ORDERS): void {
  const { readFor } = purpose;
  if (layoutFor(layout, readFor) === null) throw unfit(layout, source, readFor);
  const problems = findGaps(layout, source, purpose);
  if (problems.length === 0) return;
  throw configurationError({
    code: 'source_incomplete',
    message: `The settings of the source ${source.name} do not fit its export.`,
    where: `sources.${source.name}`,
    help: 'Correct pipeline.yaml and run the job again.',
    safe: 'Nothing was read or sent.',
    problems,
  });
}

const ORDERS: Purpose = { readFor: 'orders' };

function findGaps(layout: Layout, source: SourceSettings, purpose: Purpose): readonly Problem[] {
  switch (purpose.readFor) {
    case 'orders':
      return [...findOrderGaps(layout, source), ...findNeedlessOrder(layout, source)];
    case 'customers':
      // Customers have no times, and an amount without a currency still shows who has spent a lot.
      return findConsentGaps(layout, source, purpose.consent);
    case 'clicks':
      return findNeedlessOrder(layout, source);
    case 'creators':
      return [];
  }
}

/** Finds a `date_order` for a format whose dates show their order. */
function findNeedlessOrder(layout: Layout, source: SourceSettings): readonly Problem[] {
  if (source.dateOrder === null || hasDateOrder(layout)) return [];
  return [
    {
      where: `sources.${source.name}.date_order`,
      message: `The source has date_order: ${source.dateOrder}, but the layout ${layout.name} has no dates that begin with the day or the month in digits, so it has no effect.`,
      help: `Remove date_order from sources.${source.name}. Or, if the files have such dates, name their patterns in a layout of your own: times: [D/M/YYYY]`,
    },
  ];
}

/** Checks that the files of a source contain what the job must know about consent. */
function findConsentGaps(layout: Layout, source: SourceSettings, rule: ConsentRule): readonly Problem[] {
  const where = `sources.${source.name}`;
  const { given, columns, refused } = layout.consent;
  // Whoever is in a list of refusals has refused: nothing else must be known.
  const addresses = layout.columns.email ?? [];
  if (refused.some((test) => test.notBlank && test.columns.some((name) => addresses.includes(name))))
    return [];
  const isLacking = layout.lacks.includes('consent');
  if (rule === 'required' && (given.length === 0 || source.consent === 'not_recorded')) {
    const why =
      given.length === 0
        ? `the layout ${layout.name} cannot tell who has consented`
        : `the source says consent: not_recorded`;
    return [
      {
        where,
        message: `The job has consent: required, but ${why}, so no customer would be submitted.`,
        help: 'Remove the source from the job, use a layout whose format records consent (consent.given), or set consent: by_source on the job and consent: not_recorded on the source.',
      },
    ];
  }
  // A layout that does not declare it may be older than the setting. Its files are held, and other sources
  // are read.
  const isKnownToLack = isLacking || (columns.length > 0 && given.length === 0);
  if (source.consent === 'not_recorded' || !isKnownToLack) return [];
  if (!isLacking && submitsUnknown(rule, source)) return [];
  return [
    {
      where,
      message: isLacking
        ? `The layout ${layout.name} has no column of consent, so the job cannot tell who has agreed and who has refused.`
        : `The layout ${layout.name} shows who has refused, but not who has agreed, so no customer would be submitted.`,
      help: `If you may submit customers of this export whose consent is unknown, write \`consent: not_recorded\` under ${where}. Otherwise name the column under consent of your layout.`,
    },
  ];
}

/** Finds what the format of orders lacks and the source does not provide. */
function findOrderGaps(layout: Layout, source: SourceSettings): readonly Problem[] {
  const problems: Problem[] = [];
  const where = `sources.${source.name}`;
  if (layout.lacks.includes('currency') && source.currency === null) {
    problems.push({
      where,
      message: `The layout ${layout.name} has no currency column, so the source must give the currency.`,
      help: `Add to ${where}:  currency: EUR   (the currency in which the shop exports amounts)`,
    });
  }
  if (layout.currency !== null && source.currency !== null && source.currency !== layout.currency) {
    problems.push({
      where,
      message: `The source gives the currency ${source.currency}, but all amounts of the layout ${layout.name} are in ${layout.currency}.`,
      help: `Remove currency from ${where}.`,
    });
  }
  if (layout.lacks.includes('time_zone') && source.timeZone === null) {
    problems.push({
      where,
      message: `The layout ${layout.name} writes times without a zone, so the source must give the zone.`,
      help: `Add to ${where}:  time_zone: Europe/Amsterdam   (the zone of the shop)`,
    });
  }
  const deciding = new Set(decidingColumns(layout, 'orders').flat().map(foldHeader));
  // A file's own column of such a meaning may be named as well (`unreadColumns`).
  const isExcusable = (name: string): boolean =>
    deciding.has(foldHeader(name)) || LOWERING_MEANINGS.some((meaning) => means(name, meaning));
  for (const column of Object.keys(source.missingColumns).filter((name) => !isExcusable(name)))
    problems.push({
      where,
      message: `missing_columns names "${column}", but the layout ${layout.name} does not require it.`,
      help: `Remove it from ${where}.missing_columns, or correct its spelling. The layout requires: ${loweringColumns(
        layout,
      )
        .map(({ columns }) => `"${columns[0]}"`)
        .join(', ')}.`,
    });
  if (source.age === 'column' && layout.columns.changed_at === undefined) {
    problems.push({
      where,
      message: `The source has age: column, but the layout ${layout.name} names no column of an order's last change.`,
      help: `Remove age from ${where}: the names and times of the files then say which is newer. Or, if the files have such a column, name it in a layout of your own: columns: { changed_at: [Updated At] }`,
    });
  }
  if (source.customerKey && layout.columns.email === undefined) {
    problems.push({
      where,
      message: `The source has customer_key: true, but the layout ${layout.name} has no e-mail column.`,
      help: `Remove customer_key from ${where}. Or, if the files have the column, name it in a layout of your own: columns: { email: [Email] }`,
    });
  }
  if (source.orderLines && layout.lines === null) {
    problems.push({
      where,
      message: `The source has order_lines: true, but the layout ${layout.name} does not say what was bought.`,
      help: `Remove order_lines from ${where}. Or, if the files have a row for each item, name its columns in a layout of your own: lines: { sku: [SKU], plus: [Item Total] }`,
    });
  }
  return problems;
}

const UNFIT: Readonly<Record<ReadFor, readonly [what: string, help: string]>> = {
  orders: ['it has no orders', 'Name a layout of orders, or let a job of another kind read this source.'],
  customers: [
    'it has no e-mail column, so it names no customers',
    'Use another layout. Or, if the files have the column, add it to the layout: columns: { email: [Email] }',
  ],
  clicks: ['it has no column of clicks', 'Name a layout of clicks, such as generic-clicks.'],
  creators: ['it has no column of platforms', 'Name a layout of creators, such as generic-creators.'],
};

function unfit(layout: Layout, source: SourceSettings, readFor: ReadFor): KnownError {
  const [what, help] = UNFIT[readFor];
  return configurationError({
    code: 'layout_unfit',
    message: `The layout ${layout.name} cannot be read for ${readFor}: ${what}.`,
    where: `sources.${source.name}.layout`,
    help,
    safe: 'Nothing was read or sent.',
  });
}
