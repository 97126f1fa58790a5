import type { PlanSwitch } from '@tollgate/domain/purchases/decide-switch'
import type { Purchase } from '@tollgate/domain/purchases/repository'
import { unusedTimeOf } from '@tollgate/domain/purchases/unused-time'
import type { Reader } from '../reader.ts'

/** Returns which plan ends when the chosen one starts, and what happens to its unused time. */
export function replacedText(
  held: Purchase,
  change: PlanSwitch | undefined,
  now: Date,
  { t, formats }: Pick<Reader, 't' | 'formats'>,
): string {
  const plan = held.planSnapshot?.name ?? held.productName
  const unused = unusedTimeOf(held, change, now)
  if (unused === undefined) return t('checkout:replacesToday', { plan })
  if (!unused.isCredited) return t('checkout:replacesWithoutCredit', { plan })
  const amount = formats.money(unused.amountMinor, unused.currency)
  return t('checkout:replacesWithCredit', { plan, amount })
}
