import { formatAmounts } from '../../core/money.ts';
import { formatInstant } from '../../core/text/format-instant.ts';
import { wrap } from '../../core/text/wrap.ts';
import type { Terminal } from '../../render/terminal.ts';
import { plural } from '../../render/text.ts';
import type { ChannelTrouble, ListedNotice, OpenProblem } from './list-notices.ts';

/** Renders the result of a test notice. */
export function renderChannelTest(
  result: {
    readonly channel: string;
    readonly kind: string;
    readonly state: string;
    readonly reason: string | null;
  },
  terminal: Terminal,
): string {
  const { channel, kind, state, reason } = result;
  if (reason === null) return `${terminal.style('green', '✓')} ${channel} (${kind}): ${state}`;
  return `${terminal.style('red', '✗')} ${channel} (${kind}): ${state}: ${reason}`;
}

/** Renders notices with their deliveries, newest first. */
export function renderNotices(notices: readonly ListedNotice[], terminal: Terminal): string {
  if (notices.length === 0) return 'No notice was sent yet.';
  return notices.map((notice) => renderNotice(notice, terminal)).join('\n');
}

function renderNotice(notice: ListedNotice, terminal: Terminal): string {
  const { createdAt, event, problem, job, severity, amounts, summary, deliveries } = notice;
  const color = event === 'resolved' ? 'green' : severity === 'error' ? 'red' : 'yellow';
  const what = [problem, ...(job === null ? [] : [job])].join(' ');
  const title = `${formatInstant(createdAt).slice(0, 16)}  ${terminal.style(color, event)}  ${what}`;
  const money = amounts.length === 0 ? '' : ` ${formatAmounts(amounts)}.`;
  const fates = deliveries.map(
    ({ channel, state, attempts, lastError, notBefore }) =>
      `${channel} ${state.replace('_', ' ')}${lastError === null ? '' : ` (${lastError}, ${plural(attempts, 'attempt')})`}${state === 'pending' ? `, not before ${formatInstant(new Date(notBefore)).slice(0, 16)} UTC` : ''}`,
  );
  const line = (text: string): string => wrap(text, { width: terminal.columns, indent: '  ' });
  return [title, line(`${summary}${money}`), line(fates.join(', ') || 'no channel')].join('\n');
}

/** Renders open problems that `status` shows nowhere else, and channels that do not accept notices. */
export function renderNotified(
  problems: readonly OpenProblem[],
  troubles: readonly ChannelTrouble[],
  terminal: Terminal,
): string {
  const line = (text: string): string =>
    wrap(text, { width: terminal.columns, indent: '    ', firstIndent: '  ' });
  const open = problems.map(({ summary, command, since }) =>
    terminal.style('yellow', line(`${summary} Since ${formatInstant(since).slice(0, 16)} UTC.  ${command}`)),
  );
  const failing = troubles.map((trouble) => terminal.style('yellow', line(describeTrouble(trouble))));
  return [
    ...(open.length === 0 ? [] : [terminal.style('bold', 'Open problems'), ...open]),
    ...(failing.length === 0
      ? []
      : [terminal.style('bold', 'Channels that do not accept notices'), ...failing]),
  ].join('\n');
}

function describeTrouble({ channel, failing, givenUp, lastError, since }: ChannelTrouble): string {
  const waiting = failing === 0 ? [] : [`${plural(failing, 'notice')} waiting`];
  const lost = givenUp === 0 ? [] : [`${givenUp} given up`];
  return `${channel}: ${[...waiting, ...lost].join(', ')} since ${formatInstant(since).slice(0, 16)} UTC (${lastError}).  npx influencer-sync notify test ${channel}`;
}
