import type { DebitTerms, EntitledCharge } from '@tollgate/schemas/hot-state/documents'
import { countsOf, type CountingEvent, type MeterEvent } from '@tollgate/schemas/meter-event'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import { decimalOfMicros, decimalOfUnits, divideRounded, picosOfDecimal } from '../money/decimal.ts'
import { matchingRow, passesFilter } from '../plans/match-dimensions.ts'
import { remainingWithoutCap } from './limit-answer.ts'

/** The debit of one charge for one event. */
export type ChargeDebit = {
  readonly chargeKey: string
  readonly meterName: string
  /** 10^-6 units. */
  readonly unitsMicros: bigint
  /** 10^-18 credits, which is exact. */
  readonly attoCredits: bigint
}

/** The fields of an event that decide what it costs. */
export type CostingEvent = CountingEvent & Pick<MeterEvent, 'dimensions'>

/** Returns what each charge debits for an event, in the order of the charges. A charge that does not apply is left out. */
export function chargeDebits(
  charges: readonly EntitledCharge[],
  event: CostingEvent,
): ChargeDebit[] {
  const counts = countsOf(event)
  const debits: ChargeDebit[] = []
  for (const { key, meterName, debit } of charges) {
    if (debit === undefined) continue
    if (debit.where !== undefined && !passesFilter(debit.where, event.dimensions)) continue
    for (const counted of counts) {
      if (counted.meterName !== meterName) continue
      const unitsMicros = BigInt(counted.value)
      const attoCredits = unitsMicros * ratePicos(debit, event.dimensions)
      debits.push({ chargeKey: key, meterName, unitsMicros, attoCredits })
    }
  }
  return debits
}

const attosPerMicro = 1_000_000_000_000n

/** Returns the sum of the debits in 10^-6 credits. It is rounded once per event, half away from zero. */
export function totalDebitMicros(debits: readonly ChargeDebit[]): bigint {
  const attos = debits.reduce((sum, { attoCredits }) => sum + attoCredits, 0n)
  return attos <= 0n ? 0n : divideRounded(attos, attosPerMicro)
}

/** Returns how many more calls of the same cost the balance pays for. */
export function affordableCalls(leftMicros: bigint, debits: readonly ChargeDebit[]): number {
  const cost = totalDebitMicros(debits)
  return cost === 0n ? remainingWithoutCap : Number(leftMicros / cost)
}

/** Returns what a response says about the debits. `debitedMicros` is what the wallet paid, in 10^-6 credits. */
export function chargedFields(debitedMicros: bigint, debits: readonly ChargeDebit[]) {
  const lackingMicros = totalDebitMicros(debits) - debitedMicros
  return {
    credits: decimalOfMicros(debitedMicros),
    ...(lackingMicros > 0n && { shortfall: decimalOfMicros(lackingMicros) }),
    charges: debits.map(({ chargeKey, meterName, unitsMicros, attoCredits }) => ({
      charge: chargeKey,
      meterName,
      units: numberFromMicros(unitsMicros),
      credits: decimalOfUnits(attoCredits, 18),
    })),
  }
}

/** Returns the highest rate of a charge in 10^-12 credits per unit. */
export function highestRatePicos(debit: DebitTerms): bigint {
  const { rows, otherwisePicos } = ratesOf(debit)
  return rows.reduce((most, picos) => (picos > most ? picos : most), otherwisePicos)
}

/** Returns the rate of an event with these dimensions in 10^-12 credits per unit. */
export function ratePicos(debit: DebitTerms, dimensions: CostingEvent['dimensions']): bigint {
  const { rows, otherwisePicos } = ratesOf(debit)
  return rows[matchingRow(debit.rows ?? [], dimensions)] ?? otherwisePicos
}

/** Rates in 10^-12 credits per unit. */
type Rates = {
  /** In the order of the rows. */
  readonly rows: readonly bigint[]
  readonly otherwisePicos: bigint
}

/** Parsed rates by terms. Published documents are parsed once and shared, so most events find theirs here. */
const known = new WeakMap<DebitTerms, Rates>()

function ratesOf(debit: DebitTerms): Rates {
  let rates = known.get(debit)
  if (rates === undefined) {
    const rows = (debit.rows ?? []).map((row) => picosOfDecimal(row.creditsPerUnit))
    rates = { rows, otherwisePicos: picosOfDecimal(debit.creditsPerUnit) }
    known.set(debit, rates)
  }
  return rates
}
