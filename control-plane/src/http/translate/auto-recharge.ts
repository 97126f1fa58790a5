import {
  rechargeMajorMax,
  type AutoRechargeRequest,
} from '@tollgate/domain/auto-recharge/decide-recharge-terms'
import type {
  AutoRechargeConfigBody,
  AutoRechargeDisplayBody,
  AutoRechargeResponse,
  AutoRechargeUpdate,
} from '@tollgate/schemas/http/auto-recharge'
import type { AutoRecharge } from '@tollgate/domain/auto-recharge/repository'
import { formatMoney, majorText, processorMinimumMinor } from '@tollgate/domain/money/currencies'
import type { ExchangeRate } from '@tollgate/domain/money/exchange-rates'
import { definedFields } from '../../domain/defined-fields.ts'

/** Limits with which a form can refuse input early that this service would refuse. */
export const autoRechargeValidation: AutoRechargeResponse['validation'] = {
  maxAmountMajor: rechargeMajorMax,
  processorMinimumMinorByCurrency: { ...processorMinimumMinor },
}

/** Converts the terms. `thresholdShownMinor` is the threshold in minor units of the currency in which the balance is shown. */
export function autoRechargeToHttp(
  recharge: AutoRecharge,
  thresholdShownMinor: bigint,
): AutoRechargeConfigBody {
  const { topupMinor, topupCurrency, monthlySpendMaxMinor } = recharge
  return {
    enabled: recharge.status !== 'disabled',
    trigger: { type: 'balance', thresholdAmountMinor: Number(thresholdShownMinor) },
    topup: { mode: 'fixed', amountMinor: Number(topupMinor), currency: topupCurrency },
    fundingSourceType: recharge.fundingSourceType,
    status: recharge.status,
    failureCount: recharge.failureCount,
    monthlySpendMinor: Number(recharge.monthlySpendMinor),
    updatedAt: recharge.updatedAt.toISOString(),
    ...definedFields({
      maxMonthlySpendMinor: monthlySpendMaxMinor === null ? null : Number(monthlySpendMaxMinor),
      monthlySpendPeriod: recharge.monthlySpendPeriod,
      paymentMethodId: recharge.paymentMethodId,
      inFlightPaymentIntentId: recharge.inFlightPaymentIntentId,
      lastChargeAt: recharge.lastChargeAt?.toISOString(),
      lockAcquiredAt: recharge.lockAcquiredAt?.toISOString(),
    }),
  }
}

/** Converts both amounts, in minor units of the currency in which the balance is shown. */
export function autoRechargeDisplay(
  thresholdShownMinor: bigint,
  topupShownMinor: bigint,
  displayRate: ExchangeRate,
): AutoRechargeDisplayBody {
  const { currency, unitsPerDollar, source } = displayRate
  return {
    thresholdAmountMajor: Number(majorText(thresholdShownMinor, currency)),
    topupAmountMajor: Number(majorText(topupShownMinor, currency)),
    currency,
    formatted: {
      threshold: formatMoney(thresholdShownMinor, currency),
      topup: formatMoney(topupShownMinor, currency),
    },
    exchangeRate: Number(unitsPerDollar),
    rateSource: source,
  }
}

export function autoRechargeFromHttp(
  body: Omit<AutoRechargeUpdate, 'customerRef'>,
): AutoRechargeRequest {
  return {
    enabled: body.enabled,
    currency: body.currency.toUpperCase(),
    thresholdAmountMajor: body.thresholdAmountMajor,
    topupAmountMajor: body.topupAmountMajor,
    maxMonthlySpendMajor: body.maxMonthlySpendMajor,
  }
}
