import type { PipelineConfig } from '../../config/schema.ts';
import { EXIT, type ExitCode } from '../../core/exit-code.ts';
import { type KnownError, refusal } from '../../core/known-error.ts';
import type { TestableChannel } from '../../monitoring/notify/send-notices.ts';
import { defineCommand, parseCount } from '../command.ts';

const testCommand = defineCommand({
  name: 'test',
  changes: true,
  description: 'send a test notice to one channel, or to all of them',
  takes: [['[channel]', 'name of the channel in notify.channels']],
  examples: [
    ['notify test', 'every channel; exit code 2 if one fails'],
    ['notify test ops --json', 'one channel, for a program'],
  ],
  /**
   * Sends a test notice to one channel or to all, and prints the results.
   * @returns 2 if a channel did not accept it.
   */
  async action({ output }, options) {
    const { channel: name } = options;
    const { openConfig } = await import('../open/open-config.ts');
    const { linkTo, testChannels: sendTests } = await import('../../monitoring/notify/send-notices.ts');
    const { renderFinding } = await import('../terminal/show-findings.ts');
    const config = await openConfig(options);
    const channels = await chooseChannels(config, name);
    if (options.dryRun === true) {
      for (const { name: channel, kind } of channels)
        output.emit({ event: 'channel_tested', channel, kind, state: 'planned' });
      output.print(
        `A test notice would be sent to ${channels.map((channel) => `${channel.name} (${channel.kind})`).join(', ')}. Nothing was sent.`,
      );
      return EXIT.ok;
    }
    let exitCode: ExitCode = EXIT.ok;
    const link = linkTo('/', config);
    for await (const { channel, attempt } of sendTests(channels, { now: new Date(), link })) {
      const { name: of, kind } = channel;
      const reason = attempt.kind === 'failed' ? attempt.reason : null;
      const result = { channel: of, kind, state: attempt.kind, reason };
      output.emit({ event: 'channel_tested', ...result });
      const finding = {
        status: attempt.kind === 'failed' ? ('problem' as const) : ('ok' as const),
        about: `${channel.name} (${channel.kind})`,
        what: result.reason === null ? result.state : `${result.state}: ${result.reason}`,
      };
      output.print(renderFinding(finding, output.terminal));
      if (attempt.kind === 'failed') exitCode = EXIT.configuration;
    }
    return exitCode;
  },
});

const historyCommand = defineCommand({
  name: 'history',
  isDefault: true,
  description: 'list notices and their deliveries, newest first',
  takes: [['--limit <count>', 'maximum notices to list', parseCount, 20]],
  examples: [
    ['notify history', 'the last 20'],
    ['notify history --limit 100 --json', 'for a program'],
  ],
  async action({ output, open }, { limit }) {
    const { listNotices, describeNotices } = await import('../../reports/notices/list-notices.ts');
    const { read } = await open();
    const notices = await read((db) => listNotices(db, { limit }));
    for (const { event: change, ...notice } of notices) output.emit({ event: 'notice', change, ...notice });
    output.show(describeNotices(notices));
  },
});

export const notifyCommand = defineCommand({
  name: 'notify',
  summary: 'list the notices that were sent, or test their channels',
  description: 'list the notices that were sent, or test the channels that receive them',
  readsConfig: false,
  examples: [
    ['notify test', 'send a test notice to every channel'],
    ['notify test ops', 'send one to this channel only'],
    ['notify', 'the last 20 notices, and the channels that received them'],
  ],
  commands: [testCommand, historyCommand],
});

async function chooseChannels(
  config: PipelineConfig,
  name: string | undefined,
): Promise<readonly TestableChannel[]> {
  const { shortPath } = await import('../../config/locate.ts');
  const { didYouMean } = await import('../../core/text/did-you-mean.ts');
  const { testableChannels } = await import('../../monitoring/notify/send-notices.ts');
  const channels = testableChannels(config.notify);
  const where = `notify.channels in ${shortPath(config.path)}`;
  if (channels.length === 0) throw channelsMissing(where);
  const chosen = channels.filter((channel) => name === undefined || channel.name === name);
  if (chosen.length > 0) return chosen;
  const names = channels.map((channel) => channel.name);
  const near = didYouMean(name ?? '', names);
  throw refusal({
    code: 'channel_unknown',
    message: `There is no channel "${name}".`,
    where,
    help: near === null ? `Existing channels: ${names.join(', ')}.` : `Did you mean "${near}"?`,
    safe: 'Nothing was sent.',
  });
}

function channelsMissing(where: string): KnownError {
  return refusal({
    code: 'channels_missing',
    message: 'No channel for notices is configured.',
    where,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: what pipeline.yaml is to say
    help: 'Add one, for example:\n  notify:\n    channels:\n      ops: { kind: slack, url: "${SLACK_WEBHOOK_URL}" }',
    safe: 'Nothing was sent.',
  });
}
