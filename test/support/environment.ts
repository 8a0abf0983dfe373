/**
 * Replaces the environment of this process. Keeps the same object, because `process.loadEnvFile` and child
 * processes use it.
 *
 * @returns a function that restores the previous environment.
 */
export function replaceEnvironment(env: Readonly<NodeJS.ProcessEnv>): () => void {
  const before = { ...process.env };
  set(env);
  return () => set(before);
}

function set(env: Readonly<NodeJS.ProcessEnv>): void {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value;
}
