import { basename, dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readModules, type SourceModule } from './support/read-modules.ts';

const modules = readModules('src', 'jobs');

/**
 * The other stages that each stage may import, including types. `STAGE_MAY_IMPORT` applies to every stage
 * that is not listed here.
 */
const STAGES: Readonly<Record<string, readonly string[]>> = {
  package: [],
  aws: ['model'],
  // Every AWS client needs this from the machine.
  source: ['model', 'db', 'package', 'aws'],
  db: ['model', 'package'],
  effects: ['model', 'db', 'api'],
  // The stage that decides what to send proposes it to the ledger.
  attribute: ['model', 'db', 'effects', 'ledger'],
  ledger: ['model', 'db', 'effects'],
  report: ['model', 'db', 'effects'],
  // Every stage that calls, reads or simulates the service uses the same contract and description of it.
  config: ['model', 'db', 'package', 'api'],
  webhook: ['model', 'db', 'api'],
  mirror: ['model', 'db', 'api'],
  delivery: ['model', 'db', 'api', 'effects'],
  sandbox: ['model', 'db', 'api', 'package'],
};
const STAGE_MAY_IMPORT = ['model', 'db', 'package'];

/**
 * The layers above the stages, lowest first. Each may import the layers below it and every stage. `main` is
 * the entry point, and `cli` is what it starts.
 */
const LAYERS = ['pipeline', 'notify', 'present', 'jobs', 'console', 'cli', 'main'];

/**
 * Packages of which only pure functions are used. The stage `model` may use them, because they depend on no
 * project code, file or network. It asks node-cron only what an expression means.
 */
const PURE_PACKAGES: readonly string[] = ['leven', 'node-cron'];

/** No lower layer may import these. */
const TOP = ['cli', 'main'];

/**
 * Packages that only some areas may use, so that SQL, S3, HTTP to the service and HTTP servers each have one
 * home.
 */
const PACKAGES: readonly { what: string; names: RegExp; areas: readonly string[]; instead: string }[] = [
  {
    what: 'SQL is spoken',
    names: /^(pg|kysely|@electric-sql\/pglite)$/,
    areas: [
      'db',
      'intake',
      'attribute',
      'effects',
      'ledger',
      'report',
      'audit',
      'bulk',
      'earnings',
      'mirror',
      'schedule',
      'notify',
      'retention',
      'work',
      'queries of jobs',
    ],
    instead: 'put the query into a stage, or into the report, a read-… or a decide-… of a kind of job',
  },
  {
    what: 'work is queued',
    names: /^pg-boss$/,
    areas: ['work'],
    instead: 'hand out units by work/spread-units.ts',
  },
  {
    what: 'AWS is asked',
    names: /^@aws-sdk\//,
    areas: ['source', 'aws'],
    instead: 'let source/ read a store, and aws/ a secret',
  },
  {
    what: 'the service is called',
    names: /^undici$/,
    areas: ['api'],
    instead: 'add the operation to api/contract/ and call it',
  },
  {
    what: 'HTTP is served',
    names: /^(fastify|@fastify\/.*|fastify-.*)$/,
    areas: ['sandbox', 'webhook', 'observe', 'console'],
    instead: 'serve it from one of those',
  },
];

/** Files that run when they are imported, by design. */
const SCRIPTS = [
  'src/main.ts',
  'src/package/build.ts',
  'src/package/write-shrinkwrap.ts',
  'src/api/reference/write-openapi.ts',
  'src/config/write-json-schema.ts',
];

