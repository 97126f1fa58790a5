import type { TaxBreakdown } from '@tollgate/domain/invoices/tax-breakdown'
import type { TaxedPaymentBody } from '@tollgate/schemas/http/payment-intents'

export function taxToHttp(tax: TaxBreakdown, currency: string): TaxedPaymentBody['taxBreakdown'] {
  return {
    subtotal: Number(tax.subtotalMinor),
    taxAmount: Number(tax.taxMinor),
    taxRate: Number(tax.ratePerMille) / 1000,
    treatment: tax.treatment,
    total: Number(tax.totalMinor),
    currency,
    inclusive: tax.isInclusive,
  }
}
