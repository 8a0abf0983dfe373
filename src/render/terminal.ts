import { styleText } from 'node:util';

type Format = Parameters<typeof styleText>[0];

/** The properties of the output device that renderers need. */
export type Terminal = {
  /** Width of text in cells, which is less than that of a wide terminal. */
  readonly columns: number;
  /** Width of tables: the whole terminal. By default that of text. */
  readonly tableColumns?: number;
  /** Whether a person watches, so that progress can be redrawn in place; false for a pipe. */
  readonly isInteractive: boolean;
  /** Whether `style` inserts escape sequences. */
  readonly isStyled: boolean;
  /** Whether it can show more than ASCII: its locale is UTF-8. */
  readonly hasUnicode: boolean;
  /** Styles the text if styling is enabled; otherwise returns it unchanged. */
  style(format: Format, text: string): string;
};

type Variables = Readonly<Record<string, string | undefined>>;

type Stream = NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };

/** A pipe has no width. This is a common width for mails and logs. */
const DEFAULT_COLUMNS = 80;
const MIN_COLUMNS = 40;
/** Longer lines are hard to read, even on a wide terminal. */
const MAX_COLUMNS = 120;

/**
 * Describes a stream. Colours are used only on a terminal, unless NO_COLOR or FORCE_COLOR is set; `styleText`
 * implements these rules.
 */
export function createTerminal(stream: Stream, env: Variables): Terminal {
  const isInteractive = stream.isTTY === true;
  const style: Terminal['style'] = (format, text) =>
    styleText(format, text, { stream, validateStream: true });
  const tableColumns = Math.max(MIN_COLUMNS, stream.columns ?? DEFAULT_COLUMNS);
  return {
    columns: Math.min(MAX_COLUMNS, tableColumns),
    tableColumns,
    isInteractive,
    isStyled: style('bold', 'x') !== 'x',
    hasUnicode: hasUnicode(process.platform, env),
    style,
  };
}

/**
 * @returns true if the locale is UTF-8. As in POSIX, the first of the three variables that is set decides.
 *   Windows has no such variables, and its terminals show Unicode.
 */
export function hasUnicode(platform: string, env: Variables): boolean {
  if (platform === 'win32') return true;
  return /utf-?8/i.test(env.LC_ALL || env.LC_CTYPE || env.LANG || '');
}
