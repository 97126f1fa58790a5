import { lockCustomer } from '../customers/repository.ts'
import { findItemOfKey, insertItem, type InvoiceItem } from '../invoices/items-repository.ts'
import { findExchangeRate } from '../money/exchange-rates.ts'
import { sha256OfInput } from '../money-ledger/ledger.ts'
import { generateReference } from '../unit-of-work/generate-reference.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { inputsOfLine, textsOfLine, type RequestedLine } from './requested-line.ts'
import { findRepeated } from './find-repeated.ts'

export type ItemRequest = {
  readonly customerRef: string
  /** ISO 4217, upper case. */
  readonly currency: string
  readonly line: RequestedLine
  readonly reason: string
}

export type ItemOutcome =
  | { readonly kind: 'added'; readonly item: InvoiceItem }
  | { readonly kind: 'not-found' }
  | { readonly kind: 'key-reused' }
  /** The currency has no exchange rate, so no payment in it can be made. */
  | { readonly kind: 'no-rate' }

/** Adds a line to the customer's next invoice in the currency that charges a period or usage. */
export async function addItem(work: UnitOfWork, request: ItemRequest): Promise<ItemOutcome> {
  const { sql, providerId, idempotencyKey, now } = work
  const { customerRef, currency, line, reason } = request
  if ((await lockCustomer(sql, providerId, customerRef)) === undefined) return { kind: 'not-found' }
  const inputSha256 = sha256OfInput([customerRef, currency, reason, ...textsOfLine(line)])
  const before = await findRepeated(work, inputSha256, (key) => findItemOfKey(sql, providerId, key))
  if (before === 'key-reused') return { kind: 'key-reused' }
  if (before !== undefined) return { kind: 'added', item: before.item }
  if ((await findExchangeRate(sql, providerId, currency)) === undefined) return { kind: 'no-rate' }
  const item: InvoiceItem = {
    reference: generateReference('invoiceItem'),
    customerRef,
    currency,
    description: line.description,
    inputs: inputsOfLine(line),
    reason,
    addedBy: work.actor.name,
    createdAt: now,
  }
  await insertItem(sql, providerId, item, { idempotencyKey, inputSha256 })
  return { kind: 'added', item }
}
