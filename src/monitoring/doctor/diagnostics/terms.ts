import { warning } from '../../../core/finding.ts';
import { findBrokenRules } from '../../../money/load-rules.ts';
import type { Diagnostic } from '../../../runs/runnable-kind.ts';

/** Checks terms.csv and fx.csv. A run starts beside mistakes in them, but nothing that depends on them changes. */
export const terms: Diagnostic = {
  name: 'terms',
  async look({ config }) {
    return findBrokenRules(config.statements).map(({ details: { where, message, help, problems = [] } }) => {
      const [first] = problems;
      return warning(
        first === undefined ? `${message} (${where})` : `${message} (${first.where}: ${first.message})`,
        'Open statements cannot be shown or closed, and earnings stay as they are.',
        first?.help ?? help ?? '',
      );
    });
  },
};
