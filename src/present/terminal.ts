import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

/** What a renderer needs to know about where its text goes. */
export type Terminal = {
  /** Width to fit in. */
  readonly columns: number;
  /** A person watches, not a pipe: progress may be redrawn in place. */
  readonly isInteractive: boolean;
  /** `style` puts sequences into the text. */
  readonly isStyled: boolean;
  /** It shows more than ASCII: its locale says UTF-8. */
  readonly hasUnicode: boolean;
  /** Colours the text where that is wanted; otherwise gives it back as it is. */
  style(format: Format, text: string): string;
};

/** Of the environment. */
type Variables = Readonly<Record<string, string | undefined>>;

type Stream = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

/** A pipe has no width; this is what people read in mails and logs. */
const DEFAULT_COLUMNS = 80;
const MIN_COLUMNS = 40;
/** Longer lines are hard to read on a wide terminal too. */
const MAX_COLUMNS = 120;

/** Colour only on a terminal, unless NO_COLOR or FORCE_COLOR say otherwise: `styleText` knows those rules. */
export function createTerminal(stream: Stream, env: Variables): Terminal {
  const isInteractive = stream.isTTY === true;
  const style: Terminal['style'] = (format, text) =>
    styleText(format, text, { stream, validateStream: true });
  return {
    columns: Math.min(MAX_COLUMNS, Math.max(MIN_COLUMNS, stream.columns ?? DEFAULT_COLUMNS)),
    isInteractive,
    isStyled: style('bold', 'x') !== 'x',
    hasUnicode: hasUnicode(process.platform, env),
    style,
  };
}

/** The first of the three that is set decides, as in POSIX. Windows has no such variables, and its terminals show Unicode. */
export function hasUnicode(platform: string, env: Variables): boolean {
  if (platform === 'win32') return true;
  return /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '');
}

/** Text only, of a fixed width. */
export function plainTerminal(columns: number = DEFAULT_COLUMNS): Terminal {
  return { columns, isInteractive: false, isStyled: false, hasUnicode: true, style: (_format, text) => text };
}
