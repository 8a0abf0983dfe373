import { foldHeader } from '../../../core/text/fold.ts';

/*
 * What words and headers say about consent, in the languages of the shops that we know. A word that is in none
 * of these lists is not known, and what is not known is never a yes.
 */

/** Words that answer yes, which is consent only in a column that asks for it. `1` and `active` mean many things. */
const ANSWERS = [
  'yes, y, true, granted, accepted, confirmed, consented, ja, wahr, oui, vrai, sí, si, verdadero, sì',
  'vero, sim, verdadeiro, tak, ano, kyllä, はい, نعم',
];

/** Words that say by themselves that somebody has subscribed. */
const SUBSCRIBED = [
  'subscribed, opted in, opted-in, opt-in, opt in, optin, abonniert, angemeldet, geabonneerd',
  'ingeschreven, aangemeld, abonné, abonnée, inscrit, inscrite, suscrito, suscrita, iscritto, iscritta',
  'inscrito, inscrita, prenumerant',
];

/** Words that say no, or that nothing happened: in a column of refusals they mean that nobody refused. */
const NO = [
  'no, n, false, 0, never, none, null, nil, undefined, n/a, na, -, --, not set, nein, falsch, nee, nej',
  'nei, onwaar, non, faux, falso, não, nao, nie, ne, ei, いいえ, لا, 0000-00-00, 0000-00-00 00:00:00, 0.0, [], {}',
];

/** Words of a status that take permission away, or that show that it was never confirmed. */
const REFUSAL =
  /unsubscri|opt(?:ed)?[ _-]?out|suppress|bounc|black[ _-]?list|block|clean(?:ed)?$|complain|plainte|beschwerde|klacht|spam|delet|disabled|inactiv|inaktiv|junk|pending|unconfirmed|not[ _-]?(?:confirmed|subscribed)|unbestätigt|nicht bestätigt|niet bevestigd|non confirm|no confirmad|não confirmad|niepotwierdz|ausgetragen|wypisan|avprenumerer|non[ _-]?subscribed|never[ _-]?subscribed|abgemeldet|gelöscht|gesperrt|afgemeld|uitgeschreven|désabonné|désinscrit|desuscrit|baja|rebot|rebond|disiscritt|cancellat|descadastrad|avregistrer/iu;

/** Words of a status that say that a person or an address is gone, or was never there. */
const GONE =
  /unreachable|undeliver|invalid|\bon[ _-]?hold\b|archived|banned|quarantin|deceased|verstorben|removed|\bleft\b|\bquit\b|erased|anonymi[sz]ed|no longer|suspended|trash|un(?:activated|verified)|not[ _-]?(?:activated|verified)|do[ _-]?not|\bdnc\b/iu;
/** Headers that say so. In a file of orders, they are about the order. */
const GONE_HEADER =
  /^(?:(?:is|was|has|been|e ?mail|address|account|contact|customer|member|subscriber|user) )*(?:on hold|unreachable|undeliverable|invalid|banned|deceased|deactivated|disabled|removed|suspended|trashed|anonymi[sz]ed|forgotten|dnc|dnd|excluded|muted|cancell?ed|closed|deletion request(?:ed)?|invalid e ?mail)(?: (?:on|at|date|time|reason))?$/iu;

/** Headers whose cells take permission away. */
const REFUSAL_HEADER =
  /unsub(?:scri\w*|s)?\b|opt(?:ed|s)?[ -]?out|suppress|bounced?\b|rebot(?:e|ó|ado|ada)s?\b|black ?list|block ?list|do ?not ?(?:e ?mail|mail|contact|send|disturb)|\bno ?(?:e ?mails?|newsletter|marketing)|clean(?:ed)?(?: time| at| date| on| campaign.*)?$|complain|spam (?:report|complaint)|marked as spam|deleted?(?: at| on| date| time)$|is deleted|^deleted$|e ?mail disabled|disabled emails?|^inactive|\beras(?:e|ed|ure)\b|abgemeldet|abmelde|abmeldung|abbestell|austrag|gesperrt|gelöscht|sperrliste|af(?:ge)?meld|fra ?meld|avmeld|poistu|peruut|uitgeschreven|désabonn|désinscri|desinscri|desabonn|suscripción cancelada|dado de baja|fecha de baja|disiscri|descadastr|cancelou|avregistrer|wypis|rezygnac|odhláš|配信停止|配信解除|購読解除|受信拒否|退会|إلغاء الاشتراك/iu;
