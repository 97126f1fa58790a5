import { z } from 'zod'
import {
  autoRechargeDeletedResponseSchema,
  autoRechargeResponseSchema,
  autoRechargeUpdatedResponseSchema,
  autoRechargeUpdateSchema,
  exchangeRateSchema,
  exchangeRatesResponseSchema,
  exchangeRateUpdateSchema,
} from '../auto-recharge.ts'
import {
  adjustCreditsSchema,
  balanceSchema,
  creditsAdjustedSchema,
  creditsGrantedSchema,
  grantCreditsSchema,
} from '../credits.ts'
import { examplesOf } from './example.ts'
import { instants, refs } from './story.ts'

const config = {
  enabled: true,
  trigger: { type: 'balance', thresholdAmountMinor: 500 },
  topup: { mode: 'fixed', amountMinor: 2_000, currency: 'USD' },
  fundingSourceType: 'saved_card',
  status: 'active',
  failureCount: 0,
  monthlySpendMinor: 4_000,
  monthlySpendPeriod: '2026-03',
  maxMonthlySpendMinor: 10_000,
  lastChargeAt: instants.changed,
  updatedAt: instants.changed,
} as const
const display = {
  thresholdAmountMajor: 5,
  topupAmountMajor: 20,
  currency: 'USD',
  formatted: { threshold: '$5.00', topup: '$20.00' },
  exchangeRate: 1,
  rateSource: 'parity',
} as const
const validation = {
  maxAmountMajor: 10_000,
  processorMinimumMinorByCurrency: { USD: 50, EUR: 50, GBP: 30, JPY: 50 },
}
const krona = { currency: 'SEK', unitsPerDollar: '9.46', source: 'db' } as const

export const creditExamples = {
  getBalance: {
    answer: examplesOf(balanceSchema, {
      'In dollars': {
        customerRef: refs.customer,
        credits: 52_500,
        displayCurrency: 'USD',
        creditsPerMinorUnit: 100,
        displayExchangeRate: 1,
        display: {
          amountMajor: 5.25,
          currency: 'USD',
          formatted: '$5.25',
          exchangeRate: 1,
          rateSource: 'parity',
        },
      },
    }),
  },
  grantCredits: {
    body: examplesOf(grantCreditsSchema, {
      'Five dollars to begin with': { credits: 50_000, reason: 'Welcome' },
      'A dollar that expires, and is used first': {
        credits: 10_000,
        reason: 'Spring offer',
        expiresAt: '2031-01-01T00:00:00.000Z',
        priority: -1,
      },
    }),
    answer: examplesOf(creditsGrantedSchema, {
      Granted: {
        success: true,
        customerRef: refs.customer,
        credits: 50_000,
        balance: 52_500,
        reason: 'Welcome',
      },
    }),
  },
  adjustCredits: {
    body: examplesOf(adjustCreditsSchema, {
      'Taken back': { amount: -10_000, reason: 'Granted twice by mistake' },
      'Given back': { amount: 500, reason: 'Five calls failed on our side' },
    }),
    answer: examplesOf(creditsAdjustedSchema, {
      'Taken back': {
        success: true,
        customerRef: refs.customer,
        credits: -10_000,
        balance: 42_500,
        reason: 'Granted twice by mistake',
      },
    }),
  },
  getAutoRecharge: {
    answer: examplesOf(autoRechargeResponseSchema, {
      'Twenty dollars below five': { config, display, validation },
      'None yet': { config: null, validation },
    }),
  },
  setAutoRecharge: {
    body: examplesOf(autoRechargeUpdateSchema, {
      'Twenty dollars below five': {
        customerRef: refs.externalRef,
        enabled: true,
        triggerType: 'balance',
        currency: 'USD',
        thresholdAmountMajor: 5,
        topupAmountMajor: 20,
        maxMonthlySpendMajor: 100,
      },
      Off: {
        customerRef: refs.externalRef,
        enabled: false,
        triggerType: 'balance',
        currency: 'USD',
      },
    }),
    answer: examplesOf(autoRechargeUpdatedResponseSchema, {
      'A card is still to be given': { config: { ...config, status: 'pending_setup' }, display },
    }),
  },
  disableAutoRecharge: {
    answer: examplesOf(autoRechargeDeletedResponseSchema, { Off: { success: true } }),
  },
  listExchangeRates: {
    answer: examplesOf(exchangeRatesResponseSchema, {
      'Own and built-in rates': {
        exchangeRates: [krona, { currency: 'EUR', unitsPerDollar: '0.92', source: 'fallback' }],
      },
    }),
  },
  setExchangeRate: {
    body: examplesOf(exchangeRateUpdateSchema, {
      'Kronor for a dollar': { unitsPerDollar: krona.unitsPerDollar },
    }),
    answer: examplesOf(exchangeRateSchema, { 'Kronor for a dollar': krona }),
  },
  removeExchangeRate: {
    answer: examplesOf(z.object({ success: z.literal(true) }), { Removed: { success: true } }),
  },
}
