/*
 * Codes inside text: `Code: MIRA10, thanks` in a note. A cell of codes that no pattern reads is one code, so such a text
 * is a code without an owner, and credits no influencer.
 */

/** A word for a code, what separates it from the code, and the code. */
const IN_TEXT =
  /(?:code|kode?|koodi|c[oó]digo|codice|coupon|cup[oó]n|voucher|gutschein)s?(?:\scode)?[\s:=#]+([\p{L}\p{N}_-]{3,30})/iu;

/**
 * `codes.pattern` of a layout for cells of text. Its last part matches a blank, so that several words without a code are
 * none. One word alone is a code.
 */
export const CODES_IN_TEXT = `${IN_TEXT.source}|\\s`;

/** The part of a text that names a code, such as `Code: MIRA10`. Null if none does, or if the text is a code. */
export function codeInText(text: string): string | null {
  const [part, code = ''] = IN_TEXT.exec(text) ?? [];
  return part !== undefined && /\p{L}/u.test(code) && /\p{N}/u.test(code) ? part : null;
}

/** What a person does about texts that count as codes; null if no text among them names one. */
export function helpForCodesInText(codes: readonly string[]): string | null {
  const [part] = codes.flatMap((code) => codeInText(code) ?? []);
  return part === undefined
    ? null
    : `Codes are inside text, such as ${JSON.stringify(part)}. To read the codes, put this line into the layout of the source and read the files again (npx influencer-sync files reread --layout NAME):  codes: { pattern: '${CODES_IN_TEXT}' }`;
}