describe('dependencies run one way: model ← stages ← pipeline ← notify ← present ← jobs ← console ← cli ← main', () => {
  it('model imports nothing but model: move what needs more into the stage that needs it', () => {
    expect(
      findings(
        modules.filter(({ path }) => areaOf(path) === 'model'),
        (module) => imported(module, (to) => areaOf(to) !== 'model' && !PURE_PACKAGES.includes(to)),
      ),
    ).toEqual([]);
  });

  it('a stage imports only itself, model and db (delivery and sandbox also api), and a layer only what is below it: let src/pipeline/ pass the result of one stage to another', () => {
    expect(
      findings(modules, (module) =>
        imported(module, (to) => isOurs(to) && !mayImport(areaOf(module.path), areaOf(to))),
      ),
    ).toEqual([]);
  });

  it('a kind of job imports nothing from another one: move what both need into src/pipeline/', () => {
    const kindOf = (path: string) => /^jobs\/([^/]+)\//.exec(path)?.[1];
    const ofKinds = modules.filter(({ path }) => kindOf(path) !== undefined);
    expect(
      findings(ofKinds, (module) =>
        imported(module, (to) => kindOf(to) !== undefined && kindOf(to) !== kindOf(module.path)),
      ),
    ).toEqual([]);
  });

  it('the scanner of records has one entrance: import src/parse/records/record-reader.ts', () => {
    const folder = 'src/parse/records/';
    const outside = modules.filter(({ path }) => !path.startsWith(folder));
    const entrance = `${folder}record-reader.ts`;
    expect(
      findings(outside, (module) => imported(module, (to) => to.startsWith(folder) && to !== entrance)),
    ).toEqual([]);
  });

  it('present loads only types from stages and pipeline: compute what it shows before', () => {
    const present = modules.filter(({ path }) => areaOf(path) === 'present');
    const mayLoad = ['present', 'model', 'api'];
    expect(
      findings(present, ({ loads }) => loads.filter((to) => isOurs(to) && !mayLoad.includes(areaOf(to)))),
    ).toEqual([]);
  });

  it('a command loads only what its options need: import the rest in its action, so that --help is quick', () => {
    const commands = modules.filter(({ path }) => path.startsWith('src/cli/commands/'));
    const isLight = (to: string) =>
      /^(commander|src\/cli\/commands\/.*|src\/model\/.*|src\/api\/contract\/webhook-types\.ts)$/.test(to);
    expect(findings(commands, ({ loads }) => loads.filter((to) => !isLight(to)))).toEqual([]);
  });

  it('the list of jobs loads only what checks and describes the configuration: import the rest in the function that needs it, so that commands start quickly', () => {
    const loaded = new Set(['jobs/index.ts']);
    for (const path of loaded) {
      const module = modules.find((each) => each.path === path);
      for (const to of module?.loads ?? []) if (isOurs(to)) loaded.add(to);
    }
    const mayLoad = ['jobs', 'config', 'model', 'present', 'package', 'attribute', 'db'];
    // The description of the service is a part of the configuration.
    const isDescription = (path: string) =>
      /^src\/api\/(description\/|contract\/(webhook-types|operation-names)\.ts$)/.test(path);
    const isLight = (path: string) => mayLoad.includes(areaOf(path)) || isDescription(path);
    expect([...loaded].filter((path) => !isLight(path))).toEqual([]);
  });

  it('nothing imports cli or main: give the value to the function as an argument', () => {
    const below = modules.filter(({ path }) => !TOP.includes(areaOf(path)));
    expect(findings(below, (module) => imported(module, (to) => TOP.includes(areaOf(to))))).toEqual([]);
  });

  it.each(PACKAGES)('$what only in its areas: elsewhere, $instead', ({ names, areas }) => {
    const elsewhere = modules.filter(({ path }) => !areas.includes(userOf(path)));
    expect(findings(elsewhere, (module) => imported(module, (to) => names.test(to)))).toEqual([]);
  });

  it('only src/observe/telemetry uses OpenTelemetry, and it is loaded only if a command needs it: import it in an action', () => {
    const folder = 'src/observe/telemetry/';
    const others = modules.filter(({ path }) => !path.startsWith(folder));
    const isTelemetry = (to: string) => to.startsWith('@opentelemetry/') || to.startsWith(folder);
    expect(findings(others, ({ loads }) => loads.filter(isTelemetry))).toEqual([]);
    expect(findings(others, (module) => imported(module, (to) => to.startsWith('@opentelemetry/')))).toEqual(
      [],
    );
  });

  it('the AWS SDK is loaded only when AWS is used: import it in the function that needs it', () => {
    expect(findings(modules, ({ loads }) => loads.filter((to) => to.startsWith('@aws-sdk/')))).toEqual([]);
  });

  it('no modules load each other in a cycle: move what both need into a third', () => {
    expect(findCircles()).toEqual([]);
  });
});

describe('importing a module has no side effects', () => {
  it('nothing is constructed, started or awaited at import: do it in a function that receives what it needs', () => {
    const imported = modules.filter(({ path }) => !SCRIPTS.includes(path));
    expect(findings(imported, ({ constructs }) => constructs)).toEqual([]);
  });

  it('the environment is read in cli, and in source and aws for the standard AWS chain: elsewhere, take the value as an argument', () => {
    const below = modules.filter(({ path }) => ![...TOP, 'source', 'aws'].includes(areaOf(path)));
    expect(findings(below, ({ environmentReads }) => environmentReads.map((line) => `line ${line}`))).toEqual(
      [],
    );
  });
});

