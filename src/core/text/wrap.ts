/** Keeps two words on one line when text is wrapped. */
export const NO_BREAK = '\u00a0';

/**
 * Wraps text at blanks. A longer word gets its own line, and an amount stays with its currency. Line breaks
 * in the text are kept. The indent counts towards the width.
 */
export function wrap(
  text: string,
  options: { readonly width: number; readonly indent: string; readonly firstIndent?: string },
): string {
  const { width, indent, firstIndent = indent } = options;
  const lines: string[] = [];
  for (const paragraph of text.replace(/(\d) (?=[A-Z]{3}\b)/g, `$1${NO_BREAK}`).split('\n')) {
    // An indented line is a command and is never broken.
    const isCommand = paragraph.startsWith('  ');
    let line = lines.length === 0 ? firstIndent : indent;
    let isEmpty = true;
    for (const word of isCommand ? [paragraph] : paragraph.split(/ +/)) {
      if (!isEmpty && line.length + 1 + word.length > width) {
        lines.push(line);
        line = indent;
        isEmpty = true;
      }
      line += isEmpty ? word : ` ${word}`;
      isEmpty = false;
    }
    lines.push(line);
  }
  return lines.join('\n').replaceAll(NO_BREAK, ' ');
}

/** A line or several. What is null or false is left out. */
export type Lines = string | null | false | readonly Lines[];

/** Joins lines. */
export function joinLines(...parts: readonly Lines[]): string {
  const linesOf = (part: Lines): readonly string[] => {
    if (part === null || part === false) return [];
    return typeof part === 'string' ? [part] : part.flatMap(linesOf);
  };
  return linesOf(parts).join('\n');
}
