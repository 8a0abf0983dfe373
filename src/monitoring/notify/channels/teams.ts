import type { ChannelSettings } from '../../../config/notify-fields.ts';
import { cut, factsOf, headline, type Send } from './channel.ts';
import { postJson } from './post-json.ts';

type Teams = Extract<ChannelSettings, { kind: 'teams' }>;

/**
 * Teams refuses messages of more than 28 KB. Our texts are far shorter, unless something is wrong with them.
 */
const MAX_CHARS = 2_000;

/**
 * Posts an adaptive card to a workflow "Post to a channel when a webhook request is received", which reads
 * `attachments`.
 */
export const sendTeams: Send<Teams> = ({ url }, notice, options) => {
  const card = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    // The newest version that all Teams clients support.
    version: '1.4',
    msteams: { width: 'Full' },
    body: [
      {
        type: 'TextBlock',
        size: 'Medium',
        weight: 'Bolder',
        wrap: true,
        text: escapeMarkdown(headline(notice)),
      },
      { type: 'TextBlock', wrap: true, text: escapeMarkdown(cut(notice.summary, MAX_CHARS)) },
      {
        type: 'FactSet',
        facts: factsOf(notice).map(([title, value]) => ({
          title,
          value: escapeMarkdown(cut(value, MAX_CHARS)),
        })),
      },
    ],
    actions:
      notice.link === null ? [] : [{ type: 'Action.OpenUrl', title: 'Open the console', url: notice.link }],
  };
  const attachment = {
    contentType: 'application/vnd.microsoft.card.adaptive',
    contentUrl: null,
    content: card,
  };
  return postJson(url, JSON.stringify({ type: 'message', attachments: [attachment] }), options);
};

/**
 * Escapes Markdown, which a TextBlock renders: the start of links, lists and emphasis. A line break needs a
 * blank line.
 */
function escapeMarkdown(text: string): string {
  return text
    .replaceAll('\n', '\n\n')
    .replace(/[\\`*[\]<>~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])/g, '\\$&')
    .replace(/^([-+](?=\s|$)|#)/gm, '\\$&')
    .replace(/^(\d{1,9})([.)])(?=\s|$)/gm, '$1\\$2');
}