describe('files are small and named after what they do', () => {
  it('a file has 300 lines at most, unless it only declares data: split it by the purpose of its functions', () => {
    const long = modules.filter(({ lines, functions }) => lines > 300 && functions > 0);
    expect(findings(long, ({ lines }) => [`${lines} lines`])).toEqual([]);
  });

  it('a folder has 20 files at most: group what belongs together, or merge what only a neighbour uses', () => {
    const folders = Map.groupBy(modules, ({ path }) => dirname(path));
    const full = [...folders].filter(([, files]) => files.length > 20);
    expect(full.map(([folder, files]) => `${folder}: ${files.length} files`)).toEqual([]);
  });

  it('names are kebab-case and specific: no utils, helpers, common, misc, manager', () => {
    const vague =
      /(^|\/|-)(utils?|helpers?|common|misc|shared|managers?)(\/|\.ts$)|(^|\/)services?(\/|\.ts$)/;
    const kebab = /^([a-z0-9]+(-[a-z0-9]+)*\/)*[a-z0-9]+(-[a-z0-9]+)*\.ts$/;
    expect(modules.map(({ path }) => path).filter((path) => vague.test(path) || !kebab.test(path))).toEqual(
      [],
    );
  });

  it('a folder with an index.ts lists all of its files there: add yours to the list', () => {
    expect(modules.filter(({ path }) => basename(path) === 'index.ts').flatMap(findUnlisted)).toEqual([]);
  });
});

function isOurs(path: string): boolean {
  return path.startsWith('src/') || path.startsWith('jobs/');
}

/**
 * Returns the area of a path: `src/ledger/claim.ts` → `ledger`, `src/main.ts` → `main`, `jobs/x.ts` → `jobs`,
 * `pg` → ``.
 */
function areaOf(path: string): string {
  if (path.startsWith('jobs/')) return 'jobs';
  return path.startsWith('src/') ? (path.split('/')[1] ?? '').replace(/\.ts$/, '') : '';
}

/**
 * Returns who uses a package: an area, or `queries of jobs` for the files of a job kind that hold the queries
 * of its reports.
 */
function userOf(path: string): string {
  return /^jobs\/([^/]+\/)+(report|explain|(read|decide)-[^/]+)\.ts$/.test(path)
    ? 'queries of jobs'
    : areaOf(path);
}

function mayImport(from: string, to: string): boolean {
  if (from === to) return true;
  if (from === 'model') return false;
  if (LAYERS.includes(from)) return LAYERS.indexOf(to) < LAYERS.indexOf(from);
  return (STAGES[from] ?? STAGE_MAY_IMPORT).includes(to);
}

function imported(module: SourceModule, isWrong: (to: string) => boolean): readonly string[] {
  return module.imports.filter(isWrong);
}

/** Returns one line per violation, so that a failure names the file. */
function findings(
  among: readonly SourceModule[],
  find: (module: SourceModule) => readonly string[],
): readonly string[] {
  return among.flatMap((module) => find(module).map((what) => `${module.path}: ${what}`));
}

/**
 * Returns the files in the index's folder that the index reaches neither directly nor through other files of
 * the folder.
 */
function findUnlisted(index: SourceModule): readonly string[] {
  const folder = dirname(index.path);
  const siblings = modules.filter(({ path }) => dirname(path) === folder);
  const reached = new Set([index.path]);
  for (const path of reached) {
    const module = siblings.find((sibling) => sibling.path === path);
    for (const to of module?.imports ?? []) if (dirname(to) === folder) reached.add(to);
  }
  return siblings.map(({ path }) => path).filter((path) => !reached.has(path));
}

function findCircles(): readonly string[] {
  const byPath = new Map(modules.map((module) => [module.path, module]));
  const done = new Set<string>();
  const circles: string[] = [];
  function follow(path: string, way: readonly string[]): void {
    if (way.includes(path)) circles.push([...way.slice(way.indexOf(path)), path].join(' → '));
    if (way.includes(path) || done.has(path)) return;
    for (const to of byPath.get(path)?.loads ?? []) follow(to, [...way, path]);
    done.add(path);
  }
  for (const { path } of modules) follow(path, []);
  return circles;
}