/** Headers about other channels than e-mail. */
const OTHER_CHANNEL = /\b(?:sms|phone|mobile|whats ?app|fax|push|postal|messenger|viber|call)\b/iu;
/** Headers of things that accompany a refusal and that every row may have. */
const BESIDE = /\b(?:link|url|token|hash|key|page|count|number|rate|score|id)\b/iu;
/** What permission is called, and that it was withdrawn or refused: `Consent withdrawn`, `Einwilligung widerrufen`. */
const PERMISSION =
  /consent|opt(?:ed)? ?in\b|newsletter|marketing|permission|gdpr|dsgvo|einwilligung|werbung|toestemming|nieuwsbrief|reclame|publicid|publicité|publicite|pubblicit|bolet[ií]n|boletim|correos?\b|comunicac|comunicazion|samtyck|samtykk|nyhetsbrev|zgod[ay]/iu;
const WITHDRAWN =
  /withdr[ae]w|revok|refus|declin|denied|\bdeny|reject|\bobject(?:ed|ions?|s)?\b|oppos|cancel|expired|missing|widerr|widerspr|abgelehnt|abbestell|gekündigt|verweiger|\bohne\b|\bkeine?\b|ingetrok|geweiger|opgezegd|bezwaar|\bgeen\b|retir|révoq|revoc|rechaz|rifiut|ritirat|recus|\bsans\b|\bsin\b|\bsem\b|\bsenza\b|återkall|avböj|wycof|odwoł|\bbrak\b|trukket|avslått/iu;
/** Headers that are nothing but a refusal: `Ha rechazado`, `Refused on`, `Fecha de baja`. */
const BARE_REFUSAL =
  /^(?:(?:ha|has|have|is|was|fue|est|a|hat|wurde|se|date|fecha|data|datum) )?(?:(?:de|di|d) )?(?:rechaz(?:ó|o|ado|ada)|refus(?:ed|al|é|ée)|declined|rejected|revoked|withdrawn|objected|objection|opuso|opposé|opposed|abgelehnt|widerrufen|widerspruch|widersprochen|verweigert|geweigerd|bezwaar|opgezegd|ingetrokken|rifiutato|rifiuto|recusado|recusou|revocado|révoqué|baja|blocked|spam|quit|archived|left)(?: (?:on|at|date|el|am|op))?$/iu;
/** Headers that ask not to be written to, or list who is not, without a word for permission. */
const LEFT_ALONE =
  /^(?:no (?:molestar|contactar|escribir)|ne pas contacter|nicht kontaktieren|niet benaderen|non contattare|não contactar|não contatar|robinson.*|lista (?:negra|robinson|de exclusi[oó]n)|liste noire|zwarte lijst|schwarze liste|motivo de (?:la )?baja|bloqueado|quejas?|cancelado|left (?:the )?list)$/iu;
/** Headers that begin with a denial. What they deny is a refusal if it is consent: `Not subscribed`, `No desea publicidad`. */
const DENIED =
  /^(?:not|never|without|no|non|não|nao|ne|nicht|niet|geen|keine?|sin|sans|senza|sem) (?!of )(.+)$/iu;
/** Headers of columns that ask for permission. A confirmation by a second mail is not asked of everybody. */
const CONSENT_HEADER =
  /consent|opt(?:ed)? ?in\b|subscribed\b|newsletter|accepts? .*marketing|marketing permission|einwilligung|abonniert|abonné|inscrit|suscrito|iscritto|acept[ao] .*(?:publicidad|bolet[ií]n|correos?|comunicaciones)|consentim|consenso|nieuwsbrief|toestemming|samtycke|zgoda/iu;
/** Headers that ask whether an address is in use. A yes is no consent. */
const IN_USE_HEADER =
  /^(?:(?:is|e ?mail|address|account) )*(?:active|valid|deliverable|reachable|contactable|mailable|emailable|confirmed|enabled|aktiv|actief|gültig)$/iu;
/** Words that say only that an address is in use. */
const IN_USE =
  /^(?:ok|valid|valid[eo]|válid[oa]|gültig|geldig|active|activ[oa]|aktiv|actief|actif|attiv[oa]|ativ[oa])$/u;
