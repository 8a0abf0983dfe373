import { COLUMN_ROLES, type ColumnRole, type StatedRoles } from '../../../model/column-role.ts';
import { EXIT } from '../../../model/exit-code.ts';
import { KnownError } from '../../../model/known-error.ts';
import { foldHeader } from '../../../model/text/fold.ts';
import { toPrintableLine } from '../../../model/text/printable.ts';
import type { UnclearColumn } from '../../../pipeline/recognise/assign-columns.ts';
import type { Recognised } from '../../../pipeline/recognise/recognise.ts';

/** What a person has said about files whose columns or letters do not show what they are. */
export type SaidOfFiles = { readonly stated: StatedRoles; readonly encoding: string | null };

type Refused = Recognised['refused'][number];
type Terminal = { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WriteStream };

/** True if a file could be read after an answer. */
export function isUnclear({ unclear = [], possible }: Refused): boolean {
  return unclear.length > 0 || possible !== undefined;
}

/** The error if nobody can be asked: each column or encoding, with the option that answers it. */
export function filesUnclear(files: readonly Refused[]): KnownError {
  return new KnownError({
    code: 'answers_missing',
    message: 'Some files do not show what money depends on, and there is no terminal in which to ask you.',
    help: 'Give the options and run the command again, run it in a terminal, or move the files elsewhere.',
    safe: 'Nothing was written.',
    problems: files.flatMap(({ name, why, unclear = [], possible }) => [
      ...unclear.map((column) => ({
        where: `--column "${toPrintableLine(column.header)}=ROLE"`,
        message: `${name}: what is this column? ${column.why}${samplesOf(column)}`,
        help: `For example =${column.likely}. Roles: ${COLUMN_ROLES.join(', ')}. excludes: orders are never posted if the cell says anything but no. unused: it does not matter.`,
      })),
      ...(possible === undefined
        ? []
        : [
            {
              where: '--encoding NAME',
              message: `${name}: ${why}`,
              help: 'Name the encoding in which the words look right.',
            },
          ]),
    ]),
    exitCode: EXIT.configuration,
  });
}

function samplesOf({ samples }: Pick<UnclearColumn, 'samples'>): string {
  return samples.length === 0 ? '' : ` (${samples.map(toPrintableLine).join(', ')})`;
}

/** Asks about each column and encoding. Null if the person cancelled. */
export async function askAboutFiles(
  files: readonly Refused[],
  { said, terminal }: { readonly said: SaidOfFiles; readonly terminal: Terminal },
): Promise<SaidOfFiles | null> {
  const { isCancel, select } = await import('@clack/prompts');
  const stated = new Map(said.stated);
  let { encoding } = said;
  for (const { name, unclear = [], possible = [] } of files) {
    for (const column of unclear) {
      const roles = [column.likely, ...COLUMN_ROLES.filter((role) => role !== column.likely)];
      const role = await select<ColumnRole>({
        message: toPrintableLine(
          `What is the column "${column.header}" of ${name}? ${column.why}${samplesOf(column)}`,
        ),
        ...terminal,
        options: roles.map((value) => ({ value, label: LABELS[value] ?? value })),
      });
      if (isCancel(role)) return null;
      stated.set(foldHeader(column.header), role);
    }
    if (possible.length === 0 || encoding !== null) continue;
    const answer = await select<string>({
      message: toPrintableLine(`In which encoding do the words of ${name} look right?`),
      ...terminal,
      options: possible.map(({ encoding: value, samples }) => ({
        value,
        label: toPrintableLine(`${value}: ${samples.join(', ')}`),
      })),
    });
    if (isCancel(answer)) return null;
    encoding = answer;
  }
  return stated.size === said.stated.size && encoding === said.encoding ? null : { stated, encoding };
}

const LABELS: Readonly<Partial<Record<ColumnRole, string>>> = {
  excludes: 'excludes: orders are never posted if the cell says anything but no',
  unused: 'unused: it does not matter',
};
