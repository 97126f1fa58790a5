import type { Period } from '../periods/periods.ts'
import type { LineInputs } from './line-inputs.ts'
import { priceLine, type PricedAmount } from './price-line.ts'

/** The time that something is charged for: [start, end). */
export type ChargedPeriod = Pick<Period, 'start' | 'end'>

export type InvoiceLine = PricedAmount & {
  /** For people. */
  readonly description: string
  /** Null where it is for no time, such as a set-up fee. */
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

/** Whether other lines contain the amount, which then is not to be added to theirs. */
export function isContained({ inputs }: Pick<InvoiceLine, 'inputs'>): boolean {
  return inputs.kind === 'tax' && inputs.isInclusive
}
