import type { Payout } from '@tollgate/platform/payments/payment-objects'
import {
  processorUnitsPerMinor,
  toProcessorAmount,
} from '@tollgate/platform/payments/processor-amounts'
import { readProcessorBalance } from '../money-ledger/processor-balance.ts'
import { postMoney } from '../money-ledger/post-money.ts'
import { payoutFailed, payoutPaid } from '../money-ledger/postings.ts'
import { unixSeconds } from '../periods/periods.ts'
import { isLaterPayout, toClearingMovement, payoutMove } from '../payments/decide-payout.ts'
import { lockPayout, savePayout } from '../payments/payouts-repository.ts'
import { recordEvent, type UnitOfWork } from '../unit-of-work/unit-of-work.ts'

/** Stores the processor's state of a payout and posts its money. A state that is older than the stored one changes nothing. */
export async function applyPayout(work: UnitOfWork, payout: Payout): Promise<void> {
  const { sql, providerId, now } = work
  const known = await lockPayout(sql, providerId, payout)
  if (!isLaterPayout(known, payout.status)) return
  await savePayout(sql, providerId, payout, now)
  await postPayout(work, payout, payoutMove(known, payout.status))
  const { status } = payout
  if (status !== 'paid' && status !== 'failed') return
  await recordEvent(work, `payout.${status}`, {
    id: payout.id,
    amount: Number(payout.amountMinor),
    currency: payout.currency.toLowerCase(),
    status,
    processor_payout: payout.id,
    arrival_date: unixSeconds(payout.arrivalDate),
    created: unixSeconds(payout.createdAt),
  })
}

async function postPayout(
  work: UnitOfWork,
  { id: payoutRef, currency, amountMinor, restUnits: beside }: Payout,
  move: ReturnType<typeof payoutMove>,
): Promise<void> {
  if (move === 'none') return
  const units = toProcessorAmount(amountMinor, currency) + beside
  const money = { payoutRef, currency, amountMinor }
  // `readProcessorBalance` reads all postings of the currency. Only currencies with processor units finer than a minor unit need it.
  const there =
    processorUnitsPerMinor(currency) === 1n
      ? { clearingMinor: 0n, restUnits: 0n }
      : await readProcessorBalance(work.sql, work.providerId, currency)
  const moved = toClearingMovement(there, currency, move === 'to-bank' ? -units : units)
  const { restUnits } = moved
  await postMoney(
    work,
    move === 'to-bank'
      ? payoutPaid({ ...money, clearedMinor: -moved.amountMinor, restUnits })
      : payoutFailed({ ...money, clearedMinor: moved.amountMinor, restUnits }),
  )
}
