import { consolePath } from './paths.ts'
import { consolePageIn } from './next-path.ts'

/** With what the user continues after the sign-in. */
export type Continuation = {
  /** The CLI session with which the user continues. */
  readonly cliSessionId?: string | undefined
  /** The page of the console with which the user continues. */
  readonly next?: string | undefined
}

/**
 * Returns the CLI session or the page of the console with which the user continues. Any other address is ignored, so the page never
 * redirects to another site.
 */
export function continuationOf(given: unknown): Continuation {
  const { cli, next } = given as { readonly cli?: unknown; readonly next?: unknown }
  const isCliSession = typeof cli === 'string' && /^[0-9a-f]{32}$/.test(cli)
  return { cliSessionId: isCliSession ? cli : undefined, next: consolePageIn(next) }
}

/** Returns the fields from which `continuationOf` reads the same. */
export function fieldsOf({ cliSessionId, next }: Continuation): Readonly<Record<string, string>> {
  return {
    ...(cliSessionId !== undefined && { cli: cliSessionId }),
    ...(next !== undefined && { next }),
  }
}

export function nextPath(
  { basePath }: { readonly basePath: string },
  { cliSessionId, next = consolePath }: Continuation,
): string {
  const path = cliSessionId === undefined ? next : `${consolePath}/cli/${cliSessionId}`
  return basePath + path
}
