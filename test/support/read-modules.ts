import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { type Expression, type Program, parseSync, Visitor } from 'oxc-parser';

const ROOT = new URL('../../', import.meta.url).pathname;

export type SourceModule = {
  /** Path from the root of the checkout, for example `src/ledger/claim.ts`. */
  readonly path: string;
  readonly lines: number;
  /**
   * Modules that it imports and re-exports, including types: paths like `path` for our own modules, names for
   * packages (`pg`, `@aws-sdk/client-s3`).
   */
  readonly imports: readonly string[];
  /** The part of `imports` that is loaded together with the module, without type imports and `import()`. */
  readonly loads: readonly string[];
  /** The part of `imports` that is loaded when it is needed, by `import()`. */
  readonly loadsLater: readonly string[];
  readonly functions: number;
  /** Objects that it creates or starts when it is first imported, for example `line 12: new Pool`. */
  readonly constructs: readonly string[];
  /** Lines on which it reads the environment. */
  readonly environmentReads: readonly number[];
};

/** Parses the modules below some folders of the checkout. */
export function readModules(...folders: readonly string[]): readonly SourceModule[] {
  return folders
    .flatMap((folder) => globSync(`${folder}/**/*.ts`, { cwd: ROOT }))
    .sort()
    .map(readModule);
}

function readModule(path: string): SourceModule {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const { program, module, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} does not parse: ${errors[0]?.message}`);
  const later = module.dynamicImports.map(({ moduleRequest }) =>
    text.slice(moduleRequest.start, moduleRequest.end).replace(/^['"`]|['"`]$/g, ''),
  );
  const requests = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap((entry) => entry.moduleRequest?.value ?? []),
    ),
    ...later,
  ];
  const loaded = module.staticImports
    .filter(({ entries }) => entries.length === 0 || entries.some(({ isType }) => !isType))
    .map(({ moduleRequest }) => moduleRequest.value);
  const lineOf = (offset: number) => text.slice(0, offset).split('\n').length;
  return {
    path,
    lines: text.trimEnd().split('\n').length,
    imports: requests.map((request) => nameOf(request, path)),
    loads: loaded.map((request) => nameOf(request, path)),
    loadsLater: later.map((request) => nameOf(request, path)),
    ...examine(program, lineOf),
  };
}

function nameOf(request: string, importer: string): string {
  if (request.startsWith('.')) return relative(ROOT, resolve(ROOT, dirname(importer), request));
  if (request.startsWith('node:')) return request;
  return request
    .split('/')
    .slice(0, request.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Classes of plain values, which hold no connection, timer or file. */
const PLAIN = /^(Map|Set|WeakMap|WeakSet|URL|RegExp|Date|Error|TextEncoder|TextDecoder|Intl\.\w+)$/;

/** Names of functions that create or start such an object. */
const MAKERS = /^(create|connect|open|start|listen|spawn|fork|set(Timeout|Interval)|schedule)([A-Z]|$)/;

function examine(
  program: Program,
  lineOf: (offset: number) => number,
): Pick<SourceModule, 'functions' | 'constructs' | 'environmentReads'> {
  let depth = 0;
  let functions = 0;
  const constructs: string[] = [];
  const environmentReads: number[] = [];
  const enter = () => {
    depth += 1;
    functions += 1;
  };
  const leave = () => {
    depth -= 1;
  };
  const note = (start: number, what: string) => {
    if (depth === 0) constructs.push(`line ${lineOf(start)}: ${what}`);
  };
  new Visitor({
    FunctionDeclaration: enter,
    'FunctionDeclaration:exit': leave,
    FunctionExpression: enter,
    'FunctionExpression:exit': leave,
    ArrowFunctionExpression: enter,
    'ArrowFunctionExpression:exit': leave,
    // A field is initialised when an object is created, unless the field is static.
    PropertyDefinition(node) {
      if (!node.static) depth += 1;
    },
    'PropertyDefinition:exit'(node) {
      if (!node.static) depth -= 1;
    },
    NewExpression(node) {
      const name = calledName(node.callee);
      if (!PLAIN.test(name)) note(node.start, `new ${name}`);
    },
    CallExpression(node) {
      const name = calledName(node.callee);
      if (MAKERS.test(name.split('.').at(-1) ?? '')) note(node.start, `${name}()`);
    },
    AwaitExpression(node) {
      note(node.start, 'await');
    },
    MemberExpression(node) {
      if (calledName(node) === 'process.env') environmentReads.push(lineOf(node.start));
    },
  }).visit(program);
  return { functions, constructs, environmentReads };
}

/** Returns `a.b.c` for an expression that consists only of names. Empty for any other expression. */
function calledName(node: Expression): string {
  if (node.type === 'Identifier') return node.name;
  if (node.type !== 'MemberExpression' || node.computed || node.property.type !== 'Identifier') return '';
  return `${calledName(node.object as Expression)}.${node.property.name}`;
}
