import type { PipelineConfig } from '../config/schema.ts';
import { configurationError } from '../core/known-error.ts';
import { parseAddress } from '../intake/customers/map/parse-address.ts';

/**
 * Parses an address that a person typed, and normalises it as intake does.
 *
 * @throws KnownError `bad_address` (exit 2). The error does not contain the text.
 */
export function requireAddress(text: string): string {
  const address = parseAddress(text);
  if (typeof address === 'string' && address !== '') return address;
  throw configurationError({
    code: 'bad_address',
    message: 'This is not an e-mail address.',
    help: 'Write it like jane@example.com.',
  });
}

/** Brands for which the configuration reads customers. */
export function customerBrands({ jobs }: PipelineConfig): readonly string[] {
  return [...new Set(Object.values(jobs).flatMap(({ customersOf }) => customersOf ?? []))];
}

/**
 * The leases of all jobs that read or send customers. While a process holds them, no run has an address in
 * memory.
 */
export function customerLeases({ jobs }: PipelineConfig): readonly string[] {
  return Object.values(jobs).flatMap(({ name, customersOf }) =>
    customersOf === undefined ? [] : [`job:${name}`],
  );
}
