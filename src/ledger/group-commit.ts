/**
 * Lets concurrent callers share one statement and one commit, which divides the cost of durability among
 * them. While one commit runs, the next group gathers.
 *
 * @param commit processes the whole group. It must return one result for each item, in the order of the
 * items. If it throws, every caller of the group gets the error.
 */
export function groupCommit<Item, Result>(
  commit: (items: readonly Item[]) => Promise<readonly Result[]>,
  maxItems = 500,
): (item: Item) => Promise<Result> {
  type Waiting = { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void };
  const gathering: Waiting[] = [];
  let busy = false;

  async function commitGroups(): Promise<void> {
    while (gathering.length > 0) {
      const group = gathering.splice(0, maxItems);
      try {
        const results = await commit(group.map((waiting) => waiting.item));
        for (const [index, waiting] of group.entries()) waiting.resolve(results[index] as Result);
      } catch (error) {
        for (const waiting of group) waiting.reject(error);
      }
    }
    busy = false;
  }

  return (item) =>
    new Promise((resolve, reject) => {
      gathering.push({ item, resolve, reject });
      if (busy) return;
      busy = true;
      // Everything that arrives in this turn of the event loop joins the first group.
      setImmediate(commitGroups);
    });
}
