import { parseUrl } from '../parse-url.ts'
import { z } from 'zod'
import { listItemsMax, nameCharsMax } from '../limits.ts'

/*
 * Hosts that links on customers' pages may lead to. `shop.example` allows that host on any port, `*.shop.example` every host below
 * it.
 */

const wildcard = '*.'

export const linkHosts = z
  .array(
    z
      .string()
      .max(nameCharsMax)
      .refine((text) => normalLinkHost(text) !== undefined, {
        error: 'Expected a host such as shop.example, or *.shop.example for all hosts below it',
      }),
  )
  .min(1)
  .max(listItemsMax)

/** Returns the entry in the form that URLs have: lower case and ASCII. Returns undefined if it is not a host. */
export function normalLinkHost(text: string): string | undefined {
  const isWildcard = text.startsWith(wildcard)
  const name = isWildcard ? text.slice(wildcard.length) : text
  // These characters would be parsed as other parts of the URL.
  if (/[\s\p{Cc}/\\?#@%*]/u.test(name)) return undefined
  const url = parseUrl(`http://${name}/`)
  if (url === undefined) return undefined
  const { hostname, port } = url
  // URLs omit the default port, so only its colon shows that one was given.
  const isAddress = hostname.startsWith('[')
  if (port !== '' || (!isAddress && name.includes(':')) || (isAddress && !name.endsWith(']'))) {
    return undefined
  }
  const host = withoutRootDot(hostname)
  return host === '' ? undefined : `${isWildcard ? wildcard : ''}${host}`
}

/**
 * Returns whether the hosts allow a link to the address. `hosts` have the form that `normalLinkHost` returns; null allows every
 * host.
 */
export function isAllowedLink(hosts: readonly string[] | null, address: string): boolean {
  if (hosts === null) return true
  const url = parseUrl(address)
  if (url === undefined) return false
  const host = withoutRootDot(url.hostname)
  return hosts.some((each) =>
    each.startsWith(wildcard) ? host.endsWith(each.slice(1)) : host === each,
  )
}

/** `shop.example.` is the same host as `shop.example`. */
function withoutRootDot(hostname: string): string {
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
}
