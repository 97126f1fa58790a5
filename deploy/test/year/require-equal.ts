/** Throws if the installation did something else than the model. */
export function requireEqual(what: string, found: unknown, expected: unknown): void {
  if (!Object.is(found, expected)) {
    throw new Error(`${what}: found ${String(found)}, expected ${String(expected)}`)
  }
}
