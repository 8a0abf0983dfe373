/** One batch is being staged, one waits, and one is being read. That is enough for two processors and limits memory. */
const MAX_WAITING = 2;

/**
 * Stages the batches of a file one after the other while the next ones are being read. Each step returns false if another
 * reader has taken over the file. Then nothing more is staged.
 */
export function createStagingQueue() {
  const waiting: Promise<void>[] = [];
  let last: Promise<void> = Promise.resolve();
  let isLost = false;

  /** Stages at once. @returns false if another reader has taken over the file. */
  async function stage(step: () => Promise<boolean>): Promise<boolean> {
    if (!isLost) isLost = !(await step());
    return !isLost;
  }

  return {
    stage,
    /** Stages after the batches before. Resolves when there is room for the next one, with the result so far. */
    async add(step: () => Promise<boolean>): Promise<boolean> {
      last = last.then(async () => void (await stage(step)));
      // The error is reported when this or a later call awaits the promise. Without this handler, a failure in
      // between would end the process.
      last.catch(() => {});
      waiting.push(last);
      if (waiting.length > MAX_WAITING) await waiting.shift();
      return !isLost;
    },
    /** Resolves when all batches are staged. */
    async settle(): Promise<boolean> {
      await last;
      return !isLost;
    },
    isLost: () => isLost,
  };
}
