import { formatAmounts } from '../../core/money.ts';
import { formatMinute } from '../../core/text/format-instant.ts';
import { type Block, item, say, section } from '../../render/block.ts';
import { clause, plural } from '../../render/text.ts';
import type { ChannelTrouble, ListedNotice, OpenProblem } from './list-notices.ts';

/** Describes notices with their deliveries, newest first. */
export function describeNotices(notices: readonly ListedNotice[]): readonly Block[] {
  if (notices.length === 0) return [say('No notice was sent yet.')];
  return notices.flatMap(({ createdAt, event, problem, job, severity, amounts, summary, deliveries }) => {
    const tone = event === 'resolved' ? 'green' : severity === 'error' ? 'red' : 'yellow';
    const money = amounts.length === 0 ? '' : ` ${formatAmounts(amounts)}.`;
    const fates = deliveries.map(({ channel, state, attempts, lastError, notBefore }) => {
      const why = lastError === null ? '' : ` (${lastError}, ${plural(attempts, 'attempt')})`;
      const when = state === 'pending' ? `, not before ${formatMinute(notBefore)} UTC` : '';
      return `${channel} ${state.replace('_', ' ')}${why}${when}`;
    });
    return section(`${formatMinute(createdAt)}  ${event}`, {
      note: `${problem}${job === null ? '' : ` ${job}`}`,
      tone,
      parts: [item(`${summary}${money}`), item(fates.join(', ') || 'no channel')],
    });
  });
}

/** Describes open problems that `status` shows nowhere else, and channels that do not accept notices. */
export function describeNotified(
  problems: readonly OpenProblem[],
  troubles: readonly ChannelTrouble[],
): readonly Block[] {
  return [
    ...section('Open problems', {
      tone: 'yellow',
      parts: problems.map(({ summary, command, since }) =>
        item(`${summary} Since ${formatMinute(since)} UTC. ${command}`),
      ),
    }),
    ...section('Channels that do not accept notices', {
      tone: 'yellow',
      parts: troubles.map(({ channel, failing, givenUp, lastError, since }) => {
        const counts = [
          ...clause(failing, 'notice waiting', 'notices waiting'),
          ...clause(givenUp, 'given up', 'given up'),
        ];
        return item(
          `${channel}: ${counts.join(', ')} since ${formatMinute(since)} UTC (${lastError}). npx influencer-sync notify test ${channel}`,
        );
      }),
    }),
  ];
}
