import type { LeakedCode, LeakFlag } from '../core/money/leak.ts';
import type { Database } from '../db/connect.ts';
import { judgeCode, LEAK_DAYS, MIN_ORDERS, WINDOW_DAYS } from './judge-leak.ts';
import { type CodeUse, countReturning, listAcknowledgedLeaks, readCodeUse } from './read-code-use.ts';

/** Number of days for which a leak is shown after its last unusual day. */
const SHOWN_DAYS = 28;
const DAY_MS = 86_400_000;

/**
 * Finds codes that may have leaked in the last four weeks, with the evidence. Those with the most orders
 * without a link come first. Uses the data of the last refresh.
 */
export async function findLeaks(
  db: Database,
  { now }: { readonly now: Date },
): Promise<readonly LeakedCode[]> {
  const today = Math.floor(now.getTime() / DAY_MS);
  const uses = await readCodeUse(db, {
    today,
    days: LEAK_DAYS + SHOWN_DAYS,
    recent: { days: WINDOW_DAYS + SHOWN_DAYS, orders: MIN_ORDERS },
  });
  const flagged = uses.flatMap((use) => {
    const flags = flagsOf(use, today);
    const [first] = flags;
    const last = flags.at(-1);
    if (first === undefined || last === undefined) return [];
    const since = new Date((first.day - first.days + 1) * DAY_MS).toISOString().slice(0, 10);
    const { code, dealId, influencerHandle } = use;
    return [{ ...last, code, dealId, influencerHandle, since }];
  });
  const customers = await countReturning(db, flagged);
  const acknowledged = await listAcknowledgedLeaks(db);
  return flagged
    .map((leak) => ({
      ...leak,
      ...(customers.get(leak.code) ?? { known: 0, returning: 0 }),
      acknowledged: acknowledged.get(leak.code) ?? null,
    }))
    .toSorted((one, other) => other.withoutLink - one.withoutLink || (one.code < other.code ? -1 : 1));
}

function flagsOf({ days, firstDay }: CodeUse, today: number): readonly LeakFlag[] {
  const flags: LeakFlag[] = [];
  for (let day = today - SHOWN_DAYS + 1; day <= today; day += 1) {
    const flag = judgeCode(days, { day, firstDay });
    if (flag !== null) flags.push(flag);
  }
  return flags;
}
