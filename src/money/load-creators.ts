import type { StatementSettings } from '../config/schema.ts';
import { configurationError } from '../core/known-error.ts';
import { foldHandle } from '../core/text/fold.ts';
import { isLanguage, LANGUAGES, type Language } from '../core/text/language.ts';
import { loadSheet, type Sheet } from '../core/text/read-sheet.ts';

/** To whom the statements of a deal or a creator go: one row of creators.csv. Only what people wrote is known. */
export type Addressee = {
  /** A row has one of the two. */
  readonly dealId: string | null;
  readonly influencerHandle: string | null;
  readonly name: string | null;
  readonly address: readonly string[];
  readonly email: string | null;
  readonly language: Language | null;
};

const COLUMNS = ['deal_id', 'influencer_handle', 'name', 'address', 'email', 'language'] as const;
type Column = (typeof COLUMNS)[number];

/** An address as SMTP takes it, without a display name, quotes or line ends, and nothing that a reader cannot see. */
const EMAIL = /^[^\s\p{C}@<>"(),:;\\]{1,64}@[^\s\p{C}@<>"(),:;\\]{1,190}$/u;

/** Whether a text is one e-mail address, which a mail server takes as it is. */
export function isEmailAddress(text: string): boolean {
  return EMAIL.test(text);
}

const CREATORS: Sheet<Column, Addressee> = {
  columns: COLUMNS,
  required: [
    ['deal_id', 'influencer_handle'],
    ['name', 'address', 'email', 'language'],
  ],
  mayHaveOthers: false,
  mayBePadded: true,
  insteadOfAddress: null,
  readRow({ cell, refuse, isRepeated }) {
    const [dealId, handle] = [cell('deal_id'), foldHandle(cell('influencer_handle'))];
    if ((dealId === '') === (handle === ''))
      return refuse(
        'deal_id',
        'The row must name either a deal or a creator.',
        'Fill in one of both columns.',
      );
    const column = dealId === '' ? 'influencer_handle' : 'deal_id';
    if (isRepeated(column, `${column} ${dealId || handle}`, 'this deal or creator')) return null;
    if (cell('email') !== '' && !isEmailAddress(cell('email')))
      return refuse('email', 'This is not an e-mail address.', 'Write one address without a name.');
    const language = cell('language').toLowerCase();
    if (language !== '' && !isLanguage(language))
      return refuse(
        'language',
        'There are no texts in this language.',
        `Write one of ${LANGUAGES.join(', ')}.`,
      );
    return {
      dealId: dealId || null,
      influencerHandle: handle || null,
      name: cell('name') || null,
      address: cell('address')
        .split(';')
        .map((line) => line.trim())
        .filter((line) => line !== ''),
      email: cell('email') || null,
      language: language === '' ? null : language,
    };
  },
};

/**
 * Loads creators.csv. Empty if none is configured.
 *
 * @throws KnownError `creators_unusable` (exit 2) with the line and column of each row. One bad row refuses the whole
 * file, because a statement that goes to somebody else cannot be taken back.
 */
export function loadCreators({ creators: path }: Pick<StatementSettings, 'creators'>): readonly Addressee[] {
  if (path === null) return [];
  return loadSheet(path, CREATORS, {
    what: 'file of creators',
    setting: 'statements.creators',
    unusable: (details) =>
      configurationError({ code: 'creators_unusable', safe: 'Nothing was sent.', ...details }),
  });
}

/** Finds the row for a deal, else that of its creator. Null if nobody wrote one. */
export function findAddressee(
  creators: readonly Addressee[],
  { dealId, influencerHandle }: { dealId: string | null; influencerHandle: string | null },
): Addressee | null {
  const handle = foldHandle(influencerHandle ?? '');
  return (
    creators.find((row) => row.dealId !== null && row.dealId === dealId) ??
    creators.find((row) => row.influencerHandle === handle) ??
    null
  );
}
