import type { Answer } from '../../src/ledger/sending/ask.ts';
import { type FoundList, findList } from '../../src/mirror/read-records.ts';
import type { OperationName } from '../../src/service/contract.ts';
import { joinPages } from '../../src/service/description/pages.ts';
import type { Questions } from './open-questions.ts';

/** A list with all pages that could be read, or why its first page was not answered. */
export type AskedList =
  | Exclude<Answer, { readonly kind: 'answer' }>
  | { readonly kind: 'list'; readonly list: FoundList; readonly fetchedAt: Date };

export type ListQuestion = NonNullable<Parameters<typeof joinPages>[2]> & {
  readonly operation: OperationName;
  readonly query?: Readonly<Record<string, string>>;
};

/**
 * Asks for a list and for its further pages. If the list may go on nevertheless, its `problem` says so: what it lacks
 * may exist. The age of a list is that of its first page.
 */
export async function askPages(
  { ask }: Pick<Questions, 'ask'>,
  { operation, query = {}, ...options }: ListQuestion,
): Promise<AskedList> {
  const first = await ask(operation, { query });
  if (first.kind !== 'answer') return first;
  const { fetchedAt, text } = first;
  if (first.list === undefined) return { kind: 'list', list: findList(text), fetchedAt };
  const { items, problem } = await joinPages(
    first.list,
    async (page) => {
      const next = await ask(operation, { query: { ...query, ...page } });
      if (next.kind === 'not_asked') return { problem: 'no more requests may be sent' };
      if (next.kind !== 'answer') return next;
      return next.list ?? { problem: 'it contains no list' };
    },
    options,
  );
  const list = findList(text, items);
  return {
    kind: 'list',
    list: list.items === null || problem === null ? list : { ...list, problem },
    fetchedAt,
  };
}
