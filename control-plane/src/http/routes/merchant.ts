import { findAssetNames, type AssetKind } from '@tollgate/domain/merchants/assets'
import { changeMerchant, findMerchant, type Merchant } from '@tollgate/domain/merchants/repository'
import {
  merchantSchema,
  merchantUpdateSchema,
  platformConfigSchema,
  type MerchantBody,
  type MerchantUpdate,
} from '@tollgate/schemas/http/merchants'
import { decideTaxDetails } from '@tollgate/domain/tax/tax-details'
import { invalidField } from '../../errors.ts'
import { normalLinkHost } from '@tollgate/schemas/http/link-hosts'
import type { Environment } from '@tollgate/schemas/environment'
import type { ApiServer } from '../../access/api-server.ts'
import { commit, type ChangeParts } from '../../access/commit.ts'
import { callerOf, operationOf, type Caller } from '../../access/caller.ts'
import { read, type ReadParts } from '../../access/read.ts'
import { requireAllowedLinks, requireLinksToHosts } from '../../access/require-links.ts'
import { requireProvider } from '../../access/require.ts'
import type { Provider } from '@tollgate/domain/providers/repository'
import { assetUrl } from '../../pages/asset-url.ts'
import { definedFields } from '../../domain/defined-fields.ts'

type Parts = ChangeParts & {
  readonly publishableKeys: Readonly<Record<Environment, string>>
  readonly hostedUrl: string
}

const tags = ['Merchant']

export function registerMerchantRoutes(app: ApiServer, parts: Parts): void {
  app.get(
    '/v1/sdk/merchant',
    {
      config: { misplacedKey: 'not-found' },
      schema: { tags, response: { 200: merchantSchema } },
    },
    (request) => readMerchantBody(parts, callerOf(request)),
  )

  app.patch(
    '/v1/ui/merchant',
    { schema: { tags, body: merchantUpdateSchema, response: { 200: merchantSchema } } },
    async (request) => {
      const { supportedTopupCurrencies, country, lowBalanceCredits, name, ...change } = request.body
      const { supportUrl, termsUrl, privacyUrl } = change
      const allowedLinkHosts = change.allowedLinkHosts?.map((host) => normalLinkHost(host)!)
      const links = { supportUrl, termsUrl, privacyUrl }
      // The new list of hosts applies to the links in the same request. Stored links may lead to other hosts; pages omit those
      // links from now on.
      if (change.allowedLinkHosts === undefined) {
        await requireAllowedLinks(parts, callerOf(request), links)
      } else {
        requireLinksToHosts(parts, allowedLinkHosts ?? null, links)
      }
      const changedFields = {
        ...change,
        ...defaultTaxPlace(change),
        displayName: trimmed(name === undefined ? change.displayName : name),
        accentColor: change.accentColor?.toLowerCase() ?? change.accentColor,
        address: withoutEmptyLines(change.address),
        allowedLinkHosts: allowedLinkHosts ?? change.allowedLinkHosts,
        country: country?.toUpperCase() ?? country,
        topupCurrencies: supportedTopupCurrencies?.map((code) => code.toUpperCase()),
        lowBalanceCredits:
          typeof lowBalanceCredits === 'number' ? BigInt(lowBalanceCredits) : lowBalanceCredits,
      }
      await commit(parts, operationOf(request, parts.clock), ({ sql, providerId, now }) =>
        changeMerchant(sql, providerId, changedFields, now),
      )
      return readMerchantBody(parts, callerOf(request))
    },
  )

  app.get(
    '/v1/sdk/platform-config',
    { schema: { tags, response: { 200: platformConfigSchema } } },
    (request) => {
      const stripePublishableKey = parts.publishableKeys[callerOf(request).environment]
      return stripePublishableKey === '' ? {} : { stripePublishableKey }
    },
  )
}

/** Returns the country and region of customers without tax details. A change of the country replaces both. */
function defaultTaxPlace({
  defaultTaxCountry,
  defaultTaxRegion,
}: Pick<MerchantUpdate, 'defaultTaxCountry' | 'defaultTaxRegion'>) {
  if (defaultTaxCountry === undefined) {
    if (defaultTaxRegion === undefined) return {}
    throw invalidField('defaultTaxRegion', 'Send defaultTaxCountry with its region')
  }
  if (defaultTaxCountry === null) return { defaultTaxCountry: null, defaultTaxRegion: null }
  const region = defaultTaxRegion ?? undefined
  const entered = { isBusiness: false, customerCountry: defaultTaxCountry, region }
  const decision = decideTaxDetails(entered, undefined)
  if (decision.kind === 'refuse') {
    const isRegion = decision.field === 'region'
    throw invalidField(isRegion ? 'defaultTaxRegion' : 'defaultTaxCountry', decision.reason)
  }
  const { country, region: decidedRegion = null } = decision.details
  return { defaultTaxCountry: country, defaultTaxRegion: decidedRegion }
}

function trimmed(text: string | null | undefined): string | null | undefined {
  return text?.trim() ?? text
}

/** Returns the address without empty lines, or null if no line is left. */
function withoutEmptyLines(address: string | null | undefined): string | null | undefined {
  if (address === undefined || address === null) return address
  const lines = address.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '').join('\n') || null
}

async function readMerchantBody(
  parts: ReadParts & { readonly hostedUrl: string },
  caller: Caller,
): Promise<MerchantBody> {
  const { providerId } = caller
  const provider = await requireProvider(parts, caller)
  const { merchant, assets } = await read(parts, caller, async (sql) => ({
    merchant: await findMerchant(sql, providerId),
    assets: await findAssetNames(sql, providerId),
  }))
  return merchantToHttp(provider, merchant, assets, parts.hostedUrl)
}

function merchantToHttp(
  { name: providerName, email, defaultCurrency }: Provider,
  { topupCurrencies, lowBalanceCredits, allowedLinkHosts, ...merchant }: Merchant,
  assets: ReadonlyMap<AssetKind, string>,
  hostedUrl: string,
): MerchantBody {
  const name = merchant.displayName ?? providerName
  const supportEmail = merchant.supportEmail ?? email
  const urlOf = (kind: AssetKind): string | undefined => {
    const sha256 = assets.get(kind)
    return sha256 === undefined ? undefined : assetUrl(hostedUrl, sha256)
  }
  return {
    ...definedFields({
      ...merchant,
      supportEmail,
      supportContact: supportEmail ?? merchant.supportUrl,
      logoUrl: urlOf('logo'),
      iconUrl: urlOf('icon'),
      lowBalanceCredits: lowBalanceCredits === null ? null : Number(lowBalanceCredits),
      allowedLinkHosts: allowedLinkHosts === null ? null : [...allowedLinkHosts],
    }),
    name,
    displayName: name,
    legalName: merchant.legalName ?? name,
    defaultCurrency,
    supportedTopupCurrencies: [...new Set([defaultCurrency, ...topupCurrencies])],
  }
}
