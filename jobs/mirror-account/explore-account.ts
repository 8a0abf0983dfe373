import { foldHandle } from '../../src/core/text/fold.ts';
import { plural } from '../../src/core/text/plural.ts';
import type { Database } from '../../src/db/connect.ts';
import type { Budget } from '../../src/ledger/sending/ask.ts';
import { type Discovery, discoverDeals } from '../../src/mirror/discover-deals.ts';
import {
  type AskedHandle,
  type DueHandle,
  dueHandles,
  meetHandles,
  saveAskedHandles,
} from '../../src/mirror/known-handles.ts';
import {
  askedPrefixes,
  countDuePrefixes,
  duePrefixes,
  growPrefixes,
  type PrefixAnswer,
  savePrefixAnswers,
} from '../../src/mirror/known-prefixes.ts';
import { readSuggestions, type Suggestions } from '../../src/mirror/read-suggestions.ts';
import { findUncovered, splitPrefixes } from '../../src/mirror/split-prefixes.ts';
import { type AskedDeal, keepUnreadable, stageDeals } from '../../src/mirror/stage.ts';
import type { Run } from '../../src/ops/run.ts';
import { dealQuery, readOutcome } from './fetch-account.ts';
import { type AskedList, askPages, type Questions } from './open-questions.ts';
import type { MirrorAccountSettings } from './settings.ts';

type MirrorRun = Run<MirrorAccountSettings>;

export type Exploring = {
  readonly questions: Questions;
  /** The part of the run's budget that may be spent on autocomplete. */
  readonly autocomplete: Budget;
  /** Skips what was requested at or after this instant. */
  readonly askedBefore: Date;
};

export type Explored = { readonly discovered: number; readonly problems: readonly string[] };

/** Number of requests per wave. The results of a wave are stored once all of them are answered. */
const WAVE = 200;

/** Requests the deals of every known handle that has no deal, or whose last request is too long ago. */
export async function exploreHandles(
  run: MirrorRun,
  exploring: Exploring,
): Promise<Pick<Explored, 'discovered'>> {
  const { db, runId, progress } = run;
  const { questions, askedBefore } = exploring;
  let discovered = 0;
  while (questions.isOpen()) {
    const wave = await dueHandles(db, { askedBefore, limit: WAVE });
    if (wave.length === 0) break;
    progress.begin({
      name: 'handles',
      label: 'Looking up deals by handle',
      unit: 'requests',
      total: wave.length,
    });
    const asked: AskedHandle[] = [];
    const discoveries: Discovery[] = [];
    const deals: AskedDeal[] = [];
    await questions.forEach(wave, async (handle) => {
      const found = await askHandle(run, exploring, handle);
      if (found === null) return;
      asked.push(found.asked);
      discoveries.push(...found.discoveries);
      deals.push(...found.deals);
      progress.advance(1);
    });
    discovered += await discoverDeals(db, discoveries);
    await stageDeals(db, runId, deals);
    await saveAskedHandles(db, asked);
  }
  return { discovered };
}

type FoundByHandle = {
  readonly asked: AskedHandle;
  readonly discoveries: readonly Discovery[];
  readonly deals: readonly AskedDeal[];
};

/** Asks autocomplete, within its budget. The sizes of all answers together show where it cuts them off. */
function suggest(questions: Questions, autocomplete: Budget, text: string): Promise<AskedList> {
  return askPages(questions, {
    operation: 'autocomplete',
    query: { q: text },
    mayAskMore: autocomplete.take,
    ignoresGuesses: true,
  });
}

