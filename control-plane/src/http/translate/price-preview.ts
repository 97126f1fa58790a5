import { previewTotal, type PricePreview } from '@tollgate/domain/pricing/preview-price'
import type { PricePreviewBody } from '@tollgate/schemas/http/price-preview'
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
      prices: line.prices.map(({ micros, price, flatPrice }) => ({
        units: decimalFromMicros(micros),
        price,
        ...(flatPrice === '0' ? {} : { flatPrice }),
      })),
      amount: Number(line.amountMinor),
    })),
    unpriced: preview.unpriced.map(({ dimensions, ...usage }) => ({
      ...usage,
      ...(dimensions === undefined ? {} : { dimensions: { ...dimensions } }),
    })),
    total: Number(previewTotal(preview)),
  }
}
