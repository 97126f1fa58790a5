import { addCarried, listCarried } from '../invoices/carried-amounts.ts'
import { listOpenInvoices } from '../invoices/debts.ts'
import { lockInvoice } from '../invoices/repository.ts'
import { writeOffInvoice } from '../invoices/settle-invoice.ts'
import { dueMinor } from '../invoices/transitions.ts'
import { carriedWrittenOff, usageWrittenOff } from '../money-ledger/deleted-customer-postings.ts'
import { postMoney } from '../money-ledger/post-money.ts'
import { requestCancelOfInvoice } from '../payments/intents-repository.ts'
import { lockPurchase } from '../purchases/repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import type { UnbilledUsage } from './measure-unbilled.ts'
import { numberFromMicros } from '@tollgate/schemas/quantity'
import { removalsHeldMsMax, type HoldCredits } from '../wallet/hold-credits.ts'
import { sha256OfInput } from '../money-ledger/ledger.ts'
import { lockWallet } from '../wallet/repository.ts'
import { removeHeldCredits } from '../wallet/remove-credits.ts'

/* Writes off what a customer owes, in the transaction that deletes the customer. The caller has locked the customer. */

/** Posts uninvoiced usage as written off, so that the ledger shows its value. The audit log names each posting. */
export async function writeOffUsage(
  work: UnitOfWork,
  customerRef: string,
  unbilled: readonly UnbilledUsage[],
): Promise<void> {
  for (const { toBill, amountMinor } of unbilled) {
    if (amountMinor <= 0n) continue
    const { purchase } = toBill
    const period = toBill.period ?? toBill.continued
    const part = `${purchase.reference}:${period?.start.toISOString() ?? 'late'}`
    const { currency } = purchase
    await postMoney(work, usageWrittenOff({ customerRef, part, currency, amountMinor }))
  }
}

/**
 * Makes the open invoices uncollectible and writes off amounts carried over to the next invoice. Call this after the
 * purchases have ended: the prices of their next periods are void or credited by then. If a cancelled payment succeeds
 * after all, its money pays the invoice.
 */
export async function writeOffInvoices(work: UnitOfWork, customerRef: string): Promise<void> {
  const { sql, providerId, now } = work
  const references = await listOpenInvoices(sql, providerId, customerRef)
  // Purchases are locked before their invoices, and in one order. Refunds and disputes lock them too before they move the balance.
  for (const purchaseRef of await listPurchasesOf(work, references)) {
    await lockPurchase(sql, providerId, purchaseRef)
  }
  for (const reference of references) {
    await requestCancelOfInvoice(sql, providerId, reference, now)
    const invoice = await lockInvoice(sql, providerId, reference)
    if (invoice?.status === 'open' && dueMinor(invoice) > 0n) await writeOffInvoice(work, invoice)
  }
  for (const [currency, amountMinor] of await listCarried(sql, providerId, customerRef)) {
    if (amountMinor <= 0n) continue
    await postMoney(work, carriedWrittenOff({ customerRef, part: currency, currency, amountMinor }))
    await addCarried(sql, providerId, { customerRef, currency }, -amountMinor, now)
  }
}

async function listPurchasesOf(
  { sql, providerId }: UnitOfWork,
  invoiceRefs: readonly string[],
): Promise<string[]> {
  const rows = await sql<{ purchase_ref: string }[]>`
    select distinct purchase_ref from invoices
    where provider_id = ${providerId} and reference = any(${[...invoiceRefs]})
      and purchase_ref is not null
    order by purchase_ref`
  return rows.map((row) => row.purchase_ref)
}

/**
 * Removes all remaining credits from the wallet of a customer who is being deleted: from the hot state in one step, and
 * from the ledger, where the money that was paid for them becomes breakage. The caller has locked the customer.
 *
 * After a crash before the commit, the hold remains in the hot state and the next attempt finds it by its key. After a
 * crash behind the commit, the ledger is complete and the wallet's publication remains to be done.
 */
export async function forfeitCredits(
  work: UnitOfWork,
  customerRef: string,
  holdCredits: HoldCredits,
): Promise<void> {
  const { sql, providerId, now } = work
  const wallet = await lockWallet(sql, providerId, customerRef, now)
  if (wallet.balanceMicros <= 0n) return
  const key = `forfeiture:${customerRef}`
  const held = await holdCredits({ ...work, customerRef }, wallet, {
    key,
    micros: wallet.balanceMicros,
    upToMicros: undefined,
    takes: 'rest',
    heldMs: removalsHeldMsMax,
  })
  if (held.heldMicros === 0n) return
  await removeHeldCredits(work, wallet, held, {
    customerRef,
    kind: 'adjustment',
    key,
    inputSha256: sha256OfInput([customerRef]),
    reason: 'The customer was deleted',
    to: 'breakage',
    moneyTo: 'breakage',
    result: { credits: numberFromMicros(held.heldMicros) },
  })
}
