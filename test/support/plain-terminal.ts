import type { Terminal } from '../../src/render/terminal.ts';

/** A terminal without styles and with a fixed width. */
export function plainTerminal(columns = 80): Terminal {
  return { columns, isInteractive: false, isStyled: false, hasUnicode: true, style: (_format, text) => text };
}
