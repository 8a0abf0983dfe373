/**
 * Gives this process another environment. The object stays the same, because `process.loadEnvFile` and the processes that are started know
 * no other.
 *
 * @returns puts the environment of before back.
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
