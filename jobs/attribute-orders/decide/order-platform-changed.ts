import { configurationError, type KnownError } from '../../../src/core/known-error.ts';

/**
 * Creates the error for a changed platform name. The name is part of an order's identity: under another name,
 * every posted order would be posted again.
 */
export function orderPlatformChanged(change: {
  readonly source: string;
  readonly before: string | null;
  readonly now: string;
}): KnownError {
  const { source, before, now } = change;
  return configurationError({
    code: 'order_platform_changed',
    message: `The ledger knows orders of source ${source} with order_platform ${before ?? 'blank'}; it is now ${now}.`,
    help: `Set it back to ${before ?? 'its previous value'}. For another shop, add another source.`,
    safe: 'Nothing was sent under the new name, because the service would credit the orders again.',
  });
}
