/** Marks around a word, as a message puts them: quotes, brackets, a full stop. */
const AROUND = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;

/**
 * Takes out of what the service says every word that is the name before the @ of one of these addresses. Whole addresses are masked where
 * the text is read; a service that quotes the name alone still names a person.
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
