import {
  chargedMeters,
  type ChargedCustomer,
  type ChargedMeter,
  type ChargedUnits,
} from '../client/charged-product.ts'

/** What one place knows of a customer's usage with several charges. */
export type ChargedTotals = {
  records: number
  /** 10^-6 credits. */
  debitMicros: bigint
  readonly units: Record<ChargedMeter, number>
}

export type ChargedLedger = ChargedCustomer & {
  readonly sent: ChargedTotals
  readonly acked: ChargedTotals
}

export function noChargedTotals(): ChargedTotals {
  return {
    records: 0,
    debitMicros: 0n,
    units: { input: 0, output: 0, cached: 0, calls: 0, turns: 0 },
  }
}

export function newChargedLedger(customer: ChargedCustomer): ChargedLedger {
  return { ...customer, sent: noChargedTotals(), acked: noChargedTotals() }
}

/** Adds one record with its debit. */
export function addRecord(totals: ChargedTotals, units: ChargedUnits, debitMicros: bigint): void {
  totals.records += 1
  totals.debitMicros += debitMicros
  for (const meter of chargedMeters) totals.units[meter] += units[meter] ?? 0
}
