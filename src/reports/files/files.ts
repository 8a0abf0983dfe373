import type { SourceSettings } from '../../config/source-fields.ts';
import { FILE_STATES, type SurveyedFile } from '../../core/source.ts';
import { fileName } from '../../core/text/file-name.ts';
import { type Block, item, type Part, section } from '../../render/block.ts';
import { formatCount, plural } from '../../render/text.ts';
import { RELEASE } from './read-files.ts';

export type FilesSection = {
  readonly source: SourceSettings;
  readonly all: readonly SurveyedFile[];
  readonly files: readonly SurveyedFile[];
  readonly limit: number;
};

/** Describes a source: the number of files in each state, then the files with reasons. */
export function describeSurvey({ source, all, files, limit }: FilesSection): readonly Block[] {
  const counts = FILE_STATES.map(
    (state) => [state, all.filter((file) => file.state === state).length] as const,
  )
    .filter(([, count]) => count > 0)
    .map(([state, count]) => `${formatCount(count)} ${state}`);
  const rest = files.length - limit;
  return section(source.name, {
    note: `${plural(all.length, 'file')}${counts.length === 0 ? '' : ` (${counts.join(', ')})`}`,
    // A source without files is shown as well.
    ...(files.length === 0 ? {} : { parts: files.slice(0, limit).map(describeFile) }),
    help: rest > 0 ? `… and ${formatCount(rest)} more: --limit, --state` : null,
    commands: all.some(({ state }) => state === 'held') ? RELEASE : null,
  });
}

function describeFile({ uri, state, why, help, readFor, rows }: SurveyedFile): Part {
  const name = fileName(uri);
  const of = readFor === null || readFor === 'orders' ? '' : ` (${readFor})`;
  const read = rows === null ? '' : ` ${plural(rows, 'row')}`;
  const reason = why === null ? '' : `: ${why.replaceAll(uri, name)}`;
  const text = `${state.padEnd(9)} ${name}${of}${read}${reason}`;
  return item(text, help?.replaceAll(uri, name), state === 'held' ? 'yellow' : undefined);
}
