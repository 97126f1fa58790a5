import { z } from 'zod'
import { listItemsMax, nameCharsMax } from '../limits.ts'

/*
 * The hosts that links on customers' pages may lead to: `shop.example` is that host alone on any port, `*.shop.example`
 * every host below it.
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

/** Returns the entry as URLs spell their host: lower case, and in ASCII. Undefined: it is no host. */
export function normalLinkHost(text: string): string | undefined {
  const isWildcard = text.startsWith(wildcard)
  const name = isWildcard ? text.slice(wildcard.length) : text
  // What belongs to other parts of a URL would be taken for them.
  if (/[\s\p{Cc}/\\?#@%*]/u.test(name) || !URL.canParse(`http://${name}/`)) return undefined
  const { hostname, port } = new URL(`http://${name}/`)
  // The default port is left out of a URL, so that its colon is all that is seen of it.
  const isAddress = hostname.startsWith('[')
  if (port !== '' || (!isAddress && name.includes(':')) || (isAddress && !name.endsWith(']'))) {
    return undefined
  }
  const host = withoutRootDot(hostname)
  return host === '' ? undefined : `${isWildcard ? wildcard : ''}${host}`
}

/** Whether the hosts allow a link to that address. `hosts` are as `normalLinkHost` returns them; null allows every host. */
export function isAllowedLink(hosts: readonly string[] | null, address: string): boolean {
  if (hosts === null) return true
  if (!URL.canParse(address)) return false
  const host = withoutRootDot(new URL(address).hostname)
  return hosts.some((each) =>
    each.startsWith(wildcard) ? host.endsWith(each.slice(1)) : host === each,
  )
}

/** `shop.example.` is the same host as `shop.example`. */
function withoutRootDot(hostname: string): string {
  return hostname.endsWith('.') ? hostname.slice(0, -1) : hostname
}
