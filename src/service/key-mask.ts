/** A shorter key would match parts of ordinary words. */
const MIN_KEY_CHARS = 4;

/**
 * Minimum length for answers that are not errors, because their ids and names may contain short words. No
 * real key is this short.
 */
const MIN_KEY_CHARS_IN_DATA = 8;

const MARK = '[key]';

/**
 * Replaces the key in a text that the service sent.
 * @param isData true if the answer is not an error.
 */
export type KeyMask = (text: string, isData: boolean) => string;

/**
 * Creates the mask of one key. It finds the key as it is, with JSON escapes, or percent-encoded. The client
 * passes every answer through it, because a service may echo what it received. So no code that uses the
 * client can print or store the key.
 */
export function createKeyMask(key: string): KeyMask {
  const escaped = new RegExp([...key].map(waysToWrite).join(''), 'g');
  return (text, isData) => {
    if (key.length < (isData ? MIN_KEY_CHARS_IN_DATA : MIN_KEY_CHARS)) return text;
    const plain = text.includes(key) ? text.replaceAll(key, MARK) : text;
    return /[\\%]/.test(plain) ? plain.replace(escaped, MARK) : plain;
  };
}

function waysToWrite(character: string): string {
  const code = character.charCodeAt(0).toString(16);
  const anyCase = [...code].map((digit) => `[${digit}${digit.toUpperCase()}]`).join('');
  const literal = character.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
  return `(?:\\\\u00${anyCase}|%${anyCase}|\\\\?${literal})`;
}
