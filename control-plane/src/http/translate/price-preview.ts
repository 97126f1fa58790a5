import type { Plan } from '@tollgate/domain/plans/plan'
import { pricesIn } from '@tollgate/domain/pricing/plan-prices'
import { previewTotal, type PricePreview } from '@tollgate/domain/pricing/preview-price'
import type { PricedPart } from '@tollgate/domain/pricing/price-charge'
import type {
  PriceCurveBody,
  PricePreviewBody,
  UnitPriceBody,
} from '@tollgate/schemas/http/price-preview'
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

/** Returns the prices of one period at each number of units. The previews are in the order of the units. */
export function priceCurveToHttp(
  plan: Plan,
  currency: string,
  units: readonly number[],
  previews: readonly PricePreview[],
): PriceCurveBody {
  const priceMinor = pricesIn(plan, currency)?.priceMinor ?? 0n
  return {
    currency,
    price: Number(priceMinor),
    points: previews.map((preview, index) => {
      const usageMinor = previewTotal(preview)
      return {
        units: units[index]!,
        usage: Number(usageMinor),
        total: Number(usageMinor + priceMinor),
      }
    }),
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
