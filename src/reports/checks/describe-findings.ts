import type { CheckFinding } from '../../core/checks/check-result.ts';
import { fileName } from '../../core/text/file-name.ts';
import type { Part, Section } from '../../render/block.ts';

/**
 * Describes findings of checks and, unless nothing of them is stored, how to acknowledge them.
 */
export function describeFindings(
  findings: readonly CheckFinding[],
  { isStored = true }: { readonly isStored?: boolean } = {},
): readonly Section[] {
  const held = findings.filter(({ verdict }) => verdict === 'held');
  const counting = findings.filter(({ verdict }) => verdict !== 'held');
  return [
    ...describeAlike(held, { isStored, title: 'Held by checks', note: 'nothing in these files counts' }),
    ...describeAlike(counting, {
      ...{ isStored, title: 'Unusual files', note: 'these files count; check that they are right' },
    }),
  ];
}

function describeAlike(
  findings: readonly CheckFinding[],
  options: { readonly isStored: boolean; readonly title: string; readonly note: string },
): readonly Section[] {
  const { isStored, title, note } = options;
  const [first] = findings;
  if (first === undefined) return [];
  const parts = findings.map(describeFinding);
  const section = { kind: 'section', title, count: findings.length, note, parts } as const;
  if (!isStored) return [section];
  const command = `npx influencer-sync checks acknowledge ${first.findingId} --reason '…'`;
  return [{ ...section, commands: { about: 'if a file is correct', lines: [command] } }];
}

/**
 * Describes a finding and the lines that show it: `#12 orders-2026-04-10.csv (source shop): The file has 12
 * rows; …`.
 */
function describeFinding({ findingId, uri, source, message, lines }: CheckFinding): Part {
  const where =
    lines.length === 0 ? '' : ` See ${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}.`;
  return { kind: 'item', text: `#${findingId} ${fileName(uri)} (source ${source}): ${message}${where}` };
}
