import { requestsMeterName } from '@tollgate/schemas/http/meter-events'
import { microsFromNumber } from '@tollgate/schemas/quantity'
import { matchingRow, passesFilter } from '../plans/match-dimensions.ts'
import { isPrePaid, type PlanCore } from '../plans/plan.ts'
import { billedCharges, chargesWithPrices, type BilledCharge } from './billed-charges.ts'
import { isChargeTerms } from './charge-terms.ts'
import type { CreditConversion } from './line-inputs.ts'
import { partsOfUsage } from './price-charge.ts'
import { usageAmountMinor } from './price-line.ts'
import type { UnitsOfPeriod } from './price-usage.ts'

/** Usage of one period to be priced. */
export type PreviewedUsage = {
  readonly meter: string
  readonly units: number
  readonly dimensions?: Readonly<Record<string, string>> | undefined
}

type PreviewLine = {
  /** Null for a plan without charges. */
  readonly key: string | null
  readonly name: string | null
  readonly meterName: string
  /** Units of the period that the charge counts, 10^-6. */
  readonly usedMicros: bigint
  readonly pricedIn: 'minor' | 'credits'
  /** Units with the same price. A flat price is charged once in addition. */
  readonly prices: ReturnType<typeof partsOfUsage>
  /** Minor units of the currency, rounded once. */
  readonly amountMinor: bigint
}

export type PricePreview = {
  readonly lines: readonly PreviewLine[]
  /** What the usage costs less than the minimum of the plan, in minor units. 0 without a minimum. */
  readonly minimumMinor: bigint
  /** Usage of meters and dimensions that no charge of the plan prices. */
  readonly unpriced: readonly PreviewedUsage[]
}

/**
 * Returns what the usage of one whole period costs, without the price of the period itself, units carried over, and usage of
 * earlier purchases. Credits that a wallet pays are converted like those of an invoice.
 */
export function previewPrice(
  plan: PlanCore,
  usage: readonly PreviewedUsage[],
  conversion: CreditConversion,
): PricePreview {
  const charges = isPrePaid(plan) ? walletCharges(plan) : billedCharges(plan)
  const lines = charges.map((charge) => {
    const { key, name, meterName, terms } = charge
    const units = unitsCounted(charge, usage)
    return {
      key,
      name,
      meterName,
      usedMicros: units.usedMicros,
      pricedIn: isChargeTerms(terms) ? terms.rate.pricedIn : ('credits' as const),
      prices: partsOfUsage(terms, units).filter(
        ({ micros, flatPrice }) => micros !== 0n || flatPrice !== '0',
      ),
      amountMinor: usageAmountMinor(terms, units, conversion),
    }
  })
  const missingMinor = BigInt(plan.terms.minimumCommitment ?? 0) - sumAmounts(lines)
  const minimumMinor = missingMinor > 0n ? missingMinor : 0n
  return { lines, minimumMinor, unpriced: unpricedUsage(charges, usage) }
}

/** Returns the usage that none of the charges counts. */
export function unpricedUsage(
  charges: readonly Pick<BilledCharge, 'meterName' | 'where'>[],
  usage: readonly PreviewedUsage[],
): PreviewedUsage[] {
  return usage.filter((each) => !charges.some((charge) => isCounted(charge, each)))
}

/** Returns the charges that the wallet pays. */
function walletCharges(plan: PlanCore): BilledCharge[] {
  const { charges, creditsPerUnit = 0 } = plan.terms
  if (charges !== undefined) return chargesWithPrices(charges)
  const rate = { kind: 'flat', creditsPerUnit: String(creditsPerUnit) } as const
  const terms = { limit: null, freeUnits: '0', rate }
  return [{ key: null, name: null, meterName: requestsMeterName, terms, rollOverMicros: undefined }]
}

/** Returns the units that the charge counts. */
export function unitsCounted(
  charge: Pick<BilledCharge, 'meterName' | 'where' | 'terms'>,
  usage: readonly PreviewedUsage[],
): UnitsOfPeriod {
  const counted = usage.filter((each) => isCounted(charge, each))
  const usedMicros = sumOf(counted)
  const { terms } = charge
  if (terms.rate.kind !== 'matrix') return { usedMicros }
  const { rows } = terms.rate
  // The units of usage that no row matches come last.
  const rowMicros = [...rows, null].map(() => 0n)
  for (const each of counted) {
    const found = matchingRow(rows, each.dimensions ?? {})
    const row = found === -1 ? rows.length : found
    rowMicros[row] = rowMicros[row]! + sumOf([each])
  }
  return { usedMicros, rowMicros }
}

function isCounted(
  { meterName, where = {} }: Pick<BilledCharge, 'meterName' | 'where'>,
  usage: PreviewedUsage,
): boolean {
  const { meter, dimensions = {} } = usage
  return meter === meterName && passesFilter(where, dimensions)
}

function sumOf(usage: readonly PreviewedUsage[]): bigint {
  return usage.reduce((sum, { units }) => sum + BigInt(microsFromNumber(units) ?? 0), 0n)
}

/** Returns the total of the lines and the minimum, in minor units. */
export function previewTotal({ lines, minimumMinor }: PricePreview): bigint {
  return sumAmounts(lines) + minimumMinor
}

function sumAmounts(lines: readonly PreviewLine[]): bigint {
  return lines.reduce((sum, { amountMinor }) => sum + amountMinor, 0n)
}
