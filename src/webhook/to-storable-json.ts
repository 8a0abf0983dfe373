import { cleanText, parseStorable } from '../model/storable-json.ts';

/** The body of an event as JSON text that Postgres takes, whatever was sent. What is no JSON, or nested absurdly deep, becomes one JSON text. */
export function toStorableJson(text: string): string {
  const parsed = parseStorable(text);
  return JSON.stringify(parsed === null ? cleanText(text) : parsed.value);
}
