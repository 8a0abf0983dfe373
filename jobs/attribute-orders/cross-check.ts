import { existsSync, statSync } from 'node:fs';
import { checkCodes } from '../../src/codes/load-codes.ts';
import type { ConfigFinding } from '../../src/config/configured-kind.ts';
import { lacksNotes, statusWords } from '../../src/config/layout-folders.ts';
import { shortPath } from '../../src/config/locate.ts';
import type { PipelineConfig } from '../../src/config/schema.ts';
import type { Problem } from '../../src/core/known-error.ts';
import { didYouMean } from '../../src/core/text/did-you-mean.ts';
import type { AttributeOrdersSettings } from './settings.ts';

/** Checks that the layouts of the job have the status words and the notes that it names, and that codes.csv exists. */
export function* crossCheck(
  job: AttributeOrdersSettings,
  { config }: { config: PipelineConfig },
): Generator<ConfigFinding> {
  yield* checkInclude(job, config);
  yield* checkNotes(job, config);
  if (job.codes === null || isFile(job.codes)) return;
  const help =
    'The path is relative to this file. Columns: code,brand_id,influencer_handle,deal_id,collab_id,valid_from,valid_to.';
  const file = shortPath(job.codes);
  yield {
    path: ['jobs', job.name, 'codes'],
    message: `jobs.${job.name}.codes: ${existsSync(job.codes) ? `${file} is not a file` : `there is no file ${file}`}.`,
    help,
    isOfFile: true,
  };
}

/**
 * Shops define their own status words, so any word is accepted, unless it looks like a misspelling of a word
 * that the layouts or other shops use.
 */
function* checkInclude(job: AttributeOrdersSettings, config: PipelineConfig): Generator<ConfigFinding> {
  if (job.include === null || job.include === 'any') return;
  const rare = [...job.include.entries()].filter(([, word]) => !STATUS_WORDS.includes(word));
  if (rare.length === 0) return;
  const layouts = job.sources.flatMap((name) => config.sources[name]?.layout ?? []);
  const known = [...layouts.flatMap((layout) => statusWords(config.path, layout)), ...STATUS_WORDS];
  for (const [index, word] of rare) {
    const near = known.includes(word) ? null : didYouMean(word, known);
    if (near === null) continue;
    yield {
      path: ['jobs', job.name, 'include', index],
      message: `jobs.${job.name}.include: the layout ${layouts.join(' or ')} knows no status "${word}".`,
      help: `Did you mean "${near}"? If the shop really writes "${word}", add it to status.words in your own layout.`,
    };
  }
}

function* checkNotes(job: AttributeOrdersSettings, config: PipelineConfig): Generator<ConfigFinding> {
  if (job.orderNotes === 'ours') return;
  const layouts = job.sources.flatMap((name) => config.sources[name]?.layout ?? []);
  if (!layouts.every((layout) => lacksNotes(config.path, layout))) return;
  yield {
    path: ['jobs', job.name, 'order_notes'],
    message: `jobs.${job.name}.order_notes: ${job.orderNotes} has no effect, because the layout ${layouts.join(' or ')} names no column of notes.`,
    help: 'Remove it. Or, if the files have the column, name it in a layout of your own: columns: { notes: [Note] }',
  };
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/**
 * Finds mistakes in the codes.csv of the jobs. A path without a file is reported by `crossCheck` as a problem of the
 * setting that names it.
 */
export function checkFiles(jobs: readonly AttributeOrdersSettings[]): readonly Problem[] {
  const paths = jobs.flatMap(({ codes }) => (codes !== null && isFile(codes) ? [codes] : []));
  return [...new Set(paths)].flatMap((path) => checkCodes(path, { file: shortPath(path) }));
}

/**
 * Words for the state of an order or its payment that shops use in their own exports and interfaces. A job
 * may credit other words too, in any language. A word that only resembles one of these is treated as a
 * misspelling.
 */
const STATUS_WORDS: readonly string[] = [
  // payment
  'authorized',
  'expired',
  'failed',
  'invoiced',
  'overpaid',
  'paid',
  'partially_paid',
  'partially_refunded',
  'payment_review',
  'pending',
  'pending_payment',
  'prepaid',
  'refunded',
  'unpaid',
  'voided',
  // order
  'archived',
  'awaiting_fulfillment',
  'awaiting_payment',
  'awaiting_pickup',
  'awaiting_shipment',
  'canceled',
  'cancelled',
  'checkout_draft',
  'closed',
  'complete',
  'completed',
  'declined',
  'disputed',
  'draft',
  'fraud',
  'holded',
  'incomplete',
  'manual_verification_required',
  'on_hold',
  'open',
  'processed',
  'processing',
  'returned',
  'suspected_fraud',
  'valid',
  // delivery
  'delivered',
  'fulfilled',
  'partially_fulfilled',
  'partially_shipped',
  'shipped',
  'unfulfilled',
  'unshipped',
];
