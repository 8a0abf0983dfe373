import { COLUMN_ROLES, type ColumnRole, CUSTOMER_ROLES, type StatedRoles } from '../../core/column-role.ts';
import { EXIT } from '../../core/exit-code.ts';
import { KnownError } from '../../core/known-error.ts';
import { foldHeader } from '../../core/text/fold.ts';
import { toPrintableLine } from '../../core/text/printable.ts';
import type { UnclearColumn } from './recognise/assign-columns.ts';
import type { Recognised } from './recognise/recognise.ts';

/** What a person has said about files whose columns or letters do not show what they are. */
export type SaidOfFiles = { readonly stated: StatedRoles; readonly encoding: string | null };

/** What a person may say more about, in one file or source. */
export type Unclear = Pick<Recognised['refused'][number], 'name' | 'unclear' | 'possible'>;
type Refused = Recognised['refused'][number];
type Terminal = { readonly input: NodeJS.ReadStream; readonly output: NodeJS.WriteStream };

/** True if a file could be read after an answer. */
export function isUnclear({ unclear = [], possible }: Refused): boolean {
  return unclear.length > 0 || possible !== undefined;
}

/** The columns that are read as a no unless a person says otherwise, to be asked about in a terminal. */
export function assumedOf({ sources }: Recognised): readonly Unclear[] {
  return sources.flatMap(({ name, proposed }) =>
    proposed === null || proposed.assumed.length === 0 ? [] : [{ name, unclear: proposed.assumed }],
  );
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
        help: `For example =${column.likely}. Roles: ${rolesOf(column).join(', ')}. ${LABELS.excludes}. ${LABELS.unused}.`,
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

/** The roles that a column may have, the likely one first. */
function rolesOf({ likely, isOfCustomers = false }: UnclearColumn): readonly ColumnRole[] {
  return [likely, ...(isOfCustomers ? CUSTOMER_ROLES : ORDER_ROLES).filter((role) => role !== likely)];
}

function samplesOf({ samples }: Pick<UnclearColumn, 'samples'>): string {
  return samples.length === 0 ? '' : ` (${samples.map(toPrintableLine).join(', ')})`;
}

/** Asks about each column and encoding. Null if the person cancelled. */
export async function askAboutFiles(
  files: readonly Unclear[],
  { said, terminal }: { readonly said: SaidOfFiles; readonly terminal: Terminal },
): Promise<SaidOfFiles | null> {
  const { isCancel, select } = await import('@clack/prompts');
  const stated = new Map(said.stated);
  let { encoding } = said;
  for (const { name, unclear = [], possible = [] } of files) {
    for (const column of unclear) {
      const role = await select<ColumnRole>({
        message: toPrintableLine(
          `What is the column "${column.header}" of ${name}? ${column.why}${samplesOf(column)}`,
        ),
        ...terminal,
        options: rolesOf(column).map((value) => ({ value, label: LABELS[value] ?? value })),
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

const ORDER_ROLES = COLUMN_ROLES.filter((role) => role !== 'consent');
const LABELS: Readonly<Partial<Record<ColumnRole, string>>> = {
  consent: 'consent: customers are submitted if the cell has a word that means yes',
  excludes: 'excludes: nothing is posted or submitted if the cell says anything but no',
  unused: 'unused: it does not matter',
};
