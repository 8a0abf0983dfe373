/**
 * An encoding in which a text can be read, and what it makes of letters beyond ASCII: words of the header, or single
 * letters, which show the encoding and name no person.
 */
export type PossibleEncoding = { readonly encoding: string; readonly samples: readonly string[] };

/** What the encoding of bytes is that are no UTF-8: known, or one of several, of which a person must name one. */
export type GuessedEncoding =
  | { readonly kind: 'known'; readonly encoding: string }
  | { readonly kind: 'unclear'; readonly possible: readonly PossibleEncoding[] };

/** The encoding of most exports that are no UTF-8. It is assumed if every word then looks like one of its languages. */
const USUAL = 'windows-1252';
/**
 * The letters beyond ASCII of the languages that are written in windows-1252. The letters of a word belong to one of
 * them: `Jiøí` is Czech in another encoding. Faroese has ø and í too, in no list together, so it is asked about.
 */
const WESTERN_ALPHABETS = [
  ...['äöüß', 'àâæçéèêëîïôœùûüÿ', 'áéíóúüñçàèòï', 'áâãàçéêíóôõúü', 'àèéìîòóù', 'æøåéèêóòôâüäð'],
  ...['åäöéüšž', 'áéíóúýþæöð', 'äëïöüéèêáíóúàîôû', 'äöõüšž', 'âêîôûäëïöüáéíóúàèìòù', 'ñãäëçéèïü'],
];
const WESTERN = [...new Set(WESTERN_ALPHABETS.join(''))].join('');
const OF_ONE_LANGUAGE = new RegExp(
  `^(?:${WESTERN_ALPHABETS.map((letters) => `[${letters}ºªµ]+`).join('|')})$`,
  'iu',
);
const CENTRAL = 'áąăâäćčçďđéęěëíîĺľłńňóôöőŕřśšşţťúůüűýźżžß';

/** Encodings that exports use, and the letters beyond ASCII of the languages that are written in them. */
const ENCODINGS: readonly (readonly [encoding: string, letters: RegExp])[] = [
  [USUAL, OF_ONE_LANGUAGE],
  ['shift_jis', /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々]+$/u],
  ['gb18030', /^\p{Script=Han}+$/u],
  ['big5', /^\p{Script=Han}+$/u],
  ['euc-jp', /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々]+$/u],
  ['euc-kr', /^[\p{Script=Hangul}\p{Script=Han}]+$/u],
  ['windows-1250', new RegExp(`^[${CENTRAL}]+$`, 'iu')],
  ['windows-1251', /^\p{Script=Cyrillic}+$/u],
  ['koi8-r', /^\p{Script=Cyrillic}+$/u],
  ['ibm866', /^\p{Script=Cyrillic}+$/u],
  ['windows-1253', /^\p{Script=Greek}+$/u],
  ['windows-1254', new RegExp(`^[${WESTERN}ĞğİıŞş]+$`, 'iu')],
  ['macintosh', OF_ONE_LANGUAGE],
];
/** ý, ð and þ are ı, ğ and ş in Turkish. Icelandic has them beside other letters, which Turkish has not. */
const TURKISH_BYTES = /[ýðþ]/iu;
const NORDIC = /[áíóúæ]/iu;

/** Controls of the upper half, lost characters, box drawings, and characters for private use. No export contains them. */
const NEVER = /[\u0080-\u009f\ufffd\u2500-\u259f\ue000-\uf8ff]/;
/** Signs that stand between letters: apostrophes, dashes, marks, the Catalan point. */
const BETWEEN = /[’‘·–—°®™\u00a0\u00ad\u3000-\u303f\uff00-\uff65]/u;
/** Signs that rarely stand in exports, and are bytes of characters in other encodings. */
const RARE = '¯´¨¸¬¦¤±²³¹¢£¥§¶†ˆ˜‰‡×÷¼½¾';
/** Rare signs before a letter: `¯ABA` is ŻABA. Units stand behind fractions and currencies: `½kg`. */
const RARE_BEFORE_LETTER = /[¯´¨¸¬¦¤±²³¹¢ˆ˜‰‡]\p{L}|[£¥¼½¾](?![\0-\x7f])\p{L}/u;
/** Signs in a row, of which one is rare: `‚³‚­‚` is さくら. */
const RARE_IN_ROW = new RegExp(
  `[${RARE}]{2}|(?=[^\\p{L}\\p{M}\\0-\\x7f]{3})[^\\p{L}\\0-\\x7f]{0,2}[${RARE}]`,
  'u',
);
/** Words whose letters are all beyond ASCII: Estonian `öö`, Icelandic `þú`. */
const SHORT = /^(?:([äöõüæ])\1|þ[áéíóúýæö])$/iu;
const SAMPLES = 3;
const SAMPLE_CHARS = 24;
const SAMPLE_LETTERS = 8;

/** Guesses the encoding of the beginning of a text that is no UTF-8. */
export function guessEncoding(head: Uint8Array): GuessedEncoding {
  const possible = possibleEncodings(head);
  return possible[0]?.encoding === USUAL && !mayBeTurkish(decode(head, USUAL) ?? '')
    ? { kind: 'known', encoding: USUAL }
    : { kind: 'unclear', possible };
}

