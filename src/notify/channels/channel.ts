import { formatAmounts } from '../../model/money.ts';
import type { Notice } from '../../model/notify/notice.ts';

/** What became of an attempt. The reason is a status or a code of ours: never an address, and nothing that a channel says. */
export type Attempt =
  | { readonly kind: 'sent' }
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAfterMs: number | null };

export type SendOptions = {
  /** Aborts when it is not waited for any longer. */
  readonly signal: AbortSignal;
  readonly now: Date;
};

/** Sends a notice to a channel. Never throws: what goes wrong is an outcome. */
export type Send<Settings> = (settings: Settings, notice: Notice, options: SendOptions) => Promise<Attempt>;

const BEGINS = {
  opened: 'Problem',
  reminded: 'Still open',
  resolved: 'Resolved',
  digest: 'Digest',
  test: 'Test',
} as const;

/** `Problem: In doubt (nl-orders)`. */
export function headline({ event, title, job }: Notice): string {
  return `${BEGINS[event]}: ${title}${job === null ? '' : ` (${job})`}`;
}

/** What a person must know, with its label: each channel shows it in its own way. */
export function factsOf(notice: Notice): readonly (readonly [label: string, text: string])[] {
  const { event, severity, since, amounts, command } = notice;
  const isOver = event === 'resolved';
  return [
    ['Severity', severity],
    ['Since', `${since.slice(0, 16).replace('T', ' ')} UTC`],
    ...(amounts.length === 0 ? [] : [['Amount', formatAmounts(amounts)] as const]),
    ...(isOver ? [] : [['Next', command] as const]),
  ];
}

/** Texts of that length at most, in code points: what is beyond is cut, and an ellipsis says so. */
export function cut(text: string, maxChars: number): string {
  const characters = [...text];
  return characters.length <= maxChars ? text : `${characters.slice(0, maxChars - 1).join('')}…`;
}
