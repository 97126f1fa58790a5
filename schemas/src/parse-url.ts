/**
 * Returns the parsed URL, or undefined if the text is none. `URL.canParse` must not be used for this: as soon as Node 20 has compiled
 * its caller, it refuses URLs with characters such as ü.
 */
export function parseUrl(text: string): URL | undefined {
  try {
    return new URL(text)
  } catch {
    return undefined
  }
}
