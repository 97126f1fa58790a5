import {
  rechargeMajorMax,
  type AutoRechargeRequest,
  type RechargeFault,
} from '@tollgate/domain/auto-recharge/decide-terms'
import { minorPerMajor } from '@tollgate/domain/money/currencies'
import { leastTopUpMinor } from '../checkout/top-up-amounts.ts'
import type { Reader } from '../reader.ts'

/** What is wrong with the terms of automatic top-up. */
export type TermsFault = RechargeFault

/** Returns a fault by the minimum that the checkout for credits has: the pages name one minimum, not two. */
export function faultBeforehand({
  enabled,
  currency,
  topupAmountMajor,
}: AutoRechargeRequest): TermsFault | undefined {
  if (!enabled || topupAmountMajor === undefined || !/^[A-Z]{3}$/.test(currency)) return undefined
  const topupMinor = topupAmountMajor * Number(minorPerMajor(currency))
  return topupMinor < Number(leastTopUpMinor(currency)) ? { code: 'too-small' } : undefined
}

/** Returns what the page says about it. */
export function faultText(
  fault: TermsFault,
  currency: string,
  { t, formats }: Pick<Reader, 't' | 'formats'>,
): string {
  const most = BigInt(rechargeMajorMax) * minorPerMajor(currency)
  switch (fault.code) {
    case 'currency':
      return t('portal:faultCurrency')
    case 'required':
      return t('portal:faultRequired')
    case 'too-large':
      return t('portal:faultTooLarge', { amount: formats.money(most, currency) })
    case 'minor-units':
      return t('portal:faultMinorUnits')
    case 'threshold':
      return t('portal:faultThreshold')
    case 'too-small':
      return t('portal:faultTooSmall', {
        amount: formats.money(leastTopUpMinor(currency), currency),
      })
    case 'below-threshold':
      return t('portal:faultBelowThreshold')
    case 'cap':
      return t('portal:faultCap', { amount: formats.money(fault.leastMinor, currency) })
  }
}
