import type { Period } from '../periods/periods.ts'
import type { LineInputs } from './line-inputs.ts'
import { priceLine, type PricedAmount } from './price-line.ts'

/** The time that a line charges: [start, end). */
export type ChargedPeriod = Pick<Period, 'start' | 'end'>

export type InvoiceLine = PricedAmount & {
  /** Description for people. */
  readonly description: string
  /** The charged period; null for a line without one, such as a set-up fee. */
  readonly period: ChargedPeriod | null
  readonly inputs: LineInputs
}

export function invoiceLine(
  inputs: LineInputs,
  description: string,
  period: ChargedPeriod | null,
): InvoiceLine {
  return { description, period, inputs, ...priceLine(inputs) }
}

export function totalOf(lines: readonly Pick<InvoiceLine, 'inputs' | 'amountMinor'>[]): bigint {
  return lines.reduce((sum, line) => (isContained(line) ? sum : sum + line.amountMinor), 0n)
}

/** Returns whether other lines already contain the amount, so that it must not be added to them. */
export function isContained({ inputs }: Pick<InvoiceLine, 'inputs'>): boolean {
  return inputs.kind === 'tax' && inputs.isInclusive
}
