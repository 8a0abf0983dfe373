import { z } from 'zod';
import { CHECK_ACTIONS, type Expectations, HEADER_ACTIONS } from '../../core/checks/expectations.ts';
import { text, wholeNumber } from '../fields.ts';

/** Section `expect:` of a source: what its files are usually like. docs/checks.md explains each check. */

/** @param what the subject of the check, as the beginning of the description. */
function action(what: string) {
  return z
    .enum(CHECK_ACTIONS)
    .default('warn')
    .describe(
      `${what} off: do not check; warn: report it; hold: hold the file, so that nothing in it is posted.`,
    );
}

/** @param what happened to a column. */
function headerAction(what: string) {
  return z.enum(HEADER_ACTIONS).default('warn').describe(`A column ${what}: accept, warn, or hold the file.`);
}

const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'] as const;

/** Weekdays by word; 0 is Sunday. */
const WEEKDAYS: Readonly<Record<'daily' | 'weekdays' | (typeof DAYS)[number], readonly number[]>> = {
  ...{ daily: [0, 1, 2, 3, 4, 5, 6], weekdays: [1, 2, 3, 4, 5], sunday: [0], monday: [1], tuesday: [2] },
  ...{ wednesday: [3], thursday: [4], friday: [5], saturday: [6] },
};

const freshness = z
  .strictObject({
    by: z
      .string()
      .regex(/^([01]\d|2[0-3]):[0-5]\d$/)
      .describe('Time of day, in time_zone, by which a new file should have arrived, for example "06:00".'),
    on: z
      .enum(['daily', 'weekdays', ...DAYS])
      .default('daily')
      .describe('Days on which a new file should arrive: daily, weekdays, or one day of the week.'),
  })
  .nullable()
  .default(null)
  .describe('When a new file should have arrived. Omit it if files may arrive at any time.');

const header = z
  .strictObject({
    new: headerAction('that earlier files do not have'),
    gone: headerAction('that earlier files have and this one does not'),
    renamed: headerAction('with another name in the same position'),
    reordered: headerAction('at another place'),
    columns: z
      .record(z.string().min(1).max(200), z.enum(HEADER_ACTIONS))
      .default({})
      .describe('What to do about any change of single columns, by column name.'),
  })
  .prefault({})
  .describe('Columns that differ from those of earlier files.');

export const expect = z
  .strictObject({
    time_zone: text(100)
      .nullable()
      .default(null)
      .describe('IANA zone of weekdays and deadlines. Default: time_zone of the source, else UTC.'),
    floor: wholeNumber(0, 1_000_000_000)
      .prefault(10)
      .describe(
        'A number of rows or orders that differs from the usual one by no more than this is never unusual.',
      ),
    freshness,
    rows: action('The number of rows.'),
    orders: action('The number of orders.'),
    new_orders: action('The number of orders that no earlier file has.'),
    rejected: action('The share of rejected rows.'),
    blank_codes: action('The share of orders without a code, link or handle.'),
    unattributed: action('The share of orders with a code whose codes have no owner.'),
    refused_consent: action('The share of customers who refused.'),
    currencies: action('The share of each currency.'),
    statuses: action('The share of each status.'),
    median_value: action('The median order value of each currency.'),
    overlap: action('The share of orders that earlier files have.'),
    newest_order: action('The age of the newest order.'),
    header,
  })
  .prefault({})
  .describe('What to do with a file that differs from the usual files of the source. See docs/checks.md.');

/** @param timeZone the time zone of the source. */
export function toExpectations(file: z.output<typeof expect>, timeZone: string | null): Expectations {
  const { time_zone: ownZone, floor, freshness: due, header: columns, ...actions } = file;
  return {
    timeZone: ownZone ?? timeZone ?? 'UTC',
    floor,
    actions,
    header: columns,
    freshness: toFreshness(due),
  };
}

function toFreshness(due: z.output<typeof freshness>): Expectations['freshness'] {
  if (due === null) return null;
  const [hours = 0, minutes = 0] = due.by.split(':').map(Number);
  return { minutes: hours * 60 + minutes, weekdays: WEEKDAYS[due.on] };
}
