/** Reads what `asShellFile` wrote. */
export function readShellFile(text: string): Record<string, string> {
  const lines = text.matchAll(/^([A-Z_]+)='([^']*)'$/gm)
  return Object.fromEntries([...lines].map(([, name, value]) => [name!, value!]))
}

/** As a shell reads it; no value of ours holds a quote. */
export function asShellFile(environment: Readonly<Record<string, string | undefined>>): string {
  return Object.entries(environment)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}='${value}'\n`)
    .join('')
}
