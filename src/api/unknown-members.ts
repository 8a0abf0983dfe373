import { z } from 'zod';
import { didYouMean } from '../model/text/did-you-mean.ts';

/** A member that the contract does not name, as a path (`filter.folowers`), and the one that was probably meant. */
export type UnknownMember = { readonly path: string; readonly meant: string | null };

/** Finds the members of a value that a schema does not name. */
export type UnknownMemberFinder = (value: unknown) => readonly UnknownMember[];

/** More than these say nothing new. */
const MAX_FOUND = 10;

/** A name that is none of ours may be anything, an e-mail address too. */
const SAFE_NAME = /^[A-Za-z_][\w-]{0,63}$/;

type Shape =
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, Shape> }
  | { readonly kind: 'list'; readonly items: Shape }
  | { readonly kind: 'open' };

const OPEN: Shape = { kind: 'open' };

/**
 * Makes the finder of one schema. The contract is loose, because a service may know members that its specification does not show; a misspelt
 * one is then taken in silence. Objects of which nothing is shown stay open. No value is read, and a name that is no plain word is told as `…`.
 *
 * @param schema null: no member at all is known.
 */
export function createUnknownMemberFinder(schema: z.ZodType | null): UnknownMemberFinder {
  const shape: Shape = schema === null ? { kind: 'object', members: new Map() } : shapeOf(schema);
  return (value) => {
    const found: UnknownMember[] = [];
    collect(shape, value, '', found);
    return found;
  };
}

/** `filter.folowers (did you mean followers?)`, for each. */
export function explainUnknownMembers(unknown: readonly UnknownMember[]): string {
  return unknown
    .map(({ path, meant }) => (meant === null ? path : `${path} (did you mean ${meant}?)`))
    .join(', ');
}

function shapeOf(schema: z.ZodType): Shape {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return shapeOf(schema.unwrap() as z.ZodType);
  if (schema instanceof z.ZodArray) return { kind: 'list', items: shapeOf(schema.element as z.ZodType) };
  if (!(schema instanceof z.ZodObject)) return OPEN;
  const members = Object.entries(schema.shape as Record<string, z.ZodType>);
  if (members.length === 0) return OPEN;
  return { kind: 'object', members: new Map(members.map(([name, member]) => [name, shapeOf(member)])) };
}

function collect(shape: Shape, value: unknown, prefix: string, found: UnknownMember[]): void {
  if (typeof value !== 'object' || value === null || found.length >= MAX_FOUND) return;
  if (shape.kind === 'list') {
    if (Array.isArray(value)) for (const item of value) collect(shape.items, item, prefix, found);
    return;
  }
  if (shape.kind === 'open' || Array.isArray(value)) return;
  for (const [name, member] of Object.entries(value)) {
    const known = shape.members.get(name);
    if (known !== undefined) collect(known, member, `${prefix}${name}.`, found);
    else if (found.length < MAX_FOUND) note(found, prefix, name, [...shape.members.keys()]);
  }
}

function note(found: UnknownMember[], prefix: string, name: string, known: readonly string[]): void {
  const isSafe = SAFE_NAME.test(name);
  const path = `${prefix}${isSafe ? name : '…'}`;
  if (found.some((one) => one.path === path)) return;
  found.push({ path, meant: isSafe ? didYouMean(name, known) : null });
}
