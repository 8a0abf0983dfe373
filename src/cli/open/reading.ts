import { wrap } from '../../core/text/wrap.ts';
import { renderWarning } from '../../render/error.ts';
import type { Output } from '../terminal/output.ts';
import type { DatabaseUse } from './open-config.ts';

/** Opens the database for work that only reads. If the ledger lost claims, it says so and goes on. */
export function reading({ warn, terminal }: Output): Pick<DatabaseUse, 'onLost'> {
  return {
    onLost({ details: { message, help } }) {
      warn(
        renderWarning(
          `${message} Until this is settled, nothing is posted, and what follows may be incomplete.`,
          terminal,
        ),
      );
      warn(wrap(help, { width: terminal.columns, indent: '  ' }));
    },
  };
}