/** Lists the encodings in which every word beyond ASCII is a word of their languages. */
function possibleEncodings(bytes: Uint8Array): readonly PossibleEncoding[] {
  return ENCODINGS.flatMap(([encoding, letters]) => {
    const text = decode(bytes, encoding);
    if (text === null || NEVER.test(text)) return [];
    return wordsBeyondAscii(text, letters).odd > 0 ? [] : [{ encoding, samples: samplesOf(text, letters) }];
  });
}

/**
 * Words of the first line, which has the names of columns. Cells may have names and addresses of people, so of other lines,
 * and of a first one with digits or an address, only the letters are shown, in an order of their own.
 */
function samplesOf(text: string, letters: RegExp): readonly string[] {
  const [first = ''] = text.split(/[\r\n]/, 1);
  const { words } = wordsBeyondAscii(/[@\p{Nd}]/u.test(first) ? '' : first, letters);
  if (words.size > 0) return [...words].slice(0, SAMPLES).map((word) => word.slice(0, SAMPLE_CHARS));
  return [...new Set(text.match(/[^\P{L}\0-\x7f]/gu))].sort().slice(0, SAMPLE_LETTERS);
}

function mayBeTurkish(text: string): boolean {
  return TURKISH_BYTES.test(text) && !NORDIC.test(text);
}

/** Share of words that an encoding must misread. A few names are always strange. */
const MANY = 0.5;

/**
 * Says in which other encodings a text was written that was decoded in the stated one, if half of its words beyond
 * ASCII are no words of the languages of the stated encoding, and all are words in another: `ミア10` in cp932 is
 * `ƒ~ƒA10` in windows-1252.
 *
 * @param text lines with letters beyond ASCII, complete, so that no character is cut.
 * @param stated an encoding of one byte a character; nothing is said about others.
 * @returns null if the text does not contradict the encoding.
 */
export function otherEncodings(text: string, stated: string): readonly string[] | null {
  const encoding = new TextDecoder(stated).encoding;
  const [, letters] = ENCODINGS.find(([name]) => name === encoding) ?? [];
  const bytes = letters === undefined ? null : encodeBytes(text, encoding);
  if (letters === undefined || bytes === null) return null;
  const { words, odd } = wordsBeyondAscii(text, letters);
  if (odd === 0 || odd < words.size * MANY) return null;
  const others = possibleEncodings(bytes).filter((one) => one.encoding !== encoding);
  return others.length === 0 ? null : others.map((one) => one.encoding);
}

/** Encodes a text with one byte for each character; null if it cannot be. */
function encodeBytes(text: string, encoding: string): Uint8Array | null {
  const every = new TextDecoder(encoding).decode(Uint8Array.from({ length: 256 }, (_, byte) => byte));
  const places = new Map([...every].map((character, byte) => [character, byte]));
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) {
    const byte = places.get(text[at] ?? '');
    if (byte === undefined) return null;
    bytes[at] = byte;
  }
  return bytes;
}

function decode(head: Uint8Array, encoding: string): string | null {
  try {
    // The last character may be cut off.
    return new TextDecoder(encoding, { fatal: true }).decode(head, { stream: true });
  } catch {
    return null;
  }
}

/**
 * Returns the different words with letters or signs beyond ASCII, and how many of them are no words of the languages
 * that have these letters: a wrong encoding joins letters that never stand together.
 */
function wordsBeyondAscii(
  text: string,
  letters: RegExp,
): { readonly words: ReadonlySet<string>; readonly odd: number } {
  const words = new Set<string>();
  let odd = 0;
  for (const [word] of text.matchAll(/[^\s!-&(-,./:-@[-`{-~]+/gu)) {
    if (!/[^\0-\x7f]/.test(word) || words.has(word)) continue;
    words.add(word);
    if (!isWord(word, letters)) odd += 1;
  }
  return { words, odd };
}

function isWord(word: string, letters: RegExp): boolean {
  if (RARE_BEFORE_LETTER.test(word) || RARE_IN_ROW.test(word)) return false;
  // A sign within a word is a letter of another encoding: `z³oty`, `Gr”áe`.
  for (const [sign] of word.matchAll(/(?<=\p{L})[^\p{L}\p{M}\p{Nd}\0-\x7f](?=[\p{L}\p{Nd}])/gu))
    if (!BETWEEN.test(sign)) return false;
  for (const [run] of word.matchAll(/[\p{L}\p{M}]+/gu)) {
    const beyond = run.replace(/[\0-\x7f]+/g, '');
    if (beyond === '') continue;
    if (!letters.test(beyond) || /\p{Ll}\p{Lu}/u.test(beyond)) return false;
    // Œ is French, and stands before u and i.
    if (/[Œœ](?![ui])/i.test(run)) return false;
    if (/\p{Script=Latin}/u.test(beyond)) {
      // Words have ASCII letters too, and few accents in a row: not `Ïðèâåò`.
      if ((run.length > 1 && beyond === run && !SHORT.test(run)) || /[^\0-\x7f]{4}/u.test(run)) return false;
    } else if (/[\uff61-\uff9f]/.test(beyond) ? beyond !== run : /[a-z]/.test(run)) return false;
  }
  return true;
}
