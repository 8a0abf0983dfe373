import { isObject } from '../model/text/exact-json.ts';

const REDACTED = '[redacted]';

/** Part of the name of every field that may be personal: most fields are none, and are told by this alone. */
const MAY_BE_PERSONAL =
  /name|mail|phone|mobile|whats|address|street|post|zip|city|region|province|birth|iban|bank|vat|tax|recipient|customer/i;

/** Fields about how to reach a person, and where a person lives, by their names without blanks, hyphens and underscores. */
const CONTACT =
  /e?mail|phone|mobile|whatsapp|address|street|post(al)?code|^zip|^city$|^region$|^province$|birth|iban|bankaccount|vatnr|taxid|recipient|^customer$/;

/** Fields that name a person. A handle is public and what a deal is about, so it stays. */
const PERSONAL_NAME =
  /^(first|last|full|middle|given|family|maiden|nick|legal|real|display|contact|deal|influencer|owner|person)?names?$|^surname$/;

/**
 * A value as it may be stored: every text and number in a field that is personal reads `[redacted]`, whatever it held, and members stand in
 * the order of their names, so that equal content is equal text. Yes, no and null stay: they tell only that something is known.
 *
 * @param isAboutPerson whether a name in it is that of a person.
 */
export function redact(value: unknown, isAboutPerson: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => redact(item, isAboutPerson));
  if (!isObject(value)) return value;
  const redacted: Record<string, unknown> = {};
  for (const name of Object.keys(value).sort()) {
    const member = value[name];
    const isHidden = member !== null && typeof member !== 'boolean' && isPersonal(name, isAboutPerson);
    const kept = isHidden ? REDACTED : redact(member, isAboutPerson);
    // A plain assignment would not make it a member.
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
