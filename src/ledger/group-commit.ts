/**
 * Lets concurrent callers share one statement and one commit, which divides the cost of durability among
 * them. While one commit runs, the next group gathers.
 *
 * @param commit processes the whole group. It must return one result for each item, in the order of the
 * items. If it throws, every caller of the group gets the error.
 */
export function groupCommit<Item, Result>(
  commit: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  const waiting = gather<Item, Result>();
  const begin = oneAtATime({
    isWaiting: () => waiting.size() > 0,
    async work() {
      const group = waiting.take(MAX_ITEMS);
      await group.settle(commit(group.items));
    },
  });
  return (item) => {
    const result = waiting.add(item);
    begin();
    return result;
  };
}

/** The maximum size of a group. Larger ones cost hardly less for each item, and more memory. */
export const MAX_ITEMS = 500;

/** Items of concurrent callers, until a commit takes them. */
export type Gathering<Item, Result> = {
  size(): number;
  /** @returns the result of the item, once its group is settled. */
  add(item: Item): Promise<Result>;
  /** Takes the items that have waited longest. */
  take(maxItems: number): Group<Item, Result>;
};

export type Group<Item, Result> = {
  readonly items: readonly Item[];
  /**
   * Passes each caller its result, or all of them the error. Never throws.
   *
   * @param results one for each item, in the order of the items.
   */
  settle(results: Promise<readonly Result[]>): Promise<void>;
};

export function gather<Item, Result>(): Gathering<Item, Result> {
  type Waiting = { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void };
  const gathering: Waiting[] = [];
  return {
    size: () => gathering.length,
    add: (item) =>
      new Promise((resolve, reject) => {
        gathering.push({ item, resolve, reject });
      }),
    take(maxItems) {
      const group = gathering.splice(0, maxItems);
      return {
        items: group.map(({ item }) => item),
        async settle(results) {
          try {
            for (const [index, result] of (await results).entries()) group[index]?.resolve(result);
          } catch (error) {
            for (const { reject } of group) reject(error);
          }
        },
      };
    },
  };
}

/**
 * Creates a function that begins to work, unless it is already working: again and again as long as something
 * is waiting.
 *
 * @param options.work must not throw.
 */
export function oneAtATime(options: {
  readonly isWaiting: () => boolean;
  readonly work: () => Promise<void>;
}): () => void {
  let isBusy = false;
  async function run(): Promise<void> {
    while (options.isWaiting()) {
      // Everything that arrives in this turn of the event loop joins the group. That includes what the callers of
      // the previous group do next.
      await new Promise(setImmediate);
      await options.work();
    }
    isBusy = false;
  }
  return () => {
    if (isBusy) return;
    isBusy = true;
    void run();
  };
}
