import {
  addOnChangedSchema,
  addOnRemovedSchema,
  addOnSchema,
  addOnsResponseSchema,
  createAddOnSchema,
  setAddOnSchema,
  updateAddOnSchema,
  type AddOnBody,
} from '../add-ons.ts'
import { examplesOf } from './example.ts'
import { purchase, instants, refs } from './story.ts'

const addOn: AddOnBody = {
  reference: refs.addOn,
  productRef: refs.product,
  name: 'Extra requests',
  description: '10,000 requests more in each month',
  price: 2_000,
  setupFee: 0,
  currency: 'USD',
  billingCycle: 'monthly',
  maxQuantity: 10,
  raises: [{ meter: 'requests', raises: 'limit', units: 10_000 }],
  planRefs: [refs.proPlan],
  createdAt: instants.created,
  updatedAt: instants.created,
}

const answer = examplesOf(addOnSchema, { 'Raises the limit': addOn })

const attached = {
  ...{ reference: refs.addOn, name: addOn.name, quantity: 2, price: addOn.price },
  raises: addOn.raises,
}

export const addOnExamples = {
  listAddOns: {
    answer: examplesOf(addOnsResponseSchema, { 'One add-on': { addOns: [addOn], total: 1 } }),
  },
  createAddOn: {
    body: examplesOf(createAddOnSchema, {
      'More requests': {
        name: 'Extra requests',
        description: '10,000 requests more in each month',
        price: 2_000,
        planRefs: [refs.proPlan],
        maxQuantity: 10,
        raises: [{ meter: 'requests', raises: 'limit', units: 10_000 }],
      },
      'A service without units': {
        name: 'Priority support',
        price: 5_000,
        planRefs: [refs.proPlan],
        setupFee: 1_000,
        maxQuantity: 1,
      },
    }),
    answer,
  },
  getAddOn: { answer },
  updateAddOn: {
    body: examplesOf(updateAddOnSchema, { 'A new price': { price: 2_500 } }),
    answer,
  },
  deleteAddOn: {
    answer: examplesOf(addOnRemovedSchema, {
      'A customer has it': { success: true, archived: true },
    }),
  },
  setAddOn: {
    body: examplesOf(setAddOnSchema, {
      'Now, for the rest of the period': { quantity: 2 },
      'From the next period on': { quantity: 2, when: 'renewal' },
    }),
    answer: examplesOf(addOnChangedSchema, {
      'Attached and paid': {
        success: true,
        purchase: {
          ...purchase,
          planSnapshot: { ...purchase.planSnapshot!, addOns: [attached] },
        },
        effectiveAt: instants.now,
        invoiceRef: refs.invoice,
        payment: 'paid',
      },
    }),
  },
  removeAddOn: {
    answer: examplesOf(addOnChangedSchema, {
      'Ends with the period': {
        success: true,
        purchase,
        effectiveAt: instants.periodEnd,
      },
    }),
  },
}
