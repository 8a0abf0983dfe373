import { EXIT } from '../model/exit-code.ts';
import { KnownError } from '../model/known-error.ts';

/** The name is part of an order's identity: under another one, all that was posted would be posted again. */
export function orderPlatformChanged(change: {
  readonly source: string;
  readonly before: string | null;
  readonly now: string;
}): KnownError {
  const { source, before, now } = change;
  return new KnownError({
    code: 'order_platform_changed',
    message: `order_platform of source ${source} was ${before ?? 'blank'} for orders that the ledger knows, and is ${now} now.`,
    help: `Set it back to ${before ?? 'what it was'}; for another shop declare another source.`,
    safe: 'Nothing was sent under the new name: the service would take the orders for new ones.',
    exitCode: EXIT.configuration,
  });
}