/** Headers of lists of words that a shop gives to people: `vip, do-not-email`. */
const TAGS_HEADER =
  /^(?:(?:customer|contact|subscriber|member|e ?mail|mailing) )?(?:tags?|labels?|segments?|lists?|groups?|audiences?|categories|etiquetas?|étiquettes?|etichett[ae]|listas?|listes?|liste[nr]?|gruppen?|groupes?|groepen|grupos?|gruppi)$/iu;
/** Headers of columns whose words say how a customer stands. */
const STATUS_HEADER =
  /^(?:(?:e ?mail |subscription |subscriber |member |contact |marketing |list )*(?:status|state)|statut|estado|stato|abonnement ?status)$/iu;

const answers = setOf(ANSWERS);
const subscribed = setOf(SUBSCRIBED);
const no = setOf(NO);

function setOf(lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.flatMap((list) => list.split(', ')).map(foldCell));
}

/**
 * Words of headers that ask for consent to e-mail. What stands below any other word is not known to be consent:
 * `Consent reminder sent: yes`.
 */
const ASKING = new Set(
  [
    'e mail mails email emails marketing newsletter newsletters consent consents consented opt in optin opted',
    'subscribed accepts accept accepted permission permissions given granted gdpr dsgvo to for of the is has our',
    'a customer customers subscriber contact status state receive receives promotional promotions updates rgpd lgpd',
    'einwilligung zur zum für abonniert abonné abonnée à au la le inscrit inscrite suscrito suscrita al boletín',
    'boletin iscritto iscritta alla subscription subscriptions subscribe mailing list member acepta acepto recibir',
    'publicidad correo correos electrónico electrónicos electronico electronicos comunicaciones comerciales por de el',
    'consentimiento consentement consentimento consenso nieuwsbrief nieuwsbrieven toestemming voor samtycke till',
    'nyhetsbrev e post zgoda na marketingowa rodo',
  ].flatMap((words) => words.split(' ')),
);

/**
 * True if a word is known to be consent in a column with this header. Every other word is not.
 *
 * @param isAsked true if a person has said that the column asks for consent.
 */
export function isYes(word: string, header: string, isAsked = false): boolean {
  const folded = foldCell(word);
  if (isAsked) return subscribed.has(folded) || answers.has(folded);
  const smell = smellOf(header);
  const isAnswer = answers.has(folded) && smell === 'consent';
  const isState = subscribed.has(folded) && smell !== 'refusal';
  return (isAnswer && isAsking(header)) || (isState && (smell === 'status' || isAsking(header)));
}

function isAsking(header: string): boolean {
  return wordsOf(header)
    .split(' ')
    .every((word) => ASKING.has(word));
}

/** What the name of a time adds to the name of what happened: `Opt-in date`, `Einwilligung am`. */
const OF_TIME =
  / (?:at|on|date|time|timestamp|am|datum|op|le|el|il|em)$|^(?:date|datum|fecha|data) (?:(?:of|van|der|de|du|del|do) )?/u;
const SINCE = / (?:since|seit|sinds|depuis|desde|dal)$/u;
/** A newsletter has dates of its own: what is dated must be consent without these words. */
const DATED_ITSELF = /\b(?:newsletters?|nieuwsbrie\p{L}*)/gu;

/** True if a header is known to be that of the time at which consent to e-mail was given. */
export function isTimeOfConsent(header: string): boolean {
  // A second mail is not sent to everybody, but whoever has a date of it has confirmed.
  const name = wordsOf(header).replace(/^double (?=opt)/u, '');
  // A status has that of a refusal, too.
  if (/\b(?:status|state)\b/u.test(name)) return false;
  const what = name.replace(SINCE, '');
  if (what !== name) return smellOf(what) === 'consent' && isAsking(what);
  const undated = name.replace(OF_TIME, '');
  return smellOf(undated.replace(DATED_ITSELF, '')) === 'consent' && isAsking(undated);
}

/** True if a header is about another channel than e-mail. */
export function isOfOtherChannel(header: string): boolean {
  const name = wordsOf(header);
  return OTHER_CHANNEL.test(name) && !/e ?mail/iu.test(name);
}

function wordsOf(header: string): string {
  return foldHeader(header)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .slice(0, MAX_CHARS);
}

/** True if a word answers yes, whatever the question is. */
export function isAnswer(word: string): boolean {
  return answers.has(foldCell(word));
}

