import { planUpdateSchema } from '../plans.ts'
import {
  cancelPreviewSchema,
  changePreviewRequestSchema,
  changePreviewSchema,
  invoicePreviewRequestSchema,
  invoicePreviewSchema,
  planPreviewSchema,
  type PreviewedInvoiceBody,
} from '../previews.ts'
import { examplesOf } from './example.ts'
import { instants, refs } from './story.ts'

const previewed = { asOf: instants.now, usageAsOf: instants.now }
const period = { periodStart: instants.created, periodEnd: instants.periodEnd }
const nextPeriod = { periodStart: instants.periodEnd, periodEnd: '2026-05-01T09:30:00.000Z' }
const usageBilledAt = '2026-04-01T10:30:00.000Z'

const invoiceFields = {
  ...{ planRef: refs.proPlan, planName: 'Pro', currency: 'USD' },
  ...{ isIssued: true, carriedIn: 0, carried: 0, minimumCharge: 50, isHeld: false },
} as const

function whole(amountMinor: number): { numerator: string; denominator: string } {
  return { numerator: String(amountMinor), denominator: '1' }
}

const tax = (base: number, amount: number): PreviewedInvoiceBody['lines'][number] => ({
  kind: 'tax',
  description: 'VAT 25 % (SE)',
  amount,
  exact: { numerator: String(base * 250), denominator: '1000' },
  inputs: {
    ...{ kind: 'tax', treatment: 'standard', country: 'SE', ratePerMille: '250' },
    ...{ baseMinor: String(base), isInclusive: false },
  },
})

const taxed = (base: number, amount: number): PreviewedInvoiceBody['taxes'] => [
  { treatment: 'standard', rate: 0.25, country: 'SE', base, amount, inclusive: false },
]

const renewal: PreviewedInvoiceBody = {
  cause: 'renewal',
  purchaseRef: refs.purchase,
  ...invoiceFields,
  issuedAt: instants.periodEnd,
  chargedAt: instants.periodEnd,
  lines: [
    {
      ...{ kind: 'recurring', description: 'Pro', ...nextPeriod, amount: 4_900 },
      exact: whole(4_900),
      inputs: { kind: 'recurring', amountMinor: '4900' },
    },
    tax(4_900, 1_225),
  ],
  taxes: taxed(4_900, 1_225),
  ...{ total: 6_125, due: 6_125, formattedTotal: '$61.25' },
}

const usage: PreviewedInvoiceBody = {
  cause: 'usage',
  purchaseRef: refs.purchase,
  ...invoiceFields,
  issuedAt: usageBilledAt,
  chargedAt: usageBilledAt,
  lines: [
    {
      ...{ kind: 'usage', description: 'Pro, usage', ...period, amount: 750 },
      exact: whole(750),
      inputs: {
        kind: 'usage',
        terms: {
          ...{ limit: '100000', freeUnits: '0', overage: { maxUnits: null } },
          rate: { kind: 'flat', creditsPerUnit: '30' },
        },
        ...{ usedUnits: '102500', carriedOverUnits: '0' },
        conversion: { currency: 'USD', unitsPerDollar: '1' },
        reading: {
          ...{ meterName: 'requests', watermark: instants.now },
          nextOffsets: { '0': '18422', '1': '17930' },
        },
      },
      prices: [{ units: '2500', price: '30' }],
    },
    tax(750, 188),
  ],
  taxes: taxed(750, 188),
  ...{ total: 938, due: 938, formattedTotal: '$9.38' },
}

const change: PreviewedInvoiceBody = {
  cause: 'plan_change',
  ...invoiceFields,
  ...{ planRef: 'pln_T3W8QX5KD2NB', planName: 'Team' },
  issuedAt: instants.now,
  chargedAt: instants.now,
  lines: [
    {
      ...{ kind: 'proration', description: 'Change to Team', amount: 2_912 },
      ...{ periodStart: '2026-03-14T08:15:30.000Z', periodEnd: instants.periodEnd },
      exact: { numerator: '7798350000', denominator: '2678400' },
      inputs: {
        ...{ kind: 'proration', policy: 'proportional', oldMinor: '4900', newMinor: '9900' },
        ...{ secondsLeft: 1_559_670, secondsInPeriod: 2_678_400 },
      },
    },
    tax(2_912, 728),
  ],
  taxes: taxed(2_912, 728),
  ...{ total: 3_640, due: 3_640, formattedTotal: '$36.40' },
}

export const previewExamples = {
  previewInvoice: {
    body: examplesOf(invoicePreviewRequestSchema, {
      'Usage so far': {},
      'Assumed usage of the period': { usage: [{ meter: 'requests', units: 102_500 }] },
    }),
    answer: examplesOf(invoicePreviewSchema, {
      'A month of a hybrid plan': {
        purchaseRef: refs.purchase,
        period: { start: instants.created, end: instants.periodEnd },
        ...previewed,
        invoices: [renewal, usage],
        unpriced: [],
      },
    }),
  },
  previewPlanChange: {
    body: examplesOf(changePreviewRequestSchema, {
      'Another plan': { planRef: 'pln_T3W8QX5KD2NB' },
    }),
    answer: examplesOf(changePreviewSchema, {
      'Paid now, for the rest of the period': {
        status: 'payment_required',
        needs: 'payment',
        startsAt: instants.now,
        unusedTime: { amount: 2_853, currency: 'USD', treatment: 'credited' },
        lostUnits: [],
        sharesUsage: true,
        ...previewed,
        invoices: [change],
      },
      'Not to be had': {
        status: 'invalid',
        message: 'The plan is not available for this product',
        asOf: instants.now,
        invoices: [],
      },
    }),
  },
  previewCancellation: {
    answer: examplesOf(cancelPreviewSchema, {
      'Ends with its period': {
        effect: 'scheduled',
        endsAt: instants.periodEnd,
        releasedInvoices: [],
        ...previewed,
        invoices: [usage],
      },
    }),
  },
  previewPlanUpdate: {
    body: examplesOf(planUpdateSchema, { 'A higher price': { price: 5_900 } }),
    answer: examplesOf(planPreviewSchema, {
      'One holder': {
        planRef: refs.proPlan,
        ...previewed,
        appliesTo: 'new_purchases',
        holders: [
          {
            ...{ purchaseRef: refs.purchase, customerRef: refs.customer, currency: 'USD' },
            period: { start: '2026-02-01T09:30:00.000Z', end: instants.created },
            before: { price: 4_900, usage: 750, total: 5_650 },
            after: { price: 5_900, usage: 750, total: 6_650 },
            difference: 1_000,
          },
        ],
        ...{ total: 1, limit: 25, offset: 0 },
      },
    }),
  },
}
