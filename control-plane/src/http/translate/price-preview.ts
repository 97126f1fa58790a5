import { previewTotal, type PricePreview } from '@tollgate/domain/pricing/preview-price'
import type { PricedPart } from '@tollgate/domain/pricing/price-charge'
import type { PricePreviewBody, UnitPriceBody } from '@tollgate/schemas/http/price-preview'
import { decimalFromMicros } from '@tollgate/schemas/quantity'

export function pricePreviewToHttp(preview: PricePreview, currency: string): PricePreviewBody {
  return {
    currency,
    lines: preview.lines.map((line) => ({
      ...(line.key === null ? {} : { charge: line.key }),
      ...(line.name === null ? {} : { displayName: line.name }),
      meterName: line.meterName,
      units: decimalFromMicros(line.usedMicros),
      pricedIn: line.pricedIn,
      prices: line.prices.map(unitPriceToHttp),
      amount: Number(line.amountMinor),
    })),
    unpriced: preview.unpriced.map(unpricedToHttp),
    ...(preview.minimumMinor > 0n && { minimum: Number(preview.minimumMinor) }),
    total: Number(previewTotal(preview)),
  }
}

export function unpricedToHttp({
  dimensions,
  ...usage
}: PricePreview['unpriced'][number]): PricePreviewBody['unpriced'][number] {
  return { ...usage, ...(dimensions === undefined ? {} : { dimensions: { ...dimensions } }) }
}

export function unitPriceToHttp({ micros, price, flatPrice }: PricedPart): UnitPriceBody {
  return {
    units: decimalFromMicros(micros),
    price,
    ...(flatPrice === '0' ? {} : { flatPrice }),
  }
}
