import { describe, expect, test } from 'vitest';
import {
  isNo,
  isRefusal,
  isTimeOfConsent,
  isYes,
  refusesByStatus,
  smellOf,
  smellOfPerson,
} from '../../../../src/intake/customers/map/consent-words.ts';

describe('words of consent', () => {
  test.each([
    ['English', 'yes y true granted accepted confirmed consented', 'no n false never none'],
    ['German', 'ja wahr', 'nein falsch'],
    ['Dutch', 'ja', 'nee onwaar'],
    ['French', 'oui vrai', 'non faux'],
    ['Spanish', 'sí si verdadero', 'no falso'],
    ['Italian', 'sì vero', 'no falso'],
    ['Portuguese', 'sim verdadeiro', 'não nao falso'],
    ['Polish', 'tak', 'nie'],
    ['Czech', 'ano', 'ne'],
    ['Finnish', 'kyllä', 'ei'],
    ['Swedish', 'ja', 'nej'],
    ['Norwegian', 'ja', 'nei'],
  ])('answer yes and no in %s, and yes only in a column that asks for consent', (_, yes, no) => {
    for (const word of yes.split(' '))
      for (const written of [word, word.toUpperCase(), ` ${word} `, word.normalize('NFD')]) {
        const read = [isYes(written, 'Newsletter'), isYes(written, 'Tax exempt'), isNo(written)];
        expect([written, ...read]).toEqual([written, true, false, false]);
      }
    for (const word of no.split(' '))
      expect([word, isNo(word.toUpperCase()), isYes(word, 'Newsletter')]).toEqual([word, true, false]);
  });

  test.each([
    ...['subscribed', 'opted in', 'opted-in', 'opt-in', 'opt in', 'optin', 'abonniert', 'angemeldet'],
    ...['geabonneerd', 'ingeschreven', 'aangemeld', 'abonné', 'abonnée', 'inscrit', 'inscrite', 'suscrito'],
    ...['suscrita', 'iscritto', 'iscritta', 'inscrito', 'inscrita', 'prenumerant'],
  ])('%s says by itself that somebody has subscribed, below a header whose words are known', (word) => {
    expect([isYes(word, 'Status'), isNo(word), isRefusal(word)]).toEqual([true, false, false]);
    expect(isYes(word, 'Reminder')).toBe(false);
  });

  test.each([
    ...['0', '0.0', 'null', 'nil', 'undefined', 'n/a', 'NA', '-', '--', 'not set', '[]', '{}'],
    ...['0000-00-00', '0000-00-00 00:00:00'],
  ])('%s is how a program writes that nothing happened', (word) => {
    expect([isNo(word), isYes(word, 'Newsletter')]).toEqual([true, false]);
  });

  test.each(['', '1', 'active', 'perhaps', 'yess', 'not yes', 'evet', 'ok'])(
    '%j is not known to be either',
    (word) => {
      expect([isYes(word, 'Newsletter'), isNo(word), isRefusal(word)]).toEqual([false, false, false]);
    },
  );

  test.each([
    ...[
      'Unsubscribed',
      'opted out',
      'opt-out',
      'suppressed',
      'hard bounce',
      'blacklisted',
      'blocked',
      'cleaned',
    ],
    ...['complained', 'marked as spam', 'deleted', 'disabled', 'inactive', 'pending', 'unconfirmed'],
    ...['not confirmed', 'never_subscribed', 'non-subscribed', 'abgemeldet', 'désabonné', 'baja'],
  ])('the status %s takes permission away', (status) => {
    expect([isRefusal(status), isYes(status, 'Status')]).toEqual([true, false]);
    expect(isRefusal(`${'.'.repeat(80)}${status}`)).toBe(false);
  });
});

test.each([
  ...['Removed', 'unreachable', 'undeliverable', 'invalid', 'On Hold', 'archived', 'banned', 'quarantined'],
  ...['deceased', 'left', 'quit', 'erased', 'anonymised', 'no longer subscribed', 'suspended', 'trash'],
  ...['unactivated', 'not activated', 'unverified', 'do not contact', 'DNC', 'Unsubscribed'],
  ...['cancelled', 'expired', 'revoked', 'declined', 'widerrufen', 'opgezegd', 'rifiutato'],
])('%s takes permission away in a column of statuses', (status) => {
  expect(refusesByStatus(status)).toBe(true);
});

test.each(['', 'active', 'customer', 'lead', 'vip', 'enabled', 'subscribed', 'registered', 'new'])(
  '%j takes none away, in a column of statuses either',
  (status) => {
    expect(refusesByStatus(status)).toBe(false);
  },
);

describe('a header that no layout reads', () => {
  test.each([
    ['Unsubscribed at', 'refusal'],
    ['Opted-Out', 'refusal'],
    ['  E-mail_disabled ', 'refusal'],
    ['Newsletter', 'consent'],
    ['Accepts Email Marketing', 'consent'],
    ['Double opt-in', null],
    ['Status', 'status'],
    ['Subscription status', 'status'],
    ['Unsubscribe link', null],
    ['Opt-in count', null],
    ['Not subscribed', 'refusal'],
    ['No of newsletters', 'consent'],
    // Other channels say nothing about e-mail.
    ['SMS unsubscribed', null],
    ['Phone opt-in', null],
    ['Email and SMS opt-out', 'refusal'],
    ['City', null],
    ['', null],
    [`${'x '.repeat(40)}unsubscribed`, null],
  ])('%j says what its cells are about: %s', (header, smell) => {
    expect(smellOf(header)).toBe(smell);
  });

  test.each([
    ...[
      'Rechazó publicidad',
      'Rechazado',
      'Ha rechazado',
      'No desea publicidad',
      'Baja',
      'Se opuso',
      'No molestar',
    ],
    ...['Refus publicité', 'Ne pas contacter', 'Geweigerd', 'Geen reclame', 'Refused', 'Objected on'],
    ...[
      'Abbestellt',
      'Lista negra',
      'Lista Robinson',
      'Motivo de baja',
      'Bloqueado',
      'Zwarte lijst',
      'Liste noire',
      'GDPR erased',
      'Blocked',
      'NoEmail',
      'do_not_disturb',
      'spam',
      'erasure_requested',
      'gdpr_erased',
      'frameldt',
      'Afmeldt',
      'poistunut',
    ],
    ...['إلغاء الاشتراك', 'quit', 'archived', 'Left on'],
    ...['Widersprochen am', 'Rifiutato', 'Senza pubblicità', 'Recusado', 'Não contactar', 'Keine Werbung'],
  ])('%j says that somebody refused', (header) => {
    expect(smellOf(header)).toBe('refusal');
  });

  test.each([
    'On Hold',
    'Removed',
    'is_deactivated',
    'Cancelled at',
    'account_closed',
    'Deceased',
    'DNC',
    'Banned',
  ])('%j says that somebody is gone, in a file of people', (header) => {
    expect([smellOf(header), smellOfPerson(header)]).toEqual([null, 'refusal']);
  });

  test.each([
    ['Opt-in date', true],
    ['Double opt-in date', true],
    ['Double opt-in reminder date', false],
  ])('%s is that of the time of a consent: %s', (header, isTime) => {
    expect(isTimeOfConsent(header)).toBe(isTime);
  });

  test.each(['Cancelled orders', 'Rejected payments', 'Nombre', 'Notes', 'Data', 'A'])(
    '%j says nothing about it',
    (header) => {
      expect([smellOf(header), smellOfPerson(header)]).toEqual([null, null]);
    },
  );
});
