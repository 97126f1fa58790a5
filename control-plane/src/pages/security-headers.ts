/** Other origins that a page uses. */
export type ForeignOrigins = {
  readonly scripts: readonly string[]
  readonly frames: readonly string[]
  readonly connections: readonly string[]
  /** Origins to which the response to a form may redirect, such as a bank's page. */
  readonly forms: readonly string[]
  /** Origins of Tollgate's own stylesheets and images, for a page that is not at the hosted address. */
  readonly files?: readonly string[]
  /** Other stylesheets that a page may apply, such as style elements with a nonce. */
  readonly styles?: readonly string[]
}

export const noForeignOrigins: ForeignOrigins = {
  scripts: [],
  frames: [],
  connections: [],
  forms: [],
}

/**
 * Returns the security headers of a page. They forbid inline code, resources of other origins and frames on other sites. Caches
 * must not store the page, and its address is not sent to other sites.
 */
export function securityHeaders(foreign: ForeignOrigins): Readonly<Record<string, string>> {
  return {
    'content-security-policy': [
      "default-src 'none'",
      sources('style-src', [...(foreign.files ?? []), ...(foreign.styles ?? [])]),
      sources('img-src', foreign.files ?? []),
      sources('script-src', foreign.scripts),
      sources('connect-src', foreign.connections),
      sources('form-action', foreign.forms),
      ...(foreign.frames.length === 0 ? [] : [`frame-src ${foreign.frames.join(' ')}`]),
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'x-robots-tag': 'noindex, nofollow',
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  }
}

function sources(directive: string, foreign: readonly string[]): string {
  return [directive, "'self'", ...foreign].join(' ')
}
