import type { FastifyRequest } from 'fastify'
import { findAssetNames } from '@tollgate/domain/merchants/assets'
import { findMerchant } from '@tollgate/domain/merchants/repository'
import { findProvider } from '@tollgate/domain/providers/repository'
import type { Caller } from '../access/caller.ts'
import { read, readControl, type ReadParts } from '../access/read.ts'
import { mayLeadTo } from '../access/require-links.ts'
import { assetsPath } from './asset-url.ts'
import type { ProviderFrame } from './provider/provider-page.tsx'
import { readerOf, type Reader } from './reader.ts'
import type { StaticFiles } from './static-files.ts'

/** The provider as its customers see it. */
export type ShownMerchant = {
  readonly name: string
  /** `#rrggbb` in lower case; null: the default colour. */
  readonly accentColor: string | null
  readonly legalName: string
  readonly supportEmail: string | null
  /** These three: null also where the provider's list of hosts does not allow them any more. */
  readonly supportUrl: string | null
  readonly termsUrl: string | null
  readonly privacyUrl: string | null
  /** Whether the provider's list of hosts allows a link to that address. */
  readonly mayLeadTo: (address: string) => boolean
  /** Paths of pictures that we serve. */
  readonly logo: string | null
  readonly icon: string | null
}

/** What surrounds every page. */
export type Frame = Reader & {
  /** What comes before our paths where the installation is not at the root of its address. */
  readonly basePath: string
  readonly files: StaticFiles
  /** Undefined while nobody knows whose page it is. */
  readonly merchant: ShownMerchant | undefined
  readonly isSandbox: boolean
}

/** What it takes to frame the page of a provider's customer. */
export type FrameParts = ReadParts & ProviderFrame & { readonly hostedUrl: string }

/** `locale`: that of the session whose page it is, if there is one. */
export function anonymousFrame(
  pages: ProviderFrame,
  request: FastifyRequest,
  locale: string | null = null,
): Frame {
  return {
    ...readerOf(request.headers['accept-language'], locale),
    basePath: pages.basePath,
    files: pages.files,
    merchant: undefined,
    isSandbox: false,
  }
}

export async function frameOf(
  pages: FrameParts,
  request: FastifyRequest,
  caller: Caller,
  locale: string | null = null,
): Promise<Frame> {
  return {
    ...anonymousFrame(pages, request, locale),
    merchant: await merchantOf(pages, caller),
    isSandbox: caller.environment === 'sandbox',
  }
}

async function merchantOf(pages: FrameParts, caller: Caller): Promise<ShownMerchant | undefined> {
  const { providerId } = caller
  const provider = await readControl(pages, caller, (sql) => findProvider(sql, providerId))
  if (provider === undefined) return undefined
  const { merchant, assets } = await read(pages, caller, async (sql) => ({
    merchant: await findMerchant(sql, providerId),
    assets: await findAssetNames(sql, providerId),
  }))
  const leadsTo = (address: string): boolean =>
    mayLeadTo(pages.hostedUrl, merchant.allowedLinkHosts, address)
  const allowed = (address: string | null): string | null =>
    address !== null && leadsTo(address) ? address : null
  const pathOf = (sha256: string | undefined): string | null =>
    sha256 === undefined ? null : `${pages.basePath}${assetsPath}/${sha256}`
  const name = merchant.displayName ?? provider.name
  return {
    name,
    accentColor: merchant.accentColor,
    legalName: merchant.legalName ?? name,
    supportEmail: merchant.supportEmail ?? provider.email,
    supportUrl: allowed(merchant.supportUrl),
    termsUrl: allowed(merchant.termsUrl),
    privacyUrl: allowed(merchant.privacyUrl),
    mayLeadTo: leadsTo,
    logo: pathOf(assets.get('logo')),
    icon: pathOf(assets.get('icon')),
  }
}
