import { findAmbiguousCodes, readCodeRows } from '../../src/codes/load-codes.ts';
import { type Finding, ok, problem, warning } from '../../src/core/finding.ts';
import { formatSums } from '../../src/core/money.ts';
import type { CodeProblem } from '../../src/core/report.ts';
import { codeInText, helpForCodesInText } from '../../src/core/text/codes-in-text.ts';
import { foldPlatform } from '../../src/core/text/order-key.ts';
import { plural } from '../../src/core/text/plural.ts';
import { findUnknownOwners } from '../../src/mirror/find-unknown-owners.ts';
import type { Diagnostic, Patient } from '../../src/runs/runnable-kind.ts';
import { readListing } from '../../src/service/account.ts';
import { ApiError } from '../../src/service/api-error.ts';
import { call } from '../../src/service/call.ts';
import { findOtherBrand, findOtherPlatform } from './decide/prepare-entries.ts';
import { listUnownedCodes } from './read-dispositions.ts';
import { countAlike, findOtherPosters } from './read-double-credits.ts';
import { type AttributeOrdersSettings, attributionJobs } from './settings.ts';

/** The maximum number of problems that are listed one by one. */
const SHOWN = 10;

/**
 * Checks the codes of each job: how many there are, and whether the mirror knows their owners. Mistakes in
 * the file itself are reported with those of the configuration.
 */
const codes: Diagnostic = {
  name: 'codes',
  async look(patient) {
    const findings: Finding[] = [];
    for (const job of attributionJobs(patient.config)) {
      const ofFile = job.codes === null ? [] : await lookAtCodes(patient, { ...job, path: job.codes });
      for (const finding of [...ofFile, ...(await lookAtUnowned(patient, job))])
        findings.push({ ...finding, about: `codes of ${job.name}` });
    }
    return findings;
  },
};

async function lookAtCodes(
  { db, hasTables }: Patient,
  {
    path,
    brandId,
    timeZone,
  }: Pick<AttributeOrdersSettings, 'brandId' | 'timeZone'> & { readonly path: string },
): Promise<readonly Finding[]> {
  const { rows, warnings, remarks } = readCodeRows(path);
  const ambiguous = findAmbiguousCodes(rows, { brandId, timeZone });
  const unknown = db === null || !hasTables ? null : await findUnknownOwners(db, rows);
  const problems = [
    ...explain(warnings, 'What it says has no effect.'),
    ...explain(ambiguous, 'It is not known who earned its orders.'),
    ...explain(
      unknown ?? [],
      'The service refuses an order of an unknown influencer, so its revenue is credited to no influencer.',
    ),
  ];
  const count = `${plural(rows.length, 'code')}${remarks.length === 0 ? '' : ` (not used: ${remarks.join(', ')})`}`;
  if (rows.length === 0 && problems.length === 0)
    return [
      warning(
        'codes.csv has no code.',
        'Only orders whose export names an influencer or a deal can be credited.',
        'Write a row for each code, with its owner. `init` lists the codes of your exports in codes-without-owner.csv.',
      ),
    ];
  if (unknown === null && problems.length === 0)
    return [
      warning(
        `${count}; their owners were not checked.`,
        'No run of mirror-account has read the account yet, and the service refuses orders of an unknown influencer.',
        'Ask the service about them:  npx influencer-sync codes',
      ),
    ];
  if (problems.length === 0) return [ok(`${count}; the mirror knows their owners.`)];
  const more = problems.length - SHOWN;
  return problems
    .slice(0, SHOWN)
    .map(({ why, ...one }, index) =>
      warning(
        `${placeOf(one)}: ${one.reason}${index === SHOWN - 1 && more > 0 ? ` And ${more} more like this.` : ''}`,
        why,
        one.help,
      ),
    );
}

/** Codes without an owner that are looked at, those with the most revenue of each currency. */
const LOOKED_AT = 200;

/** Whether texts with a code inside count as codes, which no owner can have. */
async function lookAtUnowned(
  { db, hasTables }: Patient,
  { name: job, sources }: Pick<AttributeOrdersSettings, 'name' | 'sources'>,
): Promise<readonly Finding[]> {
  if (db === null || !hasTables) return [];
  const { codes: unowned } = await listUnownedCodes(db, { job, sources, limit: LOOKED_AT });
  const texts = unowned.filter(({ code }) => codeInText(code) !== null);
  const help = helpForCodesInText(texts.map(({ code }) => code));
  return help === null
    ? []
    : [
        warning(
          `${plural(texts.length, 'text', 'texts')} with a code inside ${texts.length === 1 ? 'counts' : 'count'} as a code: ${formatSums(texts)}.`,
          'Such a code has no owner, so these orders are credited to no influencer.',
          help,
        ),
      ];
}

function explain(problems: readonly CodeProblem[], why: string) {
  return problems.map((one) => ({ ...one, why }));
}

function placeOf({ line, column, value }: CodeProblem): string {
  return `codes.csv line ${line}, ${column ?? 'row'}${value === null ? '' : ` ${JSON.stringify(value)}`}`;
}

