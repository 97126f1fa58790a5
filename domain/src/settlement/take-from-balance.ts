import { isDeletedCustomer } from '../customers/repository.ts'
import { addCarried, readCarriedAndHeld } from '../invoices/carried-amounts.ts'
import { listCreditNotes } from '../invoices/credit-notes.ts'
import type { Invoice } from '../invoices/invoice.ts'
import { readCharged } from '../invoices/is-returned.ts'
import { carriedWrittenOff } from '../money-ledger/deleted-customer-postings.ts'
import { sumPostedOfInvoice } from '../money-ledger/ledger.ts'
import { postMoney } from '../money-ledger/post-money.ts'
import type { Posting } from '../money-ledger/postings.ts'
import { partFromBalance } from '../payments/part-from-balance.ts'
import { sumTakenFromBalance } from '../payments/refunds-repository.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/**
 * Returns the part of returned money, refunded or withdrawn by a bank, whose amount a credit note has given to the customer's balance
 * before. Without this, the customer would have it twice. The next invoice charges what the customer has used of that credit meanwhile.
 */
export async function decideFromBalance(
  { sql, providerId }: UnitOfWork,
  invoice: Invoice,
  amountMinor: bigint,
): Promise<bigint> {
  const { reference, paidMinor, refundedMinor } = invoice
  const notes = await listCreditNotes(sql, providerId, reference)
  const toBalance = notes.filter(
    ({ settles, voidedAt }) => settles === 'balance' && voidedAt === null,
  )
  if (toBalance.length === 0) return 0n
  const { chargedMinor, creditedMinor } = await readCharged(sql, providerId, reference)
  const byDisputes = await sumPostedOfInvoice(sql, providerId, reference, {
    kind: 'dispute_from_balance',
    account: 'carried',
  })
  return partFromBalance(amountMinor, {
    keptMinor: paidMinor - refundedMinor,
    creditableMinor: chargedMinor - creditedMinor,
    toBalanceMinor: toBalance.reduce((sum, { totalMinor }) => sum + totalMinor, 0n),
    takenMinor: (await sumTakenFromBalance(sql, providerId, reference)) + byDisputes,
  })
}

/**
 * Posts a movement of the customer's balance, and moves the balance by what it posts to it. Each posting is made once, so a repeated
 * report changes nothing. What a deleted customer owes after that is written off as `part`, because no invoice will charge it.
 */
export async function moveBalance(
  work: UnitOfWork,
  { customerRef, currency }: Pick<Invoice, 'customerRef' | 'currency'>,
  posting: Posting,
  part: string,
): Promise<void> {
  const { sql, providerId, now } = work
  const balance = { customerRef, currency }
  if ((await postMoney(work, posting)) !== 'posted') return
  const carried = posting.entries.find(({ account }) => account === 'carried')
  await addCarried(sql, providerId, balance, carried?.amountMinor ?? 0n, now)
  if (!(await isDeletedCustomer(sql, providerId, customerRef))) return
  const owedMinor = await readCarriedAndHeld(sql, providerId, balance)
  if (owedMinor <= 0n) return
  await postMoney(work, carriedWrittenOff({ ...balance, part, amountMinor: owedMinor }))
  await addCarried(sql, providerId, balance, -owedMinor, now)
}
