import { isDeletedCustomer } from '../customers/repository.ts'
import { carriedWrittenOff } from '../money-ledger/deleted-customer-postings.ts'
import { postMoney } from '../money-ledger/post-money.ts'
import type { Posting } from '../money-ledger/postings.ts'
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts'
import { addCarried, readCarriedAndHeld } from './carried-amounts.ts'
import type { Invoice } from './invoice.ts'

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
