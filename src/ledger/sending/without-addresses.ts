/** Punctuation around a word in a message: quotes, brackets, a full stop. */
const AROUND = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;

/**
 * Removes every word from a message that equals the local part (before the @) of one of the addresses. Whole
 * addresses are masked where the text is read, but a service that quotes only the local part still names a
 * person.
 */
export function withoutAddresses(message: string, addresses: readonly string[]): string {
  const names = new Set(addresses.map((address) => bare(address.slice(0, address.lastIndexOf('@')))));
  return message.replace(/\S+/g, (word) => {
    const core = word.replaceAll(AROUND, '');
    return core !== '' && names.has(core.toLowerCase()) ? word.replace(core, '***') : word;
  });
}

function bare(name: string): string {
  return name.toLowerCase().replaceAll(AROUND, '');
}
