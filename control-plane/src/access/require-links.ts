import { findMerchant } from '@tollgate/domain/merchants/repository'
import { isAllowedLink } from '@tollgate/schemas/http/link-hosts'
import type { Caller } from './caller.ts'
import { InvalidRequestError } from '../errors.ts'
import { read, type ReadParts } from './read.ts'

/** Addresses by the field of the request that they stand in. Empty and missing ones lead nowhere. */
type Links = Readonly<Record<string, string | null | undefined>>

/** Refuses links to hosts that the provider's list leaves out. Pages of this installation may always be led to. */
export async function requireAllowedLinks(
  parts: ReadParts & { readonly hostedUrl: string },
  caller: Caller,
  links: Links,
): Promise<void> {
  if (Object.values(links).every((address) => !address)) return
  const { providerId } = caller
  const { allowedLinkHosts } = await read(parts, caller, (sql) => findMerchant(sql, providerId))
  requireLinksOf(parts, allowedLinkHosts, links)
}

/** The same for a list that is known. */
export function requireLinksOf(
  { hostedUrl }: { readonly hostedUrl: string },
  hosts: readonly string[] | null,
  links: Links,
): void {
  const issues = Object.entries(links).flatMap(([field, address]) =>
    !address || mayLeadTo(hostedUrl, hosts, address)
      ? []
      : [{ code: 'custom', path: [field], message: notAllowed }],
  )
  if (issues.length > 0) throw new InvalidRequestError(issues)
}

const notAllowed =
  'The host is not in allowedLinkHosts. Use a host of that list, or add it with PATCH /v1/ui/merchant.'

/** Whether a page may lead there now: the list may be another one than when the address was stored. */
export function mayLeadTo(
  hostedUrl: string,
  hosts: readonly string[] | null,
  address: string,
): boolean {
  if (isAllowedLink(hosts, address)) return true
  return URL.canParse(address) && new URL(address).origin === new URL(hostedUrl).origin
}
