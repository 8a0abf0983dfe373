import type { S3Operation, S3Target } from './s3-protocol.ts';

/** A fault that affects the next matching requests. */
export type Fault = {
  readonly operation: S3Operation;
  /** Any key if omitted. */
  readonly key?: string;
  /** Number of affected requests. Defaults to 1. */
  times?: number;
} & FaultKind;

type FaultKind =
  /** The connection is cut after this number of bytes of the body. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /**
   * The body ends after this number of bytes as if it were complete, because the headers contain neither
   * length nor checksum.
   */
  | { readonly kind: 'end'; readonly afterBytes: number; readonly thenCut?: boolean }
  /** Nothing more is sent after this number of bytes of the body, and the connection stays open. */
  | { readonly kind: 'stall'; readonly afterBytes: number }
  | { readonly kind: 'stall_before_headers' }
  /** One byte of the body is changed, which networks normally prevent. */
  | { readonly kind: 'damage'; readonly atByte: number }
  /**
   * Something happens while the body is being sent, for example the object is replaced. The connection may be
   * cut afterwards.
   */
  | {
      readonly kind: 'meanwhile';
      readonly afterBytes: number;
      readonly act: () => void;
      readonly thenCut?: boolean;
    }
  | {
      readonly kind: 'error';
      readonly status: number;
      readonly code: string;
      readonly headers?: Readonly<Record<string, string>>;
      /** Additional elements of the answer's XML, for example Region. */
      readonly fields?: Readonly<Record<string, string>>;
    };

/** Returns the fault for a request, or null. A fault is removed once it has been applied `times` times. */
export function takeFault(faults: Fault[], { operation, key }: S3Target): Fault | null {
  const fault = faults.find(
    (candidate) =>
      candidate.operation === operation && (candidate.key === undefined || candidate.key === key),
  );
  if (fault === undefined) return null;
  fault.times = (fault.times ?? 1) - 1;
  if (fault.times <= 0) faults.splice(faults.indexOf(fault), 1);
  return fault;
}
