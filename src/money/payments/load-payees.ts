import type { StatementSettings } from '../../config/schema.ts';
import { configurationError } from '../../core/known-error.ts';
import { isBic, parseIban } from '../../core/money/iban.ts';
import { foldHandle } from '../../core/text/fold.ts';
import { loadSheet, type Sheet } from '../../core/text/read-sheet.ts';

/** The account of a creator for one currency: one row of payees.csv. It is personal, so it is never stored or logged. */
export type Payee = {
  /** Handle, folded, or deal. */
  readonly creator: string;
  /** Holder of the account. */
  readonly name: string;
  readonly iban: string;
  readonly bic: string | null;
  /** ISO 3166. Null: nobody wrote it. */
  readonly country: string | null;
  readonly currency: string;
};

const COLUMNS = ['creator', 'name', 'iban', 'bic', 'country', 'currency'] as const;

/** The longest name of a holder that ISO 20022 has room for. */
const MAX_NAME_CHARS = 140;

const PAYEES: Sheet<(typeof COLUMNS)[number], Payee> = {
  columns: COLUMNS,
  required: [['creator'], ['name'], ['iban'], ['currency']],
  mayHaveOthers: false,
  mayBePadded: true,
  insteadOfAddress: 'Name the creator by handle or deal, and the account by its holder.',
  isPersonal: true,
  readRow({ cell, refuse, isRepeated }) {
    const creator = foldHandle(cell('creator'));
    if (creator === '')
      return refuse('creator', 'The row names no creator.', 'Write the handle or the deal.');
    const currency = cell('currency').toUpperCase();
    if (!/^[A-Z]{3}$/.test(currency))
      return refuse('currency', 'This is not a currency.', 'Write its three letters, for example EUR.');
    if (isRepeated('creator', `${currency} ${creator}`, `this creator and ${currency}`)) return null;
    const [name, bic, country] = [
      cell('name'),
      cell('bic').toUpperCase() || null,
      cell('country').toUpperCase() || null,
    ];
    if (name === '' || name.length > MAX_NAME_CHARS)
      return refuse(
        'name',
        'The holder of the account is missing, or longer than 140 characters.',
        'Write the name as the bank has it.',
      );
    const iban = parseIban(cell('iban'));
    if (iban === null)
      return refuse(
        'iban',
        'This is not an IBAN, or a character of it is wrong or missing: its check digits do not fit.',
        'Copy it again from the message of the creator, or ask for it.',
      );
    if (bic !== null && !isBic(bic))
      return refuse('bic', 'This is not a BIC.', 'Correct it, or leave it blank: most banks need none.');
    if (country !== null && !/^[A-Z]{2}$/.test(country))
      return refuse('country', 'This is not a country.', 'Write its two letters, for example NL.');
    return { creator, name, iban, bic, country, currency };
  },
};

/**
 * Loads payees.csv. Empty if none is configured: then nobody has bank data.
 *
 * @throws KnownError `payees_unusable` (exit 2) with the line and column of each row, and no value of a cell. One bad row
 * refuses the whole file, because money that goes to somebody else does not come back by itself.
 */
export function loadPayees({ payments }: Pick<StatementSettings, 'payments'>): readonly Payee[] {
  const { payees: path } = payments;
  if (path === null) return [];
  return loadSheet(path, PAYEES, {
    what: 'file with bank data',
    setting: 'statements.payments.payees',
    unusable: (details) =>
      configurationError({ code: 'payees_unusable', safe: 'Nothing was changed.', ...details }),
  });
}

/** Finds the account of a deal, else of its creator, for a currency. Null if nobody wrote one. */
export function findPayee(
  payees: readonly Payee[],
  of: { readonly dealId: string | null; readonly handle: string | null; readonly currency: string },
): Payee | null {
  const named = (name: string | null) =>
    payees.find(({ creator, currency }) => currency === of.currency && creator === foldHandle(name ?? ''));
  return named(of.dealId) ?? named(of.handle) ?? null;
}
