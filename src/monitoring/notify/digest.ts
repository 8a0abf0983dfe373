import { sql } from 'kysely';
import type { PipelineConfig } from '../../config/schema.ts';
import { formatAmounts, formatKnown } from '../../core/money.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { plural } from '../../core/text/plural.ts';
import { toPrintableLine } from '../../core/text/printable.ts';
import { DAY_MS } from '../../core/time/day.ts';
import { zoneClock } from '../../core/time/zone-clock.ts';
import { type Database, finds, toJsonParameter } from '../../db/statement.ts';
import { listUnownedCodes, sumUnownedCodes } from '../../reports/codes/list-codes.ts';
import { sumDoubts } from '../../reports/doubts/list-doubts.ts';
import { listOpenProblems } from '../../reports/notices/list-notices.ts';
import { readCredited } from '../../reports/status/read-overview.ts';
import { titleOf } from './problems/index.ts';
import { addUp } from './problems/problem-finder.ts';
import { minutesOf } from './send-notices.ts';

const MINUTE_MS = 60_000;
/** Number of codes that are listed for each currency. The console lists all of them. */
const CODES_SHOWN = 5;
const CODE_CHARS = 40;

/**
 * Adds the digest of the day to the outbox, if its time has come and no process has created it yet.
 *
 * @returns true if a digest was created.
 */
export async function makeDigest(
  db: Database,
  { config, now }: { config: Pick<PipelineConfig, 'notify'>; now: Date },
): Promise<boolean> {
  const { digest } = config.notify;
  if (digest === null) return false;
  const wallMs = zoneClock(digest.timeZone).toWallMs(now.getTime());
  if (wallMs % DAY_MS < minutesOf(digest.at) * MINUTE_MS) return false;
  const day = dayOf(wallMs);
  const digests = db.selectFrom('ops.notices').where('event', '=', 'digest');
  const made = digests.where('digest_day', '=', sql<Date>`${day}::date`);
  if ((await made.executeTakeFirst()) !== undefined) return false;
  const message = await summarise(db, dayOf(wallMs - DAY_MS));
  return finds(db)`
    with told as (
      insert into ops.notices (event, digest_day, message)
      values ('digest', ${day}::date, ${toJsonParameter(message)}::jsonb)
      on conflict (digest_day) where event = 'digest' do nothing returning notice_id
    ), delivered as (
      insert into ops.notice_deliveries (notice_id, channel)
      select t.notice_id, c.channel from told t cross join unnest(${digest.channels}::text[]) as c(channel)
    )
    select from told`;
}

async function summarise(db: Database, yesterday: string): Promise<object> {
  const problems = await listOpenProblems(db);
  const doubts = await sumDoubts(db);
  const credited = await readCredited(db, { from: yesterday, to: yesterday });
  const doubtful = doubts.reduce((sum, one) => sum + one.doubts, 0);
  const lines = [
    problems.length === 0
      ? 'No problem is open.'
      : `${plural(problems.length, 'problem')} open: ${problems.map(({ kind, job }) => `${titleOf(kind)}${job === null ? '' : ` (${job})`}`).join(', ')}.`,
    doubtful === 0
      ? 'Nothing is in doubt.'
      : `In doubt: ${[doubtful.toLocaleString('en'), formatAmounts(addUp(doubts))].filter(Boolean).join(', ')}.`,
    credited.length === 0
      ? `Nothing was credited for orders of ${yesterday}.`
      : `Credited for orders of ${yesterday} (UTC): ${formatAmounts(credited)}.`,
    ...(await describeCodes(db)),
  ];
  return {
    problem: 'digest',
    title: 'Daily digest',
    job: null,
    severity: problems.some(({ severity }) => severity === 'error') ? 'error' : 'warning',
    since: null,
    amounts: addUp(doubts),
    summary: lines.join('\n'),
    command: 'npx influencer-sync status',
    page: '/',
  };
}

/** Describes codes without an owner, those with the most revenue of each currency. */
async function describeCodes(db: Database): Promise<readonly string[]> {
  const currencies = [...new Set((await sumUnownedCodes(db)).map(({ currency }) => currency))];
  if (currencies.length === 0) return ['No order has a code without an owner.'];
  const lines: string[] = [];
  for (const currency of currencies) {
    const codes = await listUnownedCodes(db, { currency, limit: CODES_SHOWN });
    // Codes come from files and may contain anything, so addresses in them are masked and the text is
    // shortened.
    const named = codes.map(
      ({ code, amount, withoutAmount }) =>
        `${toPrintableLine(maskAddresses(code)).slice(0, CODE_CHARS)} ${formatKnown(amount, currency, withoutAmount)}`,
    );
    lines.push(`Codes without an owner, by revenue in ${currency}: ${named.join(', ')}.`);
  }
  return lines;
}

function dayOf(wallMs: number): string {
  return new Date(wallMs).toISOString().slice(0, 10);
}
