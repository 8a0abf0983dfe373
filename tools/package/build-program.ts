import { copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type ChunkingContext, type RolldownOutput } from 'rolldown';
import { packageFile } from '../../src/core/package.ts';
import { escapeBeyondLatin1, joinPackages } from './join-packages.ts';

/** The entry points of the package, by the name of their file in dist/. */
const ENTRIES = {
  main: 'src/main.ts',
  api: 'src/service/create-api.ts',
  sandbox: 'src/sandbox/start-sandbox.ts',
};

/**
 * What is loaded together, with everything that it imports: first what every command needs, then what those need
 * that read the configuration and open the database. As some hundred small files, it takes 15 ms longer to load.
 */
const LOADED_TOGETHER = {
  every: ['src/cli/program.ts'],
  configured: ['jobs/index.ts', 'src/cli/open/open-config.ts'],
};

/** What most commands load of packages with many files. */
const JOINED = ['commander', 'kysely', 'kysely/migration', 'yaml', 'zod'];

/** What an installed program has beside `dist/`, and reads there. */
const BESIDE = [
  'CHANGELOG.md',
  'config',
  'docs',
  'node_modules',
  'sql',
  'src/cli/setup/completion',
  'src/console/assets',
];

/**
 * Builds the program as a package or the image contains it, in a folder of its own.
 *
 * @param folder an empty folder, or one that will be created.
 * @returns the file for `node` to start. Without sources beside it, it starts what was built.
 */
export async function buildProgram(folder: string): Promise<string> {
  const start = join(folder, 'src/start.js');
  for (const name of BESIDE) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    symlinkSync(fileURLToPath(packageFile(name)), join(folder, name));
  }
  for (const name of ['package.json', 'src/start.js']) copyFileSync(packageFile(name), join(folder, name));
  await bundleProgram();
  // A copy, because whoever packs the program builds it again.
  cpSync(packageFile('dist'), join(folder, 'dist'), { recursive: true });
  return start;
}

/**
 * Compiles the program into dist/, which is emptied before.
 *
 * @throws Error if the program imports a package that an install would not bring.
 */
export async function bundleProgram(): Promise<void> {
  const dist = fileURLToPath(packageFile('dist'));
  rmSync(dist, { recursive: true, force: true });
  const joined = await joinPackages(JOINED, join(dist, 'joined'));
  const { output } = await build({
    cwd: fileURLToPath(packageFile('.')),
    input: ENTRIES,
    platform: 'node',
    // Dependencies are not bundled: npm installs, updates and audits them.
    external: (id) => /^[^./]/.test(id) && !JOINED.includes(id),
    // What some load at once and others only when they need it is meant so.
    checks: { ineffectiveDynamicImport: false },
    plugins: [joined, escapeBeyondLatin1()],
    transform: { target: 'node22.19' },
    // Tree shaking and minifying remove calls that seem to have no effect, such as a decodeURIComponent() in a
    // `try` that only checks whether it throws.
    treeshake: false,
    output: {
      minify: false,
      comments: false,
      dir: dist,
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name]-[hash].js',
      codeSplitting: {
        groups: Object.entries(LOADED_TOGETHER).map(([name, roots]) => ({
          debugName: name,
          name: (id, graph) => (isImportedBy(roots, id, graph) ? name : null),
        })),
      },
      sourcemap: true,
      sourcemapExcludeSources: true,
    },
  });
  const installed = Object.keys(readDependencies());
  const missing = listImports(output).filter(
    (name) =>
      !name.startsWith('.') &&
      !isBuiltin(name) &&
      !installed.some((each) => name === each || name.startsWith(`${each}/`)),
  );
  if (missing.length > 0)
    throw new Error(
      `dist/ imports ${missing.join(', ')}, which an install would not bring: see dependencies.`,
    );
}

/** Returns true if a module is one of these, or if one of these imports it, directly or not, before it runs itself. */
function isImportedBy(roots: readonly string[], id: string, graph: ChunkingContext): boolean {
  const found = new Set(roots.map((root) => fileURLToPath(packageFile(root))));
  for (const each of found)
    for (const imported of graph.getModuleInfo(each)?.importedIds ?? []) found.add(imported);
  return found.has(id);
}

/**
 * Lists the packages that the bundle imports, including those that the compiler adds for syntax that older
 * Node versions lack.
 */
function listImports(output: RolldownOutput['output']): readonly string[] {
  const own = new Set<string>(output.map(({ fileName }) => fileName));
  const imports = output.flatMap((file) =>
    file.type === 'chunk' ? [...file.imports, ...file.dynamicImports] : [],
  );
  return [...new Set(imports)].filter((name) => !own.has(name));
}

function readDependencies(): Readonly<Record<string, string>> {
  const { dependencies } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8')) as {
    dependencies: Record<string, string>;
  };
  return dependencies;
}
