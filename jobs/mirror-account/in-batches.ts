/** Collects items and writes them together. */
export type Batches<Item> = {
  /** Returns when there is room for more. */
  add(item: Item): Promise<void>;
  /** Writes what is left. */
  flush(): Promise<void>;
};

export type BatchOptions = {
  readonly maxItems: number;
  /** A batch is written when the first of it has waited so long, looked at when the next one comes. */
  readonly maxAgeMs: number;
};

/** One batch is written while the next one is collected, so that neither waits for the other for long. */
export function createBatches<Item>(
  write: (items: readonly Item[]) => Promise<void>,
  { maxItems, maxAgeMs }: BatchOptions,
): Batches<Item> {
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
    async add(item) {
      if (items.length === 0) beganAt = performance.now();
      items.push(item);
      if (items.length >= maxItems || performance.now() - beganAt >= maxAgeMs) await flush();
    },
    flush,
  };
}
