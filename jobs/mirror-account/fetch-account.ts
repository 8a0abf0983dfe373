import type { Answer } from '../../src/ledger/sending/ask.ts';
import { discoverDeals } from '../../src/mirror/discover-deals.ts';
import { countAllDue, type DueDeal, type DueOptions, dueDeals } from '../../src/mirror/due-deals.ts';
import { openDealAnswer, readDealAnswer } from '../../src/mirror/read-deal-answer.ts';
import type { NotARecord } from '../../src/mirror/read-record.ts';
import { readRecords } from '../../src/mirror/read-records.ts';
import { brandShape, dealflowShape } from '../../src/mirror/record-shapes.ts';
import {
  type AskedDeal,
  type DealOutcome,
  keepUnreadable,
  stageDeals,
  stageListing,
} from '../../src/mirror/stage.ts';
import type { Run } from '../../src/ops/run.ts';
import { askPages, type Questions } from './open-questions.ts';
import type { MirrorAccountSettings } from './settings.ts';

type MirrorRun = Run<MirrorAccountSettings>;

/** Limit what a killed process may lose: so many answers at most, or the answers of this time. */
const BATCH_ITEMS = 500;
const BATCH_AGE_MS = 2_000;

const LISTINGS = [
  { kind: 'brand', shape: brandShape, operation: 'search_brands', many: 'brands' },
  { kind: 'dealflow', shape: dealflowShape, operation: 'search_dealflows', many: 'dealflows' },
] as const;

/** Reads the listings of brands and dealflows. @returns the problems, as sentences. */
export async function fetchListings(run: MirrorRun, questions: Questions): Promise<readonly string[]> {
  const { db, runId } = run;
  const problems: string[] = [];
  for (const { kind, shape, operation, many } of LISTINGS) {
    const answer = await askPages(questions, { operation });
    if (answer.kind === 'not_asked') continue;
    if (answer.kind !== 'list') {
      problems.push(`The ${many} could not be listed: ${answer.problem}. Known ones do not change.`);
      continue;
    }
    const listing = readRecords(shape, answer.list);
    await keepUnreadable(db, { runId, kind, items: listing.unreadable });
    await stageListing(db, { runId, kind, listing, fetchedAt: answer.fetchedAt });
    if (listing.problem !== null)
      problems.push(`The list of ${many} is not complete: ${listing.problem}. None is marked as gone.`);
  }
  return problems;
}

/** The progress of reading deals. */
export const FETCHING = { name: 'fetch', label: 'Reading deals', unit: 'deals' } as const;

/** Reads the deals that are due, starting with those read longest ago, until the budget is used up. */
export async function fetchDeals(run: MirrorRun, questions: Questions, due: DueOptions): Promise<void> {
  const { db, runId, progress } = run;
  const total = Math.min(await countAllDue(db, due), questions.budget.left());
  if (total === 0 || !questions.isOpen()) return;
  progress.begin({ ...FETCHING, total });
  const staged = createBatches<AskedDeal>((asked) => stageDeals(db, runId, asked));
  await questions.forEach(withinBudget(dueDeals(db, due), questions), async (deal) => {
    const asked = await askDeal(run, questions, deal);
    if (asked === null) return;
    await staged.add(asked);
    progress.advance(1);
  });
  await staged.flush();
}

async function* withinBudget<Item>(items: AsyncIterable<Item>, { isOpen }: Questions): AsyncGenerator<Item> {
  for await (const item of items) {
    if (!isOpen()) return;
    yield item;
  }
}

async function askDeal(
  { db, runId, job }: MirrorRun,
  { ask }: Questions,
  { dealId, answerHash }: DueDeal,
): Promise<AskedDeal | null> {
  const answer = await ask('get_deal_details', { query: dealQuery({ deal_id: dealId }, job.collaborations) });
  if (answer.kind === 'not_asked') return null;
  const { outcome, unreadable, otherDealId } = readOutcome(answer, { askedId: dealId, answerHash });
  if (otherDealId !== null) await discoverDeals(db, [{ dealId: otherDealId, way: 'deal' }]);
  await keepUnreadable(db, { runId, kind: unreadable.kind, items: unreadable.items });
  return { dealId, fetchedAt: answer.fetchedAt, outcome };
}

/** Builds the query of `get_deal_details`. */
export function dealQuery(
  which: Readonly<Record<string, string>>,
  withCollaborations: boolean,
): Readonly<Record<string, string | boolean>> {
  return withCollaborations ? { ...which, return_collabs: true } : which;
}

type ReadOutcome = {
  readonly outcome: DealOutcome;
  readonly unreadable: { readonly kind: 'deal' | 'collaboration'; readonly items: readonly NotARecord[] };
  /** The id of the deal that the service returned instead of the requested one. Null otherwise. */
  readonly otherDealId: string | null;
};

/** Determines the result of an answer about a deal. */
export function readOutcome(
  answer: Exclude<Answer, { kind: 'not_asked' }>,
  known: { readonly askedId: string | null; readonly answerHash: string | null },
): ReadOutcome {
  if (answer.kind !== 'answer') return outcomeOf(answer);
  const opened = openDealAnswer(answer.text);
  if (!('body' in opened)) return outcomeOf({ kind: 'failed', problem: opened.reason }, 'deal', [opened]);
  const { answerHash } = opened;
  if (answerHash === known.answerHash) return outcomeOf({ kind: 'unchanged', answerHash });
  const read = readDealAnswer(opened, known.askedId);
  if ('deal' in read) return outcomeOf({ kind: 'read', answer: read }, 'collaboration', read.unreadable);
  const failed = outcomeOf({ kind: 'failed', problem: read.reason }, 'deal', [read]);
  return { ...failed, otherDealId: read.otherDealId ?? null };
}

function outcomeOf(
  outcome: DealOutcome,
  kind: ReadOutcome['unreadable']['kind'] = 'deal',
  items: readonly NotARecord[] = [],
): ReadOutcome {
  return { outcome, unreadable: { kind, items }, otherDealId: null };
}

/**
 * Collects items and writes them in batches: one while the next one is collected, so that neither waits long for the
 * other.
 */
function createBatches<Item>(write: (items: readonly Item[]) => Promise<void>) {
  let items: Item[] = [];
  let beganAt = 0;
  let writing: Promise<void> = Promise.resolve();

  function flush(): Promise<void> {
    const batch = items;
    items = [];
    writing = writing.then(() => (batch.length === 0 ? undefined : write(batch)));
    return writing;
  }

  return {
    /** Adds an item. Resolves once there is room for more. */
    async add(item: Item): Promise<void> {
      if (items.length === 0) beganAt = performance.now();
      items.push(item);
      if (items.length >= BATCH_ITEMS || performance.now() - beganAt >= BATCH_AGE_MS) await flush();
    },
    flush,
  };
}
