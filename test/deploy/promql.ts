import type { SyntaxNode } from '@lezer/common';
import { parser } from '@prometheus-io/lezer-promql';

/** A sample from a scrape. */
export type Sample = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};

/** Parses the text format of Prometheus, as far as prom-client uses it. */
export function readSamples(text: string): readonly Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    if (name === undefined || value === undefined) return [];
    const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key = '', text = '']) => [
      key,
      text,
    ]);
    return [{ name, labels: Object.fromEntries(pairs), value: Number(value) }];
  });
}

/**
 * Returns the names of the metrics that an expression selects.
 *
 * @throws Error if its syntax is invalid.
 */
export function metricsIn(expression: string): readonly string[] {
  const names: string[] = [];
  parse(expression)
    .cursor()
    .iterate((node) => {
      if (node.name === 'VectorSelector')
        names.push(expression.slice(node.from, node.to).split(/[{\s]/)[0] ?? '');
    });
  return names;
}

function parse(expression: string): SyntaxNode {
  const tree = parser.parse(expression);
  tree.cursor().iterate((node) => {
    if (node.type.isError) throw new Error(`no PromQL at ${node.from}: ${expression}`);
  });
  return tree.topNode;
}

type Vector = readonly Omit<Sample, 'name'>[];

/**
 * Evaluates an expression at one instant. Supports the part of PromQL that the alerts use and that needs no
 * history.
 *
 * @throws Error for anything else.
 */
export function evaluate(
  expression: string,
  { samples, now }: { readonly samples: readonly Sample[]; readonly now: Date },
): Vector {
  const textOf = (node: SyntaxNode): string => expression.slice(node.from, node.to);

  function resolve(node: SyntaxNode): Vector | number {
    const [first] = childrenOf(node);
    switch (node.name) {
      case 'PromQL':
      case 'ParenExpr':
      case 'StepInvariantExpr':
        if (first === undefined) throw new Error('nothing to evaluate');
        return resolve(first);
      case 'NumberDurationLiteral':
        return Number(textOf(node));
      case 'VectorSelector':
        return select(node);
      case 'AggregateExpr':
        return aggregate(node);
      case 'FunctionCall':
        return call(node);
      case 'BinaryExpr':
        return combine(node);
      default:
        throw new Error(`${node.name} is not understood here: ${textOf(node)}`);
    }
  }

  function select(node: SyntaxNode): Vector {
    const [name = ''] = textOf(node).split('{');
    const matchers = [...textOf(node).matchAll(/(\w+)="([^"]*)"/g)];
    return samples.filter(
      (sample) =>
        sample.name === name.trim() && matchers.every(([, key = '', text]) => sample.labels[key] === text),
    );
  }

  function aggregate(node: SyntaxNode): Vector {
    const [, operator = '', labels = ''] = /^(max|min)(?:\s*by\s*\(([^)]*)\))?/.exec(textOf(node)) ?? [];
    const kept = labels.split(',').map((label) => label.trim());
    const groups = Map.groupBy(toVector(resolve(argumentOf(node))), (one) => keyOf(one, kept));
    const reduce = operator === 'max' ? Math.max : Math.min;
    return [...groups.values()].map((group) => ({
      labels: only(group[0]?.labels ?? {}, kept),
      value: reduce(...group.map(({ value }) => value)),
    }));
  }

  function call(node: SyntaxNode): Vector | number {
    if (textOf(node) === 'time()') return now.getTime() / 1000;
    if (!textOf(node).startsWith('absent(')) throw new Error(`an unknown function: ${textOf(node)}`);
    return toVector(resolve(argumentOf(node))).length === 0 ? [{ labels: {}, value: 1 }] : [];
  }

  function combine(node: SyntaxNode): Vector | number {
    const parts = childrenOf(node);
    const [left, right] = [parts[0], parts.at(-1)].map((part) => (part === undefined ? 0 : resolve(part)));
    const operator = parts[1]?.name ?? '';
    const apply = OPERATORS[operator];
    if (apply === undefined || left === undefined || right === undefined)
      throw new Error(`${operator} is unknown`);
    if (typeof left === 'number' && typeof right === 'number') return Number(apply(left, right));
    const isBool = parts.some(({ name }) => name === 'BoolModifier');
    const pairs =
      typeof right === 'number'
        ? toVector(left).map((one) => [one, one.value, right] as const)
        : typeof left === 'number'
          ? right.map((one) => [one, left, one.value] as const)
          : left.flatMap((one) =>
              right
                .filter((other) => keyOf(one) === keyOf(other))
                .map((other) => [one, one.value, other.value] as const),
            );
    return pairs.flatMap(([{ labels }, one, other]) => {
      const result = apply(one, other);
      if (typeof result === 'number') return [{ labels, value: result }];
      if (isBool) return [{ labels, value: Number(result) }];
      return result ? [{ labels, value: typeof left === 'number' ? other : one }] : [];
    });
  }

  /** Returns the argument of a function or an aggregation. */
  function argumentOf(node: SyntaxNode): SyntaxNode {
    const argument = node.getChild('FunctionCallBody')?.firstChild;
    if (argument === null || argument === undefined) throw new Error(`no argument: ${textOf(node)}`);
    return argument;
  }

  return toVector(resolve(parse(expression)));
}

const OPERATORS: Readonly<Record<string, (one: number, other: number) => number | boolean>> = {
  Sub: (one, other) => one - other,
  Mul: (one, other) => one * other,
  Gtr: (one, other) => one > other,
  Lss: (one, other) => one < other,
  Lte: (one, other) => one <= other,
  Eql: (one, other) => one === other,
};

function childrenOf(node: SyntaxNode): readonly SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) children.push(child);
  return children;
}

function toVector(value: Vector | number): Vector {
  return typeof value === 'number' ? [{ labels: {}, value }] : value;
}

function only(labels: Sample['labels'], kept: readonly string[]): Sample['labels'] {
  return Object.fromEntries(Object.entries(labels).filter(([label]) => kept.includes(label)));
}

function keyOf({ labels }: Pick<Sample, 'labels'>, kept: readonly string[] = Object.keys(labels)): string {
  return JSON.stringify(Object.entries(only(labels, kept)).toSorted());
}
