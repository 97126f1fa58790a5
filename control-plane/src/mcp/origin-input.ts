import { originAuthPlace, type OriginAuth } from '@tollgate/domain/catalog/mcp-servers-repository'
import type { Outbound } from '@tollgate/platform/outbound/open-outbound'
import type { Secrets } from '@tollgate/platform/secrets/open-secrets'
import { refusals } from '../errors.ts'
import type { Caller } from '../access/caller.ts'

/** Refuses an origin that requests will never be sent to, so that the provider gets the error when it enters the address. */
export function requireOrigin(
  { outbound }: { readonly outbound: Pick<Outbound, 'of'> },
  { environment }: Caller,
  originUrl: string,
): void {
  const judgement = outbound.of(environment).judge(originUrl)
  if (judgement.kind === 'refused') {
    throw refusals.mcp('INVALID_ORIGIN_URL', `originUrl ${judgement.reason}`)
  }
}

/** Returns the credentials for an origin in encrypted form, or undefined if there are none. */
export function sealAuth(
  { secrets }: { readonly secrets: Secrets },
  { providerId }: Caller,
  header: string | undefined,
  key: string | undefined,
): OriginAuth | undefined {
  if (key === undefined) return undefined
  const place = originAuthPlace(providerId)
  if (header !== undefined) return { header, sealedValue: secrets.seal(key, place) }
  return { header: 'Authorization', sealedValue: secrets.seal(`Bearer ${key}`, place) }
}
