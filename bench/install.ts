/**
 * Installs the programs that benchmarks compare with, at first use and outside of this project, by the
 * ordinary clients of their languages. Their versions are pinned.
 */
import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where a program is, or why it cannot be had. */
export type Installed = { readonly path: string } | { readonly missing: string };

function cacheFolder(): string {
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'influencer-sync-bench');
  mkdirSync(folder, { recursive: true });
  return folder;
}

/**
 * Builds a command of a Go module, with the versions that its own go.mod and go.sum name. `go install` refuses
 * modules that replace a dependency, and asks for all versions of a module, which not every proxy has.
 *
 * @param options.command path of the command in the module, as `cmd/benthos`.
 * @returns path of the program.
 */
export function installGo(options: {
  readonly module: string;
  readonly version: string;
  readonly command: string;
  /** Flags of `go build` that the module needs. */
  readonly flags?: readonly string[];
}): Installed {
  const { module, version, command, flags = [] } = options;
  const name = command.slice(command.lastIndexOf('/') + 1);
  const cache = cacheFolder();
  const path = join(cache, `${name}-${version}`);
  if (existsSync(path)) return { path };
  if (!isThere('go', 'version')) return { missing: 'Go was not found' };
  const env = { ...process.env, GOWORK: 'off' };
  const download = run('go', ['mod', 'download', '-json', `${module}@${version}`], { env, cwd: cache });
  if (download.status !== 0) return failure(`go mod download ${module}@${version}`, download);
  const { Dir: folder } = JSON.parse(download.stdout) as { Dir: string };
  const built = `${path}.${process.pid}`;
  const args = ['build', '-mod=readonly', '-buildvcs=false', ...flags, '-o', built, `./${command}`];
  const build = run('go', args, { env, cwd: folder });
  if (build.status !== 0) return failure(`go build ${module}/${command}`, build);
  renameSync(built, path);
  return { path };
}

/**
 * Installs the packages of a requirements file into a virtual environment of their own.
 *
 * @returns path of the environment's folder of programs.
 */
export function installPython(name: string, requirements: URL): Installed {
  const pinned = readFileSync(requirements, 'utf8');
  const folder = join(cacheFolder(), name);
  const path = join(folder, 'bin');
  const done = join(folder, 'requirements.txt');
  if (existsSync(done) && readFileSync(done, 'utf8') === pinned) return { path };
  if (!isThere('python3', '--version')) return { missing: 'Python (python3) was not found' };
  rmSync(folder, { recursive: true, force: true });
  const venv = run('python3', ['-m', 'venv', folder]);
  if (venv.status !== 0) return failure('python3 -m venv', venv);
  const args = ['install', '--quiet', '--requirement', requirements.pathname];
  const pip = run(join(path, 'pip'), args);
  if (pip.status !== 0) return failure('pip install', pip);
  // Written last, so that an installation that was interrupted begins anew.
  copyFileSync(requirements, done);
  return { path };
}

/** Looks for a program of the machine in the PATH. */
export function findProgram(name: string, versionOption: string): Installed {
  return isThere(name, versionOption) ? { path: name } : { missing: `${name} was not found` };
}

function isThere(program: string, versionOption: string): boolean {
  return run(program, [versionOption]).status === 0;
}

function run(
  program: string,
  args: readonly string[],
  options: { readonly env?: NodeJS.ProcessEnv; readonly cwd?: string } = {},
): SpawnSyncReturns<string> {
  return spawnSync(program, args, { encoding: 'utf8', ...options });
}

function failure(what: string, { stderr, error }: SpawnSyncReturns<string>): Installed {
  const last = (stderr ?? '').trim().split('\n').at(-1);
  return { missing: `${what} failed: ${error?.message ?? last}` };
}
