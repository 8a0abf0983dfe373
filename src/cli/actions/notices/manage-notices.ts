import { shortPath } from '../../../config/locate.ts';
import type { PipelineConfig } from '../../../core/config.ts';
import { EXIT, type ExitCode } from '../../../core/exit-code.ts';
import { KnownError } from '../../../core/known-error.ts';
import { didYouMean } from '../../../core/text/did-you-mean.ts';
import { linkTo } from '../../../monitoring/notify/send-notices.ts';
import {
  testChannels as sendTests,
  type TestableChannel,
  testableChannels,
} from '../../../monitoring/notify/test-channels.ts';
import { listNotices } from '../../../reports/notices/list-notices.ts';
import { renderChannelTest, renderNotices } from '../../../reports/notices/notices.ts';
import type { ConfigOptions } from '../../command.ts';
import type { HistoryOptions } from '../../commands/notify.ts';
import { openConfig, reading, withDatabase } from '../../open/open-config.ts';
import type { Output } from '../../terminal/output.ts';

/**
 * Sends a test notice to one channel or to all, and prints the results.
 *
 * @returns 2 if a channel did not accept it.
 * @throws KnownError `channels_missing`, `channel_unknown` (exit 2).
 */
export async function testChannels(
  output: Output,
  name: string | undefined,
  options: ConfigOptions,
): Promise<ExitCode> {
  const config = await openConfig(options);
  const channels = chooseChannels(config, name);
  let exitCode: ExitCode = EXIT.ok;
  for await (const { channel, attempt } of sendTests(channels, {
    now: new Date(),
    link: linkTo('/', config),
  })) {
    const result = {
      channel: channel.name,
      kind: channel.kind,
      state: attempt.kind,
      reason: attempt.kind === 'failed' ? attempt.reason : null,
    };
    output.emit({ event: 'channel_tested', ...result });
    output.print(renderChannelTest(result, output.terminal));
    if (attempt.kind === 'failed') exitCode = EXIT.configuration;
  }
  return exitCode;
}

/** Lists notices and their deliveries. */
export async function showNotices(output: Output, options: HistoryOptions): Promise<ExitCode> {
  const config = await openConfig(options);
  const notices = await withDatabase(
    config,
    (db) => listNotices(db, { limit: options.limit }),
    reading(output),
  );
  for (const { event: change, ...notice } of notices) output.emit({ event: 'notice', change, ...notice });
  output.print(renderNotices(notices, output.terminal));
  return EXIT.ok;
}

function chooseChannels(config: PipelineConfig, name: string | undefined): readonly TestableChannel[] {
  const channels = testableChannels(config.notify);
  if (channels.length === 0) throw channelsMissing(config);
  const chosen = channels.filter((channel) => name === undefined || channel.name === name);
  if (chosen.length > 0) return chosen;
  const names = channels.map((channel) => channel.name);
  const near = didYouMean(name ?? '', names);
  throw new KnownError({
    code: 'channel_unknown',
    message: `There is no channel "${name}".`,
    where: `notify.channels in ${shortPath(config.path)}`,
    help: near === null ? `Existing channels: ${names.join(', ')}.` : `Did you mean "${near}"?`,
    safe: 'Nothing was sent.',
    exitCode: EXIT.configuration,
  });
}

function channelsMissing(config: PipelineConfig): KnownError {
  return new KnownError({
    code: 'channels_missing',
    message: 'No channel for notices is configured.',
    where: `notify.channels in ${shortPath(config.path)}`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: what pipeline.yaml is to say
    help: 'Add one, for example:\n  notify:\n    channels:\n      ops: { kind: slack, url: "${SLACK_WEBHOOK_URL}" }',
    safe: 'Nothing was sent.',
    exitCode: EXIT.configuration,
  });
}
