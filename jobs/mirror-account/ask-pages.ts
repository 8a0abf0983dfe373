import type { Answer } from '../../src/ledger/sending/ask.ts';
import { findMore } from '../../src/mirror/more-pages.ts';
import { type FoundList, findList } from '../../src/mirror/read-listing.ts';
import { contract, type OperationName } from '../../src/service/contract.ts';
import type { Questions } from './open-questions.ts';

/** More pages than any account has. A service that always names a next page never ends. */
const PAGES_AT_MOST = 1_000;

/** A list with all pages that could be read, or why its first page was not answered. */
export type AskedList =
  | Exclude<Answer, { readonly kind: 'answer' }>
  | { readonly kind: 'list'; readonly list: FoundList; readonly fetchedAt: Date };

export type ListQuestion = {
  readonly operation: OperationName;
  readonly query?: Readonly<Record<string, string>>;
  /** Called before each further page. If it returns false, the list is left incomplete. */
  readonly mayAskMore?: () => boolean;
  /** True if a full page that says nothing about more is taken for a whole list. */
  readonly ignoresGuesses?: boolean;
};

/**
 * Asks for a list and for its further pages, as far as its answers show how. If the list may go on nevertheless, its
 * `problem` says so: what it lacks may exist.
 */
export async function askPages(
  { ask }: Pick<Questions, 'ask'>,
  { operation, query = {}, mayAskMore = () => true, ignoresGuesses = false }: ListQuestion,
): Promise<AskedList> {
  const first = await ask(operation, { query });
  if (first.kind !== 'answer') return first;
  const { fetchedAt } = first;
  const items: unknown[] = [];
  const seen = new Set<string>();
  let answer: Extract<Answer, { kind: 'answer' }> = first;
  const end = (problem: string | null): AskedList => ({ kind: 'list', list: { items, problem }, fetchedAt });

  for (let pages = 1; ; pages += 1) {
    const page = findList(answer.text);
    if (page.items === null)
      return pages === 1 ? { kind: 'list', list: page, fetchedAt } : end(`page ${pages}: ${page.problem}`);
    const isNew = addNew(page.items, { items, seen });
    if (pages > 1 && page.items.length === 0) return end(null);
    if (pages > 1 && !isNew) return end(`page ${pages} repeats what was listed before`);
    const more = findMore({
      answer: page.answer,
      headers: answer.headers,
      items: page.items.length,
      itemsSoFar: items.length,
      path: contract[operation].path,
    });
    if (more.kind === 'whole' || (more.isGuess && ignoresGuesses)) return end(page.problem);
    if (more.next === null || pages >= PAGES_AT_MOST || !mayAskMore()) return end(more.why);
    const next = await ask(operation, { query: { ...query, ...more.next } });
    if (next.kind !== 'answer')
      return end(
        `${more.why}, and page ${pages + 1} was not answered${'problem' in next ? ` (${next.problem})` : ''}`,
      );
    answer = next;
  }
}

/** Adds the items that no earlier page contains. @returns true if there are any. */
function addNew(
  page: readonly unknown[],
  { items, seen }: { readonly items: unknown[]; readonly seen: Set<string> },
): boolean {
  const before = seen.size;
  for (const item of page) {
    seen.add(JSON.stringify(item));
    items.push(item);
  }
  return seen.size > before;
}
