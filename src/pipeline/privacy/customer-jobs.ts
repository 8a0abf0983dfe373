import { parseAddress } from '../../map/customers/parse-address.ts';
import type { PipelineConfig } from '../../model/config.ts';
import { EXIT } from '../../model/exit-code.ts';
import { KnownError } from '../../model/known-error.ts';

/**
 * The address that a person typed, normalised as intake normalises it.
 *
 * @throws KnownError `bad_address` (exit 2), which does not repeat it.
 */
export function requireAddress(text: string): string {
  const address = parseAddress(text);
  if (typeof address === 'string' && address !== '') return address;
  throw new KnownError({
    code: 'bad_address',
    message: 'This is not an e-mail address.',
    help: 'Write it like jane@example.com.',
    exitCode: EXIT.configuration,
  });
}

/** Brands of the configuration that have customers. */
export function customerBrands({ jobs }: PipelineConfig): readonly string[] {
  return [...new Set(Object.values(jobs).flatMap(({ customersOf }) => customersOf ?? []))];
}

/** Leases of all jobs that read or send customers: whoever holds them knows that no run has an address in its memory. */
export function customerLeases({ jobs }: PipelineConfig): readonly string[] {
  return Object.values(jobs).flatMap(({ name, customersOf }) =>
    customersOf === undefined ? [] : [`job:${name}`],
  );
}
