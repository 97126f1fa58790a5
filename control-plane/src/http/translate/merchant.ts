import type { AssetKind } from '@tollgate/domain/merchants/assets'
import type { Merchant } from '@tollgate/domain/merchants/repository'
import type { Provider } from '@tollgate/domain/providers/repository'
import type { MerchantBody } from '@tollgate/schemas/http/merchants'
import { assetUrl } from '../../pages/asset-url.ts'
import { present } from '../../domain/present.ts'

export function merchantToHttp(
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
    ...present({
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
