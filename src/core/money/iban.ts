/**
 * Reads an IBAN as people write it, with blanks and in any case.
 *
 * @returns null if it is not one, or its check digits show that a character is wrong or missing (ISO 13616, modulo 97).
 */
export function parseIban(text: string): string | null {
  const iban = text.replace(/\s/g, '').toUpperCase();
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(iban)) return null;
  let rest = 0;
  for (const sign of `${iban.slice(4)}${iban.slice(0, 4)}`)
    for (const digit of Number.parseInt(sign, 36).toString()) rest = (rest * 10 + Number(digit)) % 97;
  return rest === 1 ? iban : null;
}

/** What shows that an IBAN is the same without telling it: country, check digits and the last four characters. */
export function accountMark(iban: string): string {
  return `${iban.slice(0, 4)}${iban.slice(-4)}`;
}

/** The account in what people see: its last four characters. */
export function lastFour(ibanOrMark: string): string {
  return `…${ibanOrMark.slice(-4)}`;
}

/** Whether a text has the form of a BIC (ISO 9362): 8 or 11 characters, in capitals. */
export function isBic(text: string): boolean {
  return /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}([A-Z0-9]{3})?$/.test(text);
}
