import { type Fault, missingValue } from '../map/fault.ts';
import { remember } from './remember.ts';

/** The code of ISO 4217 for no currency: of amounts whose currency is not known yet. No file can state it. */
export const NO_CURRENCY = 'XXX';

/** Listing the currencies takes as long as reading a small file, so it is done once. */
const known = new Set(
  Intl.supportedValuesOf('currency').filter((code) => code !== NO_CURRENCY && code !== 'XTS'),
);

/** True for a code of ISO 4217, in capitals. */
export function isCurrency(code: string): boolean {
  return known.has(code);
}

/**
 * Creates the parser for currencies.
 *
 * @param fallback the source's currency, for a blank cell or a format without the column; null if there is
 * none.
 */
export function currencyParser(fallback: string | null): (text: string) => string | Fault {
  return remember((text) => {
    const written = text.trim();
    const code = written.toUpperCase();
    if (MINOR_UNIT.test(written)) return BAD_CURRENCY;
    if (code === '') return fallback ?? missingValue('currency');
    return known.has(code) ? code : BAD_CURRENCY;
  });
}

/**
 * Codes of a hundredth of a currency, such as pence: `GBp`, `ZAc`, `ILa`. Read as the currency, an amount would be a
 * hundredfold.
 */
const MINOR_UNIT = /^[A-Z]{2}[a-z]$/;

const BAD_CURRENCY: Fault = {
  code: 'bad_currency',
  reason: 'This is not a currency code of ISO 4217.',
  help: 'Write its three letters, for example EUR.',
};
