import { formatAmounts } from '../../../core/money.ts';
import type { Notice } from '../../../core/notify/notice.ts';

/**
 * The result of an attempt. The reason is a status or one of our own codes, never an address or a message of
 * the channel.
 */
export type Attempt =
  | { readonly kind: 'sent' }
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs: number | null };

export type SendOptions = {
  /** Aborts when the caller no longer waits. */
  readonly signal: AbortSignal;
  readonly now: Date;
};

/** Sends a notice to a channel. Never throws; failures are part of the result. */
export type Send<Settings> = (settings: Settings, notice: Notice, options: SendOptions) => Promise<Attempt>;

const BEGINS = {
  opened: 'Problem: ',
  reminded: 'Still open: ',
  resolved: 'Resolved: ',
  // Their titles say what they are.
  digest: '',
  test: '',
} as const;

/** For example `Problem: In doubt (nl-orders)`. */
export function headline({ event, title, job }: Notice): string {
  return `${BEGINS[event]}${title}${job === null ? '' : ` (${job})`}`;
}

/** The facts of a notice with their labels. Each channel formats them in its own way. */
export function factsOf(notice: Notice): readonly (readonly [label: string, text: string])[] {
  const { event, severity, since, amounts, command } = notice;
  const isOver = event === 'resolved';
  const ofProblem = [
    ['Severity', severity],
    ['Since', `${since.slice(0, 16).replace('T', ' ')} UTC`],
  ] as const;
  return [
    ...(event === 'digest' ? [] : ofProblem),
    ...(amounts.length === 0 ? [] : [['Amount', formatAmounts(amounts)] as const]),
    ...(isOver ? [] : [['Next', command] as const]),
  ];
}

/** Truncates a text to a maximum length in code points, and marks the cut with an ellipsis. */
export function cut(text: string, maxChars: number): string {
  const characters = [...text];
  return characters.length <= maxChars ? text : `${characters.slice(0, maxChars - 1).join('')}…`;
}
