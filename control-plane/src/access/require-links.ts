import { parseUrl } from '@tollgate/schemas/parse-url'
import { findMerchant } from '@tollgate/domain/merchants/repository'
import { isAllowedLink } from '@tollgate/schemas/http/link-hosts'
import type { Caller } from './caller.ts'
import { InvalidRequestError } from '../errors.ts'
import { read, type ReadParts } from './read.ts'

/** Addresses by the name of the request field that contains them. Empty and missing addresses are allowed. */
type Links = Readonly<Record<string, string | null | undefined>>

/** Refuses links to hosts that are not in the provider's list. Pages of this installation are always allowed. */
export async function requireAllowedLinks(
  parts: ReadParts & { readonly hostedUrl: string },
  caller: Caller,
  links: Links,
): Promise<void> {
  if (Object.values(links).every((address) => !address)) return
  const { providerId } = caller
  const { allowedLinkHosts } = await read(parts, caller, (sql) => findMerchant(sql, providerId))
  requireLinksToHosts(parts, allowedLinkHosts, links)
}

/** Like `requireAllowedLinks`, for a list of hosts that the caller has already read. */
export function requireLinksToHosts(
  { hostedUrl }: { readonly hostedUrl: string },
  hosts: readonly string[] | null,
  links: Links,
): void {
  const issues = Object.entries(links).flatMap(([field, address]) =>
    !address || mayLinkTo(hostedUrl, hosts, address)
      ? []
      : [{ code: 'custom', path: [field], message: hostNotAllowedMessage }],
  )
  if (issues.length > 0) throw new InvalidRequestError(issues)
}

const hostNotAllowedMessage =
  'The host is not in allowedLinkHosts. Use a host of that list, or add it with PATCH /v1/ui/merchant.'

/** Returns whether a page may link to the address now. The list may have changed since the address was stored. */
export function mayLinkTo(
  hostedUrl: string,
  hosts: readonly string[] | null,
  address: string,
): boolean {
  if (isAllowedLink(hosts, address)) return true
  return parseUrl(address)?.origin === new URL(hostedUrl).origin
}
