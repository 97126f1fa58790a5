import type { FastifyRequest } from 'fastify'
import { findAssetNames } from '@tollgate/domain/merchants/assets'
import { findMerchant } from '@tollgate/domain/merchants/repository'
import { findProvider } from '@tollgate/domain/providers/repository'
import type { Caller } from '../access/caller.ts'
import { read, readControl, type ReadParts } from '../access/read.ts'
import { mayLinkTo } from '../access/require-links.ts'
import { assetsPath } from './asset-url.ts'
import type { ProviderFrame } from './provider/provider-page.tsx'
import { readerOf, type Reader } from './reader.ts'
import type { StaticFiles } from './static-files.ts'

/** The provider as its customers see it. */
export type ShownMerchant = {
  readonly name: string
  /** `#rrggbb` in lower case. Null means the default color. */
  readonly accentColor: string | null
  readonly legalName: string
  /** Postal address in lines separated by line feeds, without the country. */
  readonly address: string | null
  readonly supportEmail: string | null
  /** This address and the next two are also null if the provider's list of hosts no longer allows them. */
  readonly supportUrl: string | null
  readonly termsUrl: string | null
  readonly privacyUrl: string | null
  /** Returns whether the provider's list of hosts allows a link to the address. */
  readonly mayLinkTo: (address: string) => boolean
  /** Paths of the provider's images on this installation. */
  readonly logo: string | null
  readonly icon: string | null
}

/** Data for the frame of every page. */
export type Frame = Reader & {
  /** Path before all paths of this service, if the installation is not at the root of its address. */
  readonly basePath: string
  readonly files: StaticFiles
  /** Undefined while the provider of the page is unknown. */
  readonly merchant: ShownMerchant | undefined
  readonly isSandbox: boolean
}

/** The parts that build the frame of a page for a provider's customer. */
export type FrameParts = ReadParts & ProviderFrame & { readonly hostedUrl: string }

/** Returns the frame of a page without a provider. `locale` is the locale of the page's session, if there is one. */
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
    merchant: await shownMerchantOf(pages, caller),
    isSandbox: caller.environment === 'sandbox',
  }
}

/** Reads the provider as its customers see it. Returns undefined if there is no such provider. */
export async function shownMerchantOf(
  pages: Pick<FrameParts, 'database' | 'hostedUrl' | 'basePath'>,
  caller: Caller,
): Promise<ShownMerchant | undefined> {
  const { providerId } = caller
  const provider = await readControl(pages, caller, (sql) => findProvider(sql, providerId))
  if (provider === undefined) return undefined
  const { merchant, assets } = await read(pages, caller, async (sql) => ({
    merchant: await findMerchant(sql, providerId),
    assets: await findAssetNames(sql, providerId),
  }))
  const isLinkAllowed = (address: string): boolean =>
    mayLinkTo(pages.hostedUrl, merchant.allowedLinkHosts, address)
  const allowed = (address: string | null): string | null =>
    address !== null && isLinkAllowed(address) ? address : null
  const pathOf = (sha256: string | undefined): string | null =>
    sha256 === undefined ? null : `${pages.basePath}${assetsPath}/${sha256}`
  const name = merchant.displayName ?? provider.name
  return {
    name,
    accentColor: merchant.accentColor,
    legalName: merchant.legalName ?? name,
    address: merchant.address,
    supportEmail: merchant.supportEmail ?? provider.email,
    supportUrl: allowed(merchant.supportUrl),
    termsUrl: allowed(merchant.termsUrl),
    privacyUrl: allowed(merchant.privacyUrl),
    mayLinkTo: isLinkAllowed,
    logo: pathOf(assets.get('logo')),
    icon: pathOf(assets.get('icon')),
  }
}
