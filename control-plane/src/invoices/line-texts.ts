import { formatMoney } from '@tollgate/domain/money/currencies'
import type { InvoiceLine } from '@tollgate/domain/pricing/invoice-line'
import { periodDetails, type LineTexts } from './document-texts.ts'
import { documentText } from './document-words.ts'
import { lateUsageTexts, unitsText, usageTexts, type UsageTexts } from './usage-texts.ts'

/** Returns a row of the invoice table: the item, its quantity and its price. */
export function lineTexts(line: InvoiceLine, currency: string): LineTexts {
  const { details, prices } = computationOf(line, currency)
  return {
    description: line.description,
    details: [...periodDetails(line), ...details],
    quantities: prices.map(({ quantity }) => quantity),
    unitPrices: prices.map(({ unitPrice }) => unitPrice),
    amount: formatMoney(line.amountMinor, currency),
  }
}

function computationOf({ inputs, amountMinor }: InvoiceLine, currency: string): UsageTexts {
  const whole = { quantity: '1', unitPrice: formatMoney(amountMinor, currency) }
  switch (inputs.kind) {
    case 'usage':
      return usageTexts(inputs)
    case 'late_usage':
      return lateUsageTexts(inputs)
    case 'credits':
      return {
        details: [documentText('credits', { credits: unitsText(inputs.credits) })],
        prices: [whole],
      }
    case 'add_on':
    case 'item': {
      const unitPrice = formatMoney(BigInt(inputs.unitMinor), currency)
      return { details: [], prices: [{ quantity: unitsText(inputs.quantity), unitPrice }] }
    }
    // Amounts carried over from earlier invoices have no quantity.
    case 'carried_in':
      return { details: [], prices: [] }
    default:
      return {
        details: [],
        prices: [whole],
      }
  }
}
