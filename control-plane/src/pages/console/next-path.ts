import { signInPath } from './paths.ts'

/**
 * A page of the console, with its query. An address of this pattern cannot lead to another site, because it follows the
 * installation's own address.
 */
const pattern = /^\/console\/(?:sandbox|live)(?:\/[\w.~%:-]+)*(?:\?[\w.~%=&:+-]*)?$/
const charsMax = 1_000

/** Returns the path if it is a page of the console, with which a user can continue after the sign-in. */
export function consolePageIn(path: unknown): string | undefined {
  return typeof path === 'string' && path.length <= charsMax && pattern.test(path)
    ? path
    : undefined
}

/** Returns the path of the sign-in page after which the user continues at `path`. */
export function signInPathFor(path: string): string {
  const next = consolePageIn(path)
  if (next === undefined) return signInPath
  return `${signInPath}?next=${encodeURIComponent(next)}`
}
