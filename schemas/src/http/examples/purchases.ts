import { activateRequestSchema, activateResponseSchema } from '../activate.ts'
import {
  purchaseCancelSchema,
  purchaseChangedResponseSchema,
  purchaseSchema,
  purchasesResponseSchema,
} from '../purchases.ts'
import { scheduledChangeSchema } from '../scheduled-changes.ts'
import { examplesOf } from './example.ts'
import { cancelledPurchase, changedPurchase, hosted, instants, purchase, refs } from './story.ts'

const list = examplesOf(purchasesResponseSchema, { 'Newest first': { purchases: [purchase] } })
const ada = { customerRef: refs.externalRef, productRef: refs.product }

export const purchaseExamples = {
  activatePlan: {
    body: examplesOf(activateRequestSchema, {
      'Pay as you go': { ...ada, planRef: refs.creditPlan },
      'A paid plan': { ...ada, planRef: refs.proPlan },
    }),
    answer: examplesOf(activateResponseSchema, {
      'Started, and paid with credits': {
        status: 'activated',
        purchaseRef: refs.purchase,
        creditBalance: 0,
        creditsPerUnit: 100,
        currency: 'USD',
      },
      'To be paid for first': {
        status: 'payment_required',
        checkoutUrl: `${hosted}/customer/checkout?id=${refs.session}`,
        checkoutSessionId: refs.session,
      },
      'Held already': { status: 'already_active', purchaseRef: refs.purchase },
      'Not to be had': {
        status: 'invalid',
        message: 'The plan is not available for this product',
      },
    }),
  },
  listPurchases: { answer: list },
  getPurchase: { answer: examplesOf(purchaseSchema, { 'A free plan': purchase }) },
  listCustomerPurchases: { answer: list },
  listProductPurchases: { answer: list },
  cancelPurchase: {
    body: examplesOf(purchaseCancelSchema, {
      'With a reason': { reason: 'Found something else' },
    }),
    answer: examplesOf(purchaseChangedResponseSchema, {
      'Ends with its period': { success: true, purchase: cancelledPurchase },
    }),
  },
  schedulePlanChange: {
    body: examplesOf(scheduledChangeSchema, {
      'With the next renewal': { planRef: refs.proPlan },
      'On a day': {
        ...{ planRef: refs.proPlan, effectiveAt: '2026-03-20T00:00:00Z', billing: 'prorate' },
      },
    }),
    answer: examplesOf(purchaseChangedResponseSchema, {
      Scheduled: {
        success: true,
        purchase: {
          ...changedPurchase,
          scheduledPlan: {
            ...{ reference: refs.proPlan, name: 'Pro', price: 4_900, currency: 'USD' },
            startDate: instants.periodEnd,
          },
        },
      },
    }),
  },
  withdrawPlanChange: {
    answer: examplesOf(purchaseChangedResponseSchema, {
      Withdrawn: { success: true, purchase: changedPurchase },
    }),
  },
  reactivatePurchase: {
    answer: examplesOf(purchaseChangedResponseSchema, {
      'Goes on': { success: true, purchase: changedPurchase },
    }),
  },
}
