import { chargeMaxMinor } from '../money/processor-amounts.ts'
import { laterOf } from '../invoices/invoice.ts'
import { updateInvoice } from '../invoices/repository.ts'
import { dueMinor } from '../invoices/transitions.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { DecidedChange, DecisionRefusal } from './invoice-decision.ts'
import type { DecidedInvoice } from './lock-decided.ts'

/**
 * Changes when an open invoice is to be paid, and charged. A time in the past means now. Failed charges stay counted, so the schedule
 * of retries continues after the next failure. A payment that is in progress is not stopped.
 */
export async function changeDueDate(
  { sql, providerId, now }: UnitOfWork,
  { invoice }: DecidedInvoice,
  dueAt: Date,
): Promise<DecidedChange | DecisionRefusal> {
  const { status, isHeld } = invoice
  const amountMinor = dueMinor(invoice)
  if (status !== 'open' || amountMinor <= 0n) return { kind: 'impossible', status }
  const nextChargeAt = isHeld ? null : dueAt
  await updateInvoice(sql, providerId, { ...invoice, dueAt, nextChargeAt, updatedAt: now })
  return { kind: 'changed', amountMinor }
}

/**
 * Holds an open invoice: its card is not charged, and pages take no payment for it, until it is released. A payment that is in progress is
 * not stopped.
 */
export async function holdByDecision(
  { sql, providerId, now }: UnitOfWork,
  { invoice }: DecidedInvoice,
): Promise<DecidedChange | DecisionRefusal> {
  const { status, isHeld } = invoice
  if (status !== 'open' || isHeld) return { kind: 'impossible', status }
  const held = { ...invoice, isHeld: true, nextChargeAt: null, updatedAt: now }
  await updateInvoice(sql, providerId, held)
  return { kind: 'changed', amountMinor: dueMinor(invoice) }
}

/** Releases a held invoice whose amount fits into one charge. It is charged when it is due, also if all its retries had failed. */
export async function releaseByDecision(
  { sql, providerId, now }: UnitOfWork,
  { invoice }: DecidedInvoice,
): Promise<DecidedChange | DecisionRefusal> {
  const { status, currency, dueAt } = invoice
  const amountMinor = dueMinor(invoice)
  const mostMinor = chargeMaxMinor(currency)
  if (status !== 'open' || !invoice.isHeld) return { kind: 'impossible', status }
  if (amountMinor > mostMinor) return { kind: 'amount', leftMinor: mostMinor }
  const nextChargeAt = laterOf(dueAt, now)
  const released = { ...invoice, isHeld: false, nextChargeAt, updatedAt: now }
  await updateInvoice(sql, providerId, released)
  return { kind: 'changed', amountMinor }
}
