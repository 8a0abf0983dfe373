import type { S3Operation, S3Target } from './s3-protocol.ts';

/** What goes wrong, with the next requests that fit. */
export type Fault = {
  readonly operation: S3Operation;
  /** Any when left out. */
  readonly key?: string;
  /** Requests that are spoilt; 1 when left out. */
  times?: number;
} & FaultKind;

type FaultKind =
  /** The connection is cut after so many bytes of the body. */
  | { readonly kind: 'cut'; readonly afterBytes: number }
  /** The body ends after so many bytes as if it were whole: the headers have neither length nor checksum. */
  | { readonly kind: 'end'; readonly afterBytes: number; readonly thenCut?: boolean }
  /** Nothing more comes after so many bytes of the body, and the connection stays. */
  | { readonly kind: 'stall'; readonly afterBytes: number }
  | { readonly kind: 'stall_before_headers' }
  /** One byte of the body is another one, as no network should make it. */
  | { readonly kind: 'damage'; readonly atByte: number }
  /** Something happens while the body is on its way, for example the object is replaced; perhaps the connection is cut then. */
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
      /** More elements of the answer's XML, for example Region. */
      readonly fields?: Readonly<Record<string, string>>;
    };

/** The fault for a request, if there is one; a fault that has had its times is gone. */
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
