import type { SourceSettings } from '../../config/source-fields.ts';
import type { ReadFor } from '../../core/layout.ts';
import { FILE_STATES, type SurveyedFile } from '../../core/source.ts';
import { fileName } from '../../core/text/file-name.ts';
import { wrap } from '../../core/text/wrap.ts';
import type { Terminal } from '../../render/terminal.ts';
import { formatCount, plural } from '../../render/text.ts';

export type FilesSection = {
  readonly source: SourceSettings;
  readonly all: readonly SurveyedFile[];
  /** The files to show. */
  readonly files: readonly SurveyedFile[];
  readonly limit: number;
};

/** Renders a source: the number of files in each state, then the files with reasons. */
export function renderFiles({ source, all, files, limit }: FilesSection, terminal: Terminal): string {
  const counts = FILE_STATES.map(
    (state) => [state, all.filter((file) => file.state === state).length] as const,
  )
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${formatCount(count)} ${state}`);
  const title = `${terminal.style('bold', source.name)}: ${plural(all.length, 'file')}${counts.length === 0 ? '' : ` (${counts.join(', ')})`}`;
  const lines = files.slice(0, limit).flatMap((file) => renderFile(file, terminal));
  const more =
    files.length > limit ? [`  … and ${formatCount(files.length - limit)} more: --limit, --state`] : [];
  const hint = all.some(({ state }) => state === 'held')
    ? [
        terminal.style('dim', '  # end the hold of a file that you do not need'),
        "  npx influencer-sync files release NAME --reason '…'",
      ]
    : [];
  return `${[title, ...lines, ...more, ...hint].join('\n')}\n`;
}

/** What a file is read for, if not orders. */
const READ_FOR: Readonly<Record<ReadFor, string>> = {
  orders: '',
  customers: ' (customers)',
  clicks: ' (clicks)',
  creators: ' (creators)',
};

function renderFile(
  { uri, state, why, help, readFor, rows }: SurveyedFile,
  terminal: Terminal,
): readonly string[] {
  const { columns: width } = terminal;
  const of = readFor === null ? '' : READ_FOR[readFor];
  const read = rows === null ? '' : ` ${plural(rows, 'row')}`;
  const name = fileName(uri);
  const reason = why === null ? '' : `: ${why.replaceAll(uri, name)}`;
  const text = `${state.padEnd(9)} ${name}${of}${read}${reason}`;
  const line = wrap(text, { width, indent: '            ', firstIndent: '  ' });
  const advice =
    help === null
      ? []
      : [terminal.style('cyan', wrap(help.replaceAll(uri, name), { width, indent: '            ' }))];
  return [state === 'held' ? terminal.style('yellow', line) : line, ...advice];
}
