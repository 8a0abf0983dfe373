/** A shorter text would be found in ordinary words. */
const MIN_KEY_CHARS = 4;

/** In what the service says of its own accord, an id or a name may hold a short word; no real key is as short. */
const MIN_KEY_CHARS_IN_DATA = 8;

const MARK = '[key]';

/** Takes the key out of a text that the service wrote. `isData`: of an answer that is no error. */
export type KeyMask = (text: string, isData: boolean) => string;

/**
 * Makes the mask of one key, however the service writes it: as it is, with JSON's escapes, or percent-encoded. The client puts every answer
 * through it, so that nothing behind the client can print or store the key: a service may echo what it was given.
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
