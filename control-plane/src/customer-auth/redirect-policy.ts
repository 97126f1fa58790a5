import { parseUrl } from '@tollgate/schemas/parse-url'
import { isLoopback } from '../upstream/is-loopback.ts'

/** The addresses to which clients may be redirected. */
export type RedirectPolicy = {
  /** Allowed hosts in lower case, each including its subdomains. */
  readonly hosts: readonly string[]
  readonly schemes: readonly string[]
  readonly isAnyHttpsAllowed: boolean
}

/** Returns what is wrong with the redirect URI, or undefined if it is allowed. */
export function faultOfRedirect(uri: unknown, policy: RedirectPolicy): string | undefined {
  const url = typeof uri === 'string' ? parseUrl(uri) : undefined
  if (typeof uri !== 'string' || url === undefined) return 'is not a URL'
  if (uri.includes('#')) return 'must not have a fragment'
  if (url.username !== '' || url.password !== '') return 'must not have a user name or password'
  const scheme = url.protocol.slice(0, -1)
  if (scheme === 'http') {
    return isLoopback(url) ? undefined : 'must use https unless it leads to this machine'
  }
  if (scheme !== 'https') {
    return policy.schemes.includes(scheme) ? undefined : 'has a scheme that is not allowed here'
  }
  // A host in a URL may contain semicolons, which would end a directive in the content security policy of the consent page.
  if (/[^\w.:[\]-]/.test(url.hostname)) return 'has a host that is not a domain name'
  if (policy.isAnyHttpsAllowed || isLoopback(url)) return undefined
  const isKnown = policy.hosts.some(
    (host) => url.hostname === host || url.hostname.endsWith(`.${host}`),
  )
  return isKnown ? undefined : 'leads to a host that is not allowed here'
}

/** Returns whether a client with this redirect URI runs on the machine of its user. */
export function isNativeRedirect(uri: string): boolean {
  const url = parseUrl(uri)
  if (url === undefined) return false
  return url.protocol === 'http:' ? isLoopback(url) : url.protocol !== 'https:'
}