/** Checks that each job posts for the brand and under the platforms for which it has posted: else its runs stop. */
const identities: Diagnostic = {
  name: 'brand',
  async look({ db, hasTables, config }) {
    const findings: Finding[] = [];
    if (db === null || !hasTables) return findings;
    const add = (about: string, change: { readonly message: string; readonly help: string } | null) => {
      if (change !== null)
        findings.push({ status: 'problem', about, what: change.message, fix: change.help });
    };
    for (const { name: job, brandId, sources } of attributionJobs(config)) {
      add(`brand of ${job}`, await findOtherBrand(db, { job, brandId }));
      for (const source of sources) {
        const now = config.sources[source]?.orderPlatform ?? '';
        add(`source ${source}`, (await findOtherPlatform(db, { job, source, now }))?.details ?? null);
      }
    }
    return findings;
  },
};

/**
 * Checks whether a source whose orders have days and no times states credited orders of another platform of its brand: with
 * other ids, such an order is told by its minute.
 */
const days: Diagnostic = {
  name: 'days',
  async look(patient) {
    const { db, hasTables, config } = patient;
    const findings: Finding[] = [];
    if (db === null || !hasTables) return findings;
    for (const jobs of Map.groupBy(attributionJobs(config), ({ brandId }) => brandId).values()) {
      const sources = [...new Set(jobs.flatMap((job) => job.sources))].filter(
        (name) => config.sources[name]?.ownOrders !== true,
      );
      const platformOf = (name: string) => foldPlatform(config.sources[name]?.orderPlatform ?? '');
      for (const source of sources) {
        const others = sources.filter((other) => platformOf(other) !== platformOf(source));
        const alike =
          others.length === 0
            ? 0
            : await countAlike(db, { source, others, timeZone: config.sources[source]?.timeZone ?? 'UTC' });
        if (alike === 0) continue;
        const finding = warning(
          `Its orders have days and no times, and ${plural(alike, 'credited one equals', 'credited ones equal')} one of ${others.join(', ')} in code, amount and day.`,
          'An order that two sources state under different ids is recognised by its minute, so these may be credited twice.',
          'Compare them. If the sources state the same orders, leave one of them out, or export the times.',
        );
        findings.push({ ...finding, about: `source ${source}` });
      }
    }
    return findings;
  },
};

const ORDER_EVENT = 'new_influencer_order';

/**
 * Checks whether something else may credit the same orders. It looks at the events that were received, at
 * whether events are received at all, and at what the configuration declares.
 */
const channels: Diagnostic = {
  name: 'channel',
  async look(patient) {
    const findings: Finding[] = [];
    for (const job of attributionJobs(patient.config))
      findings.push({ ...(await lookAtChannel(patient, job)), about: `channel of ${job.name}` });
    return findings;
  },
};

async function lookAtChannel(patient: Patient, job: AttributeOrdersSettings): Promise<Finding> {
  const { orders, latestOrderId } = await othersOf(patient, job);
  if (orders > 0)
    return problem(
      `Events name ${plural(orders, 'order')} of its exports that this tool did not post. The latest is ${latestOrderId}.`,
      'An order that two channels record is credited twice.',
      'Turn the other channel off for this brand, or do not run this job. List the orders that it has credited:  npx influencer-sync ledger seed FILE',
    );
  if (job.soleChannel)
    return ok('You declared this job the only channel (sole_channel), and no event contradicts that.');
  const heard = await hearsOrders(patient);
  return {
    status: 'warning',
    what: heard
      ? 'Every event names an order that this tool posted. If nothing else posts orders of this brand, declare it.'
      : 'An order that a shop integration posts, too, is credited twice, and doctor receives no events that show it.',
    fix: `If nothing else posts them, write  jobs.${job.name}.sole_channel: true${heard ? '' : '\nTo let doctor watch:  npx influencer-sync webhooks register URL'}`,
  };
}

async function othersOf({ db, hasTables, config }: Patient, job: AttributeOrdersSettings) {
  if (db === null || !hasTables) return { orders: 0, latestOrderId: null };
  const platforms = job.sources.flatMap((name) => {
    const source = config.sources[name];
    return source === undefined ? [] : [{ source: name, platform: source.orderPlatform }];
  });
  return findOtherPosters(db, platforms);
}

/** Returns true if the service sends order events and a secret is configured to verify them. */
async function hearsOrders({ client, config }: Patient): Promise<boolean> {
  if (client === null || config.webhooks.secrets.length === 0) return false;
  try {
    const { webhooks } = await call(client, 'get_webhooks');
    return readListing(webhooks).some(({ webhook_type: kind }) => kind === ORDER_EVENT);
  } catch (error) {
    // The diagnostic of the service says what is wrong with it.
    if (error instanceof ApiError) return false;
    throw error;
  }
}

export const diagnostics: readonly Diagnostic[] = [codes, identities, days, channels];
