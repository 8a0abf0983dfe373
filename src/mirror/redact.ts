import { isObject } from '../core/json/exact-json.ts';

const REDACTED = '[redacted]';

/** Matches the name of every field that may be personal. It filters out most fields quickly. */
const MAY_BE_PERSONAL =
  /name|mail|phone|mobile|whats|address|street|post|zip|city|region|province|birth|iban|bank|vat|tax|recipient|customer/i;

/**
 * Matches fields with contact details and places of residence, by their names without blanks, hyphens and
 * underscores.
 */
const CONTACT =
  /e?mail|phone|mobile|whatsapp|address|street|post(al)?code|^zip|^city$|^region$|^province$|birth|iban|bankaccount|vatnr|taxid|recipient|^customer$/;

/** Matches fields that name a person. A handle is public and identifies the deal, so it is kept. */
const PERSONAL_NAME =
  /^(first|last|full|middle|given|family|maiden|nick|legal|real|display|contact|deal|influencer|owner|person)?names?$|^surname$/;

/**
 * Returns a value as it may be stored. Every text and number in a personal field is replaced by `[redacted]`.
 * Members are sorted by name, so that equal content results in equal text. Booleans and null are kept,
 * because they only show whether something is known.
 *
 * @param isAboutPerson whether a name in the value is the name of a person.
 */
export function redact(value: unknown, isAboutPerson: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => redact(item, isAboutPerson));
  if (!isObject(value)) return value;
  const redacted: Record<string, unknown> = {};
  for (const name of Object.keys(value).sort()) {
    const member = value[name];
    const isHidden = member !== null && typeof member !== 'boolean' && isPersonal(name, isAboutPerson);
    const kept = isHidden ? REDACTED : redact(member, isAboutPerson);
    // A plain assignment would set the prototype instead of a member.
    if (name === '__proto__') Object.defineProperty(redacted, name, { value: kept, enumerable: true });
    else redacted[name] = kept;
  }
  return redacted;
}

function isPersonal(name: string, isAboutPerson: boolean): boolean {
  if (!MAY_BE_PERSONAL.test(name)) return false;
  const folded = name.toLowerCase().replace(/[\s_-]/g, '');
  return CONTACT.test(folded) || (isAboutPerson && PERSONAL_NAME.test(folded));
}
