import { createHash } from 'node:crypto';
import type { StatementSettings } from '../../config/schema.ts';
import { refusal } from '../../core/known-error.ts';
import { isFormula } from '../../core/text/csv-cell.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { editSheet } from '../../core/text/read-sheet.ts';
import { DAY_MS } from '../../core/time/day.ts';
import { monthBefore } from '../../core/time/month.ts';
import { type Database, finds, rowOf } from '../../db/statement.ts';
import { isConditional } from '../conditions.ts';
import { loadStatementRules, parseTerms, readTerms, TERMS_COLUMNS } from '../load-rules.ts';
import { type ReplayedMonth, replayTerms } from '../replay-terms.ts';

/** What a code earns no more: everything by the code from a day on, with or without a link. */
export type CodeToVoid = {
  /** Folded. */
  readonly code: string;
  /** The first day that earns nothing, such as `2026-10-31`, in the time zone of the statements. */
  readonly day: string;
  /** Why. Kept in the file, without e-mail addresses. */
  readonly reason: string;
};

/** What a deal would earn otherwise in a month. */
export type VoidedMonth = Omit<ReplayedMonth, 'orders'> & {
  /** `closed`: the next statement has corrections. `over`: the month is open. `pending`: it is not over. */
  readonly state: 'closed' | 'over' | 'pending';
};

/** What a void would do. */
export type VoidPreview = {
  readonly code: string;
  readonly day: string;
  /** Path of terms.csv. Null: none is configured. */
  readonly file: string | null;
  /** Text of the file with and without the void. */
  readonly before: string;
  readonly text: string;
  /** The row that is added, and the lines of rows that end the day before. */
  readonly row: string;
  readonly ended: readonly number[];
  /** The file has the row already, and no audit record says so: a command ended between both, or a person wrote it. */
  readonly isWritten: boolean;
  /** Orders from that day on in UTC, as `leaks` counts them. */
  readonly orders: number;
  readonly withoutLink: number;
  /** Only months in which something changes. */
  readonly months: readonly VoidedMonth[];
  /** Digest of what the file says and of what would change. The same as long as both are. */
  readonly seal: string;
};

/**
 * Computes what a void of a code would do: a row with the rate 0 from a day on. Nothing is changed.
 *
 * @throws KnownError `code_not_used`, `code_is_void` or `code_terms_in_the_way` (exit 2), and those of `loadStatementRules`.
 */
export async function previewVoid(
  db: Database,
  { settings, now, ...wanted }: CodeToVoid & { readonly settings: StatementSettings; readonly now: Date },
): Promise<VoidPreview> {
  const { code, day } = wanted;
  const today = loadStatementRules(settings);
  const before = readTerms(settings);
  const { isWritten, text, ...edit } = withVoid(before, wanted);
  if (isWritten) await refuseRecorded(db, wanted);
  const use = await sumUse(db, { code, day });
  const { timeZone, returnWindowDays } = today;
  const lastDue = new Date(now.getTime() + (returnWindowDays + 1) * DAY_MS);
  const replayed = await replayTerms(db, {
    today,
    draft: { ...today, terms: parseTerms(text).rows },
    from: day.slice(0, 7),
    to: lastDue.toISOString().slice(0, 7),
  });
  const over = monthBefore(now, timeZone);
  const closed = await lastClosed(db);
  const months = replayed
    .filter((one) => one.today.amount !== one.draft.amount || one.today.unknown !== one.draft.unknown)
    .map(({ orders: _orders, ...one }): VoidedMonth => {
      const state =
        closed !== null && one.month <= closed ? 'closed' : one.month <= over ? 'over' : 'pending';
      return { ...one, state };
    });
  const seal = createHash('sha256')
    .update(JSON.stringify([before, code, day, months]))
    .digest('hex');
  return { code, day, file: settings.terms, before, text, isWritten, ...edit, ...use, months, seal };
}

/**
 * Adds a row with the rate 0 to the text of terms.csv, and ends the rows of the code that are valid on that day. If it has
 * that row, nothing is added.
 *
 * @throws KnownError `code_terms_in_the_way` (exit 2) if a row of the code begins later, or is valid beside that row: what it
 *   means then is not for a program to say; `code_is_void` (exit 2) if the code earns nothing from an earlier day.
 */
