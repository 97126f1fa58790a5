import { lineOfItem } from '../invoices/items-repository.ts'
import type { InvoiceLine } from '../pricing/invoice-line.ts'
import type { ItemCharge } from '../pricing/line-inputs.ts'

/** A line that a person adds: the price of one unit in minor units, and how many units, as decimal text. */
export type RequestedLine = {
  readonly description: string
  readonly unitMinor: bigint
  readonly quantity: string
}

export function inputsOfLine({ unitMinor, quantity }: RequestedLine): ItemCharge {
  return { kind: 'item', unitMinor: unitMinor.toString(), quantity }
}

export function toInvoiceLine(line: RequestedLine): InvoiceLine {
  return lineOfItem({ inputs: inputsOfLine(line), description: line.description })
}

/** Returns the parts of the line that distinguish a repeated request from another one with its key. */
export function textsOfLine({ description, unitMinor, quantity }: RequestedLine): string[] {
  return [description, unitMinor.toString(), quantity]
}
