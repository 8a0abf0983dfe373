import type { ChannelSettings } from '../../../config/notify-fields.ts';
import { cut, factsOf, headline, type Send } from './channel.ts';
import { postJson } from './post-json.ts';

type Slack = Extract<ChannelSettings, { kind: 'slack' }>;

/** Limits of Slack, which refuses messages with longer texts. */
const HEADER_CHARS = 150;
const SECTION_CHARS = 3_000;
/** Limit of the fallback text. Escaping makes a character at most five characters long. */
const TEXT_CHARS = 600;

/**
 * Posts to an incoming webhook: blocks of plain text without markup, and a fallback text for clients that
 * show no blocks.
 */
export const sendSlack: Send<Slack> = ({ url }, notice, options) => {
  const facts = factsOf(notice).map(([label, text]) => `${label}: ${text}`);
  const blocks = [
    { type: 'header', text: plain(headline(notice), HEADER_CHARS) },
    { type: 'section', text: plain(notice.summary, SECTION_CHARS) },
    { type: 'section', text: plain(facts.join('\n'), SECTION_CHARS) },
    ...(notice.link === null ? [] : [linkTo(notice.link)]),
  ];
  const text = escapeMrkdwn(cut(`${headline(notice)}. ${notice.summary}`, TEXT_CHARS));
  return postJson(url, JSON.stringify({ text, blocks }), options);
};

function plain(text: string, maxChars: number) {
  return { type: 'plain_text', text: cut(text, maxChars), emoji: false };
}

function linkTo(link: string) {
  // A `|` would end the address.
  const address = escapeMrkdwn(link.replaceAll('|', '%7C'));
  return { type: 'section', text: { type: 'mrkdwn', text: `<${address}|Open the console>` } };
}

/**
 * Escapes the characters that start links and mentions in Slack, because `<!channel>` would notify everyone.
 */
function escapeMrkdwn(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