export function withVoid(
  text: string,
  { code, day, reason }: CodeToVoid,
): Pick<VoidPreview, 'text' | 'row' | 'ended' | 'isWritten'> {
  const rows = parseTerms(text).rows.filter(({ codeFolded }) => codeFolded === code);
  const voids = rows.filter(
    (row) => row.validTo === null && Number(row.ratePercent ?? 1) === 0 && !isConditional(row),
  );
  const done = voids.find(({ validFrom }) => validFrom === day);
  const dayBefore = new Date(Date.parse(day) - DAY_MS).toISOString().slice(0, 10);
  const valid = rows.filter((row) => row !== done && (row.validTo === null || row.validTo >= day));
  const [earlier, ...others] = valid;
  if (
    earlier !== undefined &&
    others.length === 0 &&
    voids.includes(earlier) &&
    (earlier.validFrom ?? '') < day
  )
    throw refusal({
      code: 'code_is_void',
      message: `The terms let the code earn nothing already${earlier.validFrom === null ? '' : ` from ${earlier.validFrom}`}: line ${earlier.line}.`,
      where: code,
      help: 'Nothing needs to be done.',
    });
  const later = valid.find(({ validFrom }) => done !== undefined || (validFrom !== null && validFrom >= day));
  if (later !== undefined)
    throw refusal({
      code: 'code_terms_in_the_way',
      message:
        done === undefined
          ? `Line ${later.line} of the terms states what the code earns from ${later.validFrom}, which is not before ${day}.`
          : `Line ${done.line} of the terms has the rate 0 from ${day}, but line ${later.line} is valid then, too, and may count.`,
      where: code,
      help:
        done === undefined
          ? 'Choose a later day, or change that line yourself.'
          : `Write valid_to=${dayBefore} into line ${later.line}, or remove it, and try again.`,
    });
  if (done !== undefined) {
    const ended = rows.filter(({ validTo }) => validTo === dayBefore).map(({ line }) => line);
    return { text, row: done.text, ended, isWritten: true };
  }
  const why = maskAddresses(reason);
  const edit = {
    cells: new Map(valid.map(({ line }) => [line, { valid_to: dayBefore }])),
    added: { code, rate: '0', valid_from: day, reason: isFormula(why) ? `'${why}` : why },
  };
  const edited = editSheet(text, edit, TERMS_COLUMNS);
  return { ...edited, ended: valid.map(({ line }) => line), isWritten: false };
}

async function refuseRecorded(db: Database, { code, day }: { code: string; day: string }) {
  if (
    await finds(db)`
      select from ops.audit where action = 'void_code' and subject = ${code} and after ->> 'day' = ${day}`
  )
    throw refusal({
      code: 'code_is_void',
      message: `The terms let the code earn nothing from ${day}, and the audit has the decision.`,
      where: code,
      help: 'Nothing needs to be done. The page Audit of the console shows who decided it.',
    });
}

async function sumUse(
  db: Database,
  { code, day }: { code: string; day: string },
): Promise<Pick<VoidPreview, 'orders' | 'withoutLink'>> {
  const use = await rowOf<{ isUsed: boolean; orders: number; withoutLink: number }>(db)`
    select count(*) > 0 as "isUsed",
      coalesce(sum(orders) filter (where day_utc >= ${day}::date), 0)::float8 as orders,
      coalesce(sum(without_link) filter (where day_utc >= ${day}::date), 0)::float8 as "withoutLink"
    from reporting.code_use_days where code_folded = ${code}`;
  const { isUsed = false, orders = 0, withoutLink = 0 } = use ?? {};
  if (isUsed) return { orders, withoutLink };
  throw refusal({
    code: 'code_not_used',
    message: 'No order carries this code, as of the last run.',
    where: code,
    help: 'Check how it is written: npx influencer-sync codes',
  });
}

/** The last month whose statement is closed: it contains all months before. */
async function lastClosed(db: Database): Promise<string | null> {
  const closed = await rowOf<{ month: string | null }>(db)`
    select to_char(max(month), 'YYYY-MM') as month from ops.statements`;
  return closed?.month ?? null;
}
