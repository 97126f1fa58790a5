import type { Merchant } from '../merchants/repository.ts'
import type { TaxBuyer } from '../tax/tax-rule.ts'
import type { AskedSale } from '../tax-service/tax-question.ts'
import type { TaxedSale } from './taxed-sale.ts'

/** Returns what the tax service of the provider is told about a sale. */
export function askedSale({
  merchant,
  buyer: { isBusiness, country, region = null, taxId, address },
  sale: { customerRef, productRef, plan, currency, lines },
  isInclusive,
  at,
  isLive,
}: {
  readonly merchant: Pick<Merchant, 'country' | 'vatNumber' | 'taxId' | 'address'>
  readonly buyer: TaxBuyer & { readonly address: string | null }
  readonly sale: TaxedSale
  readonly isInclusive: boolean
  readonly at: Date
  readonly isLive: boolean
}): AskedSale {
  return {
    livemode: isLive,
    date: at.toISOString().slice(0, 10),
    currency,
    pricesIncludeTax: isInclusive,
    seller: {
      country: merchant.country,
      taxId: merchant.vatNumber ?? merchant.taxId,
      address: merchant.address,
    },
    buyer: { reference: customerRef, isBusiness, country, region, address, taxId },
    product: productRef,
    plan: plan?.reference ?? null,
    lines: lines.map(({ inputs: { kind }, description, amountMinor }) => ({
      kind,
      description,
      amount: Number(amountMinor),
    })),
  }
}
