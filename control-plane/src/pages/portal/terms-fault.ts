import {
  rechargeMajorMax,
  type AutoRechargeRequest,
  type RechargeFault,
} from '@tollgate/domain/auto-recharge/decide-recharge-terms'
import { minorPerMajor } from '@tollgate/domain/money/currencies'
import { minimumTopUpMinor } from '../checkout/top-up-amounts.ts'
import type { Reader } from '../reader.ts'

/** What is wrong with the terms of automatic top-up. */
export type TermsFault = RechargeFault | { readonly code: 'cap-unreadable' }

/**
 * Returns what is wrong with the typed terms before they are stored. It uses the minimum of the checkout for credits, so that all
 * pages show the same minimum. `typedMax` is the typed monthly maximum: if it cannot be parsed, it must not be stored as no
 * maximum.
 */
export function findTypedFault(
  { enabled, currency, topupAmountMajor, maxMonthlySpendMajor }: AutoRechargeRequest,
  typedMax: string,
): TermsFault | undefined {
  if (!/^[A-Z]{3}$/.test(currency)) return { code: 'currency' }
  if (!enabled) return undefined
  if (typedMax !== '' && maxMonthlySpendMajor === undefined) return { code: 'cap-unreadable' }
  if (topupAmountMajor === undefined) return undefined
  const topupMinor = topupAmountMajor * Number(minorPerMajor(currency))
  return topupMinor < Number(minimumTopUpMinor(currency)) ? { code: 'too-small' } : undefined
}

/** Returns the message about the fault. */
export function faultText(
  fault: TermsFault,
  currency: string,
  { t, formats }: Pick<Reader, 't' | 'formats'>,
): string {
  switch (fault.code) {
    case 'currency':
      return t('portal:faultCurrency')
    case 'required':
      return t('portal:faultRequired')
    case 'too-large': {
      const maximum = BigInt(rechargeMajorMax) * minorPerMajor(currency)
      return t('portal:faultTooLarge', { amount: formats.money(maximum, currency) })
    }
    case 'minor-units':
      return t('portal:faultMinorUnits')
    case 'threshold':
      return t('portal:faultThreshold')
    case 'too-small':
      return t('portal:faultTooSmall', {
        amount: formats.money(minimumTopUpMinor(currency), currency),
      })
    case 'cap-unreadable':
      return t('portal:faultCapUnreadable', { example: formats.decimal(1000.5) })
    case 'below-threshold':
      return t('portal:faultBelowThreshold')
    case 'cap':
      return t('portal:faultCap', { amount: formats.money(fault.leastMinor, currency) })
  }
}
