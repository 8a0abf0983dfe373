import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import type { Finding } from '../../core/finding.ts';
import { renderFinding, renderVerdict } from '../../reports/findings.ts';
import type { Output } from './output.ts';

/** Shows findings as they come, and counts them. */
export function openFindings(output: Output) {
  const counts: Record<Finding['status'], number> = { ok: 0, warning: 0, problem: 0 };
  let isBusy = false;
  return {
    show(found: Finding): void {
      const { fix } = found;
      const finding = fix === undefined ? found : { ...found, fix: output.complete(fix) };
      counts[finding.status] += 1;
      isBusy ||= finding.isBusy === true;
      output.emit({ event: 'finding', ...finding });
      output.print(renderFinding(finding, output.terminal));
    },
    /** Shows the counts at the end. @returns 2 if there is a problem. */
    end(event: string): ExitCode {
      output.emit({ event, ...counts });
      output.print(renderVerdict({ ...counts, isBusy }, output.terminal));
      return counts.problem > 0 ? EXIT.configuration : EXIT.ok;
    },
  };
}
