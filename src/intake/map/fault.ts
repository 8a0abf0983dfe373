import type { FooterRow, RejectedRow } from '../../core/record.ts';
import { maskAddresses } from '../../core/text/mask-addresses.ts';
import { isOfPeople, sumsUp } from '../layout/column-words.ts';

/**
 * Why a value cannot be used. Returned, never thrown. Values are text, so `typeof` distinguishes them from
 * faults.
 */
export type Fault = { readonly code: string; readonly reason: string; readonly help: string };

/** Consecutive rows of the file, starting at one record. */
export type Run = { readonly record: number; readonly line: number; count: number };

const MAX_VALUE_CHARS = 200;

/** Prepares a faulty value for storage: truncates it and masks addresses. */
function showValue(value: string): string {
  const shown = maskAddresses(value.slice(0, MAX_VALUE_CHARS * 2)).replaceAll('\u0000', '');
  return shown.length > MAX_VALUE_CHARS ? `${shown.slice(0, MAX_VALUE_CHARS - 1)}…` : shown;
}

/** Hides what may be the name of a person: of each word, the first letter remains. */
function hideWords(value: string): string {
  return value.replace(/[\p{L}\p{M}]+/gu, ([first = '', ...others]) => first + '*'.repeat(others.length));
}

/** Rejects consecutive rows with one entry, at the position of the first row. */
export function reject(
  run: Run,
  fault: Fault,
  at: { readonly column: string | null; readonly value: string | null },
  order: Pick<RejectedRow, 'orderId' | 'orderName' | 'changedAt'> = {},
): RejectedRow {
  const isHidden = at.column !== null && isOfPeople(at.column);
  return {
    ...order,
    code: fault.code,
    line: run.line,
    record: run.record,
    column: at.column,
    value: at.value === null ? null : showValue(isHidden ? hideWords(at.value) : at.value),
    reason: fault.reason,
    help: fault.help,
    rowCount: run.count,
  };
}

/**
 * Describes a row at the end of a file that is no record of it. If only its numbers show that, its first filled cell may
 * have the name of a person.
 */
export function footerRow(line: number, cells: readonly string[], by: FooterRow['by']): FooterRow {
  const first = cells.find((cell) => cell.trim() !== '')?.trim() ?? '';
  return { line, text: showValue(by === 'label' || sumsUp(first) ? first : hideWords(first)), by };
}

export function missingValue(what: string): Fault {
  return {
    code: 'missing_value',
    reason: `The ${what} is blank.`,
    help: 'Fill it in, or export the file again with this column.',
  };
}

/** Maximum length of names, ids and codes. */
export const MAX_TEXT_CHARS = 200;

export const TOO_LONG: Fault = {
  code: 'value_too_long',
  reason: `The value is longer than ${MAX_TEXT_CHARS} characters.`,
  help: 'Check that the cells of this row are in the right columns.',
};

export const OTHER_CURRENCY: Fault = {
  code: 'other_currency',
  reason: 'The amount, or the name of its column, has another currency than its order or its source.',
  help: 'Check the currency of the source in pipeline.yaml. If a shop sells in several currencies, export a currency column, and the amounts in these currencies.',
};
