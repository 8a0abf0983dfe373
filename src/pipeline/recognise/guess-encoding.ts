import { maskAddresses } from '../../model/text/mask-addresses.ts';

/** An encoding in which a text can be read, and words beyond ASCII as they look in it. */
export type PossibleEncoding = { readonly encoding: string; readonly samples: readonly string[] };

/** What the encoding of bytes is that are no UTF-8: known, or one of several, of which a person must name one. */
export type GuessedEncoding =
  | { readonly kind: 'known'; readonly encoding: string }
  | { readonly kind: 'unclear'; readonly possible: readonly PossibleEncoding[] };

/** The encoding of most exports that are no UTF-8. It is assumed if every word then looks like one of its languages. */
const USUAL = 'windows-1252';
const WESTERN = 'ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜßàáâãäåæçèéêëìíîïñòóôõöøùúûüÿŒœºªµ';
const CENTRAL = 'ÁáĄąĂăÂâÄäĆćČčÇçĎďĐđÉéĘęĚěËëÍíÎîĹĺĽľŁłŃńŇňÓóÔôÖöŐőŔŕŘřŚśŠšŞşŢţŤťÚúŮůÜüŰűÝýŹźŻżŽžß';

/** Encodings that exports use, and the letters beyond ASCII of the languages that are written in them. */
const ENCODINGS: readonly (readonly [encoding: string, letters: RegExp])[] = [
  [USUAL, new RegExp(`^[${WESTERN}]+$`, 'u')],
  ['shift_jis', /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々]+$/u],
  ['gb18030', /^\p{Script=Han}+$/u],
  ['big5', /^\p{Script=Han}+$/u],
  ['euc-jp', /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々]+$/u],
  ['euc-kr', /^[\p{Script=Hangul}\p{Script=Han}]+$/u],
  ['windows-1250', new RegExp(`^[${CENTRAL}]+$`, 'u')],
  ['windows-1251', /^\p{Script=Cyrillic}+$/u],
  ['koi8-r', /^\p{Script=Cyrillic}+$/u],
  ['ibm866', /^\p{Script=Cyrillic}+$/u],
  ['windows-1253', /^\p{Script=Greek}+$/u],
  ['windows-1254', new RegExp(`^[${WESTERN}ĞğİıŞş]+$`, 'u')],
  ['macintosh', new RegExp(`^[${WESTERN}]+$`, 'u')],
];

/** Controls of the upper half, lost characters, box drawings, and characters for private use. No export contains them. */
const NEVER = /[\u0080-\u009f\ufffd\u2500-\u259f\ue000-\uf8ff]/;
/** Signs that stand between letters: apostrophes, dashes, marks, the Catalan point. */
const BETWEEN = /[’‘·–—°®™\u00a0\u00ad]/u;
const SAMPLES = 3;
const SAMPLE_CHARS = 24;

/** Guesses the encoding of the beginning of a text that is no UTF-8. */
export function guessEncoding(head: Uint8Array): GuessedEncoding {
  const possible = ENCODINGS.flatMap(([encoding, letters]) => {
    const text = decode(head, encoding);
    const words = text === null ? null : wordsBeyondAscii(text, letters);
    return words === null ? [] : [{ encoding, samples: words.slice(0, SAMPLES) }];
  });
  return possible[0]?.encoding === USUAL ? { kind: 'known', encoding: USUAL } : { kind: 'unclear', possible };
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
 * Returns the different words with letters beyond ASCII; null if one of them is no word of the languages that have
 * these letters: a wrong encoding joins letters that never stand together.
 */
function wordsBeyondAscii(text: string, letters: RegExp): readonly string[] | null {
  if (NEVER.test(text)) return null;
  const found = new Set<string>();
  for (const [word] of text.matchAll(/[^\s!-&(-,./:-@[-`{-~]+/gu)) {
    if (!/[^\0-\x7f]/.test(word)) continue;
    if (!isWord(word, letters)) return null;
    if (found.size < SAMPLES) found.add(maskAddresses(word).slice(0, SAMPLE_CHARS));
  }
  return [...found];
}

function isWord(word: string, letters: RegExp): boolean {
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
      if ((run.length > 1 && beyond === run) || /[^\0-\x7f]{3}/u.test(run)) return false;
    } else if (/[\uff61-\uff9f]/.test(beyond) ? beyond !== run : /[a-z]/.test(run)) return false;
  }
  return true;
}