/** True if a word says only that an address is in use. That is no consent, and takes none away. */
export function isInUse(word: string): boolean {
  return IN_USE.test(foldCell(word));
}

/** True if a word says no, or that nothing happened. */
export function isNo(word: string): boolean {
  return no.has(foldCell(word));
}

/** True if a word of a status takes permission away. */
export function isRefusal(word: string): boolean {
  return REFUSAL.test(word.slice(0, MAX_CHARS));
}

/** True if a word takes permission away in a column of statuses. Elsewhere, `expired` or `removed` may be about anything. */
export function refusesByStatus(word: string): boolean {
  const read = word.slice(0, MAX_CHARS);
  return isRefusal(read) || WITHDRAWN.test(read) || GONE.test(read);
}

/**
 * Says how a column must be read that no layout reads. `refusal`: any cell takes permission away, unless it says
 * no or nothing. `consent`: a cell that says no takes it away. `status`: a word may take it away. Null: the
 * header says nothing about that.
 */
export function smellOf(header: string): 'refusal' | 'consent' | 'status' | null {
  const name = wordsOf(header);
  if (STATUS_HEADER.test(name)) return 'status';
  if (isOfOtherChannel(header) || BESIDE.test(name)) return null;
  if (REFUSAL_HEADER.test(name) || BARE_REFUSAL.test(name) || LEFT_ALONE.test(name)) return 'refusal';
  const [, denied] = DENIED.exec(name) ?? [];
  if (denied !== undefined)
    return smellOf(denied) === 'consent' || PERMISSION.test(denied) ? 'refusal' : null;
  if (PERMISSION.test(name) && WITHDRAWN.test(name)) return 'refusal';
  return CONSENT_HEADER.test(name) && !name.includes('double') ? 'consent' : null;
}

/** `smellOf` for a file of people: there, `Removed`, `On hold` and `Cancelled at` are about the person. */
export function smellOfPerson(header: string): ReturnType<typeof smellOf> {
  return smellOf(header) ?? (GONE_HEADER.test(wordsOf(header)) ? 'refusal' : null);
}

/**
 * The name of a file, or of its folder, if it says that the people in the file refused: `unsubscribed-2026-11.csv`,
 * `bounced/list.csv`. Null if neither does. A folder of old files may be called `archived`.
 */
export function refusalInName(uri: string): string | null {
  const names = uri.split('/').slice(-2).reverse();
  return (
    names.find((name) => !/^archived?$/iu.test(name) && smellOf(name.split('.')[0] ?? '') === 'refusal') ??
    null
  );
}

/** True if a header asks whether an address is in use, so that a no takes permission away. */
export function asksIfInUse(header: string): boolean {
  return IN_USE_HEADER.test(wordsOf(header));
}

/** True if a header is that of the tags of a person, which may refuse like the name of a column (`refusesByTag`). */
export function isOfTags(header: string): boolean {
  return TAGS_HEADER.test(wordsOf(header));
}

/** True if one of the tags in a cell takes permission away. */
export function refusesByTag(cell: string): boolean {
  return cell.split(/[,;|]/).some((tag) => smellOf(tag) === 'refusal');
}

/**
 * The lists above, as texts. They are part of the digest by which files count as read: a refusal that this version knows
 * and an earlier one did not must not stay a yes.
 */
export const CONSENT_LISTS: readonly string[] = [
  ...[ANSWERS, SUBSCRIBED, NO, [...ASKING]].map((list) => list.join(' ')),
  ...[
    REFUSAL,
    GONE,
    GONE_HEADER,
    REFUSAL_HEADER,
    OTHER_CHANNEL,
    BESIDE,
    PERMISSION,
    WITHDRAWN,
    BARE_REFUSAL,
    LEFT_ALONE,
    DENIED,
    CONSENT_HEADER,
    IN_USE_HEADER,
    IN_USE,
    TAGS_HEADER,
    STATUS_HEADER,
    OF_TIME,
    SINCE,
    DATED_ITSELF,
  ].map(textOf),
];

/** A pattern as in the sources: the built program has escapes for characters beyond Latin-1 (tools/package). */
function textOf(pattern: RegExp): string {
  return String(pattern).replace(/\\u([0-9a-f]{4})/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  );
}

/** No word and no header that matters is longer. */
const MAX_CHARS = 80;

function foldCell(text: string): string {
  return text.trim().toLowerCase().normalize('NFC');
}
