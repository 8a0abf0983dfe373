import { z } from 'zod';
import { didYouMean } from '../core/text/did-you-mean.ts';

/**
 * A member that the contract does not define: its path (`filter.folowers`) and the name that was probably
 * meant.
 */
export type UnknownMember = { readonly path: string; readonly meant: string | null };

/** Finds the members of a value that the schema does not define. */
export type UnknownMemberFinder = (value: unknown) => readonly UnknownMember[];

/** Stop after this many: more would tell the reader nothing new. */
const MAX_FOUND = 10;

/** An unknown name may be anything, even an e-mail address. Only names that match this are shown. */
const SAFE_NAME = /^[A-Za-z_][\w-]{0,63}$/;

type Shape =
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, Shape> }
  | { readonly kind: 'list'; readonly items: Shape }
  | { readonly kind: 'open' };

const OPEN: Shape = { kind: 'open' };

/**
 * Creates the finder for one schema. The contract's schemas are loose, because a service may accept members
 * that its specification does not show. So a misspelt member passes validation, and this finds it. Objects
 * without known members accept anything. Values are never read, and an unsafe name is reported as `…`.
 *
 * @param schema null if there are no known members.
 */
export function createUnknownMemberFinder(schema: z.ZodType | null): UnknownMemberFinder {
  const shape: Shape = schema === null ? { kind: 'object', members: new Map() } : shapeOf(schema);
  return (value) => {
    const found: UnknownMember[] = [];
    collect(shape, value, '', found);
    return found;
  };
}

/** Lists the unknown members as text: `filter.folowers (did you mean followers?)`. */
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
