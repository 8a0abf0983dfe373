import type { CheckFinding } from '../../core/checks/check-result.ts';
import { fileName } from '../../core/text/file-name.ts';
import type { Part, Section } from '../../render/block.ts';

/**
 * Describes findings of checks and how to acknowledge them.
 *
 * @param configOption as in `RunSummary`; null if the findings cannot be acknowledged.
 */
export function describeFindings(
  findings: readonly CheckFinding[],
  configOption: string | null,
): readonly Section[] {
  const held = findings.filter(({ verdict }) => verdict === 'held');
  const counting = findings.filter(({ verdict }) => verdict !== 'held');
  return [
    ...describeAlike(held, { configOption, title: 'Held by checks', note: 'nothing in these files counts' }),
    ...describeAlike(counting, {
      ...{ configOption, title: 'Unusual files', note: 'these files count; check that they are right' },
    }),
  ];
}

function describeAlike(
  findings: readonly CheckFinding[],
  options: { readonly configOption: string | null; readonly title: string; readonly note: string },
): readonly Section[] {
  const { configOption, title, note } = options;
  const [first] = findings;
  if (first === undefined) return [];
  const parts = findings.map(describeFinding);
  const section = { kind: 'section', title, count: findings.length, note, parts } as const;
  if (configOption === null) return [section];
  const command = `npx influencer-sync checks acknowledge ${first.findingId} --reason '…'${configOption}`;
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