/** Autocomplete lists all deals of a handle. If it lists none, `get_deal_details` may return one. */
async function askHandle(
  run: MirrorRun,
  { questions, autocomplete }: Exploring,
  { handle, handleFolded }: DueHandle,
): Promise<FoundByHandle | null> {
  if (autocomplete.take()) {
    const answer = await suggest(questions, autocomplete, handle);
    const read = answer.kind === 'list' ? readSuggestions(answer.list) : null;
    if (answer.kind === 'list' && read !== null && 'deals' in read) {
      const folded = foldHandle(handle);
      const own = read.deals.filter((deal) => deal.handle !== null && foldHandle(deal.handle) === folded);
      const discoveries = toDiscoveries(read);
      if (own.length > 0) {
        const asked = { handleFolded, askedAt: answer.fetchedAt, dealsFound: own.length, problem: null };
        return { asked, discoveries, deals: [] };
      }
    }
  }
  const answer = await questions.ask('get_deal_details', {
    query: dealQuery({ influencer_handle: handle }, run.job.collaborations),
  });
  if (answer.kind === 'not_asked') return null;
  const askedAt = answer.fetchedAt;
  const { outcome } = readOutcome(answer, { askedId: null, answerHash: null });
  if (outcome.kind !== 'read') {
    const isNobody = outcome.kind === 'not_found';
    const problem = isNobody || !('problem' in outcome) ? null : outcome.problem;
    return {
      asked: { handleFolded, askedAt, dealsFound: isNobody ? 0 : null, problem },
      discoveries: [],
      deals: [],
    };
  }
  const dealId = outcome.answer.deal.id;
  return {
    asked: { handleFolded, askedAt, dealsFound: 1, problem: null },
    discoveries: [{ dealId, way: 'handle' }],
    deals: [{ dealId, fetchedAt: askedAt, outcome }],
  };
}

/**
 * Requests prefixes of handles through autocomplete, and longer prefixes if an answer appears to be cut off,
 * as far as the budget goes.
 */
export async function explorePrefixes(run: MirrorRun, exploring: Exploring): Promise<Explored> {
  const { db, runId, progress } = run;
  const { questions, autocomplete, askedBefore } = exploring;
  let discovered = 0;
  while (questions.isOpen() && autocomplete.left() > 0) {
    const wave = await duePrefixes(db, { askedBefore, limit: Math.min(WAVE, autocomplete.left()) });
    if (wave.length === 0) break;
    progress.begin({ name: 'explore', label: 'Looking for deals', unit: 'requests', total: wave.length });
    const answers: PrefixAnswer[] = [];
    const suggestions: Suggestions[] = [];
    await questions.forEach(wave, async (prefix) => {
      if (!questions.isOpen() || !autocomplete.take()) return;
      const answer = await suggest(questions, autocomplete, prefix);
      if (answer.kind === 'not_asked') return;
      const read = answer.kind === 'list' ? readSuggestions(answer.list) : { reason: answer.problem };
      const isRead = 'deals' in read;
      if (isRead) suggestions.push(read);
      else if ('raw' in read) await keepUnreadable(db, { runId, kind: 'autocomplete', items: [read] });
      const problem = isRead ? null : read.reason;
      answers.push({ prefix, askedAt: answer.fetchedAt, answer: isRead ? read : null, problem });
      progress.advance(1);
    });
    discovered += await discoverDeals(db, suggestions.flatMap(toDiscoveries));
    await meetHandles(
      db,
      suggestions.flatMap(({ handles }) => handles),
    );
    await savePrefixAnswers(db, answers);
    const first = answers[0];
    if (first !== undefined && suggestions.length === 0) {
      return { discovered, problems: [`Autocomplete could not be read: ${first.problem}.`] };
    }
    await growPrefixes(db, splitPrefixes(await askedPrefixes(db)));
  }
  return { discovered, problems: await describeSearch(db, exploring) };
}

/** Says what the search for deals has not covered. A budget of zero asks for no search. */
async function describeSearch(
  db: Database,
  { autocomplete, askedBefore }: Exploring,
): Promise<readonly string[]> {
  if (autocomplete.left() + autocomplete.used() === 0) return [];
  const problems: string[] = [];
  const waiting = await countDuePrefixes(db, askedBefore);
  if (waiting > 0)
    problems.push(
      `The search for deals is not finished: ${plural(waiting, 'prefix of handles waits', 'prefixes of handles wait')} for the next run. Others may exist. Raise autocomplete_budget to finish in one run.`,
    );
  const uncovered = findUncovered(await askedPrefixes(db));
  if (uncovered !== null) problems.push(uncovered);
  return problems;
}

function toDiscoveries({ deals }: Suggestions): readonly Discovery[] {
  return deals.map(({ dealId }) => ({ dealId, way: 'autocomplete' }));
}
