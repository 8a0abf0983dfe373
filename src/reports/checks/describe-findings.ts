import type { CheckFinding } from '../../core/checks/check-result.ts';
import { fileName } from '../../core/text/file-name.ts';
import { item, type Part, type Section, section } from '../../render/block.ts';

/**
 * Describes findings of checks and, unless nothing of them is stored, how to acknowledge them.
 */
export function describeFindings(
  findings: readonly CheckFinding[],
  { isStored = true }: { readonly isStored?: boolean } = {},
): readonly Section[] {
  const alike = (title: string, note: string, some: readonly CheckFinding[]): readonly Section[] => {
    const command = `npx influencer-sync checks acknowledge ${some[0]?.findingId} --reason '…'`;
    return section(title, {
      count: some.length,
      note,
      parts: some.map(describeFinding),
      commands: isStored ? { about: 'if a file is correct', lines: [command] } : null,
    });
  };
  const isHeld = ({ verdict }: CheckFinding) => verdict === 'held';
  return [
    ...alike('Held by checks', 'nothing in these files counts', findings.filter(isHeld)),
    ...alike(
      'Unusual files',
      'these files count; check that they are right',
      findings.filter((finding) => !isHeld(finding)),
    ),
  ];
}

/**
 * Describes a finding and the lines that show it: `#12 orders-2026-04-10.csv (source shop): The file has 12
 * rows; …`.
 */
function describeFinding({ findingId, uri, source, message, lines }: CheckFinding): Part {
  const where =
    lines.length === 0 ? '' : ` See ${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}.`;
  return item(`#${findingId} ${fileName(uri)} (source ${source}): ${message}${where}`);
}
