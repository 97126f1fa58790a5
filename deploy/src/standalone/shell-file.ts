/** Parses a file written by `formatShellFile`. */
export function parseShellFile(text: string): Record<string, string> {
  const lines = text.matchAll(/^([A-Z_]+)='([^']*)'$/gm)
  return Object.fromEntries([...lines].map(([, name, value]) => [name!, value!]))
}

/** Returns the environment as assignments for a shell. No value may contain a single quote. */
export function formatShellFile(environment: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(environment)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}='${value}'\n`)
    .join('')
}
