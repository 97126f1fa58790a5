import type { LowWallet, Recharges } from '../domain/recharges.ts'
import type { RecordedUsage } from './record-usage.ts'

/**
 * Starts automatic top-ups of the wallets with a low balance. For each wallet whose charge was started, marks the first debit that
 * left the balance low with `autoRecharge.triggered`.
 */
export async function beginRecharges(
  recharges: Recharges,
  authorization: string,
  recorded: readonly RecordedUsage[],
): Promise<readonly RecordedUsage[]> {
  const low = new Map<string, LowWallet>()
  for (const { low: wallet } of recorded) {
    if (wallet !== undefined && !low.has(wallet.customerRef)) low.set(wallet.customerRef, wallet)
  }
  if (low.size === 0) return recorded
  const begun = new Set<string>()
  await Promise.all(
    [...low].map(async ([customerRef, wallet]) => {
      if (await recharges.begin(wallet, authorization)) begun.add(customerRef)
    }),
  )
  return recorded.map((each) => {
    const { debit, low: wallet } = each
    if (wallet === undefined || debit?.debited !== true) return each
    if (!begun.delete(wallet.customerRef)) return each
    return { ...each, debit: { ...debit, autoRecharge: { triggered: true } } }
  })
}
