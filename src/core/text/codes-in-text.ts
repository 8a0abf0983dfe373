/*
 * Codes inside text: `Code: MIRA10, thanks` in a note. A cell of codes that no pattern reads is one code, so such a text
 * is a code without an owner, and credits no influencer.
 */

/** A word for a code, what separates it from the code, and the code; of a list, each word, since each may be a code. */
const IN_TEXT =
  /(?:code|kode?|koodi|c[oó]digo|codice|coupon|cup[oó]n|voucher|gutschein)s?(?:\scode)?[\s:=#]+([\p{L}\p{N}_-]{3,30}(?:(?:\s?[,;+&/]\s?|\s(?:and|und|en|et|y)\s)[\p{L}\p{N}_-]{3,30})*)/iu;

/**
 * `codes` of a layout for cells of text. The last part of the pattern matches a blank, so that several words without a
 * code are none. One word alone is a code.
 */
export const CODES_IN_TEXT = {
  pattern: `${IN_TEXT.source}|\\s`,
  split: [',', ';', '+', '&', '/', ' and ', ' und ', ' en ', ' et ', ' y '],
};

/** The line of a layout that reads codes inside text. */
export const LINE_OF_CODES = `codes: { pattern: '${CODES_IN_TEXT.pattern}', split: ${JSON.stringify(CODES_IN_TEXT.split)} }`;

/** The part of a text that names its first code, such as `Code: MIRA10`. Null if none does, or if the text is a code. */
export function codeInText(text: string): string | null {
  const [part, list = ''] = IN_TEXT.exec(text) ?? [];
  const [code = ''] = list.split(/[\s,;+&/]/);
  if (part === undefined || !/\p{L}/u.test(code) || !/\p{N}/u.test(code)) return null;
  return part.slice(0, part.length - list.length + code.length);
}

/** What a person does about texts that count as codes; null if no text among them names one. */
export function helpForCodesInText(codes: readonly string[]): string | null {
  const [part] = codes.flatMap((code) => codeInText(code) ?? []);
  return part === undefined
    ? null
    : `Codes are inside text, such as ${JSON.stringify(part)}. To read the codes, put this line into the layout of the source and read the files again (npx influencer-sync files reread --layout NAME):  ${LINE_OF_CODES}`;
}
