import {
  deletedResponseSchema,
  planCreateSchema,
  planSchema,
  plansResponseSchema,
  planUpdateSchema,
} from '../plans.ts'
import {
  priceCurveRequestSchema,
  priceCurveSchema,
  pricePreviewRequestSchema,
  pricePreviewSchema,
} from '../price-preview.ts'
import {
  productCloneSchema,
  productCreateSchema,
  productDeletedResponseSchema,
  productSchema,
  productsResponseSchema,
  productUpdateSchema,
} from '../products.ts'
import { examplesOf } from './example.ts'
import { creditPlan, freePlan, instants, product, proPlan } from './story.ts'

const fresh = { ...product, balance: 0, totalTransactions: 0, updatedAt: instants.created }

export const catalogExamples = {
  listProducts: {
    answer: examplesOf(productsResponseSchema, {
      'One page': { products: [product], total: 1, limit: 50, offset: 0 },
    }),
  },
  createProduct: {
    body: examplesOf(productCreateSchema, {
      'An API': {
        name: 'Search API',
        description: 'Full-text search over your documents',
        productType: 'api',
        config: { deliveryMethod: 'api', fulfillmentType: 'digital' },
        metadata: { team: 'search' },
      },
    }),
    answer: examplesOf(productSchema, { 'Without plans yet': { ...fresh, plans: [] } }),
  },
  getProduct: { answer: examplesOf(productSchema, { 'With its plans': product }) },
  updateProduct: {
    body: examplesOf(productUpdateSchema, {
      'Another description': { description: 'Full-text search over your documents' },
      'Not for sale any more': { status: 'inactive' },
    }),
    answer: examplesOf(productSchema, { Changed: product }),
  },
  deleteProduct: {
    answer: examplesOf(productDeletedResponseSchema, {
      'In sandbox': { success: true, action: 'deleted' },
      'In live, never bought': { success: true, action: 'soft_deleted' },
      'In live, bought by somebody': { success: true, action: 'deactivated' },
    }),
  },
  cloneProduct: {
    body: examplesOf(productCloneSchema, { 'With a name of its own': { name: 'Search API EU' } }),
    answer: examplesOf(productSchema, {
      'With references of its own': {
        ...fresh,
        reference: 'prd_3VX9TQ1MB6KZ',
        name: 'Search API EU',
        plans: [{ ...freePlan, reference: 'pln_7HD2WX5QK8NV' }],
      },
    }),
  },
  listPlans: {
    answer: examplesOf(plansResponseSchema, {
      'One page': { plans: [freePlan, proPlan, creditPlan], total: 3, limit: 50, offset: 0 },
    }),
  },
  createPlan: {
    body: examplesOf(planCreateSchema, {
      'Free, for everybody': { name: 'Free', price: 0, limit: 1_000, default: true },
      'A month for 49 dollars': {
        name: 'Pro',
        description: 'For teams: 100,000 searches a month',
        type: 'recurring',
        billingCycle: 'monthly',
        price: 4_900,
        limit: 100_000,
        features: { support: 'email', seats: 5 },
      },
      'A ramp: 100 dollars for 3 months, 200 for 3 months, then 400': {
        ...{ name: 'Growth', type: 'recurring', billingCycle: 'monthly', price: 40_000 },
        ramp: [
          { periods: 3, price: 10_000 },
          { periods: 3, price: 20_000 },
        ],
      },
      'A cent for each call': {
        name: 'Pay as you go',
        type: 'usage-based',
        billingModel: 'pre-paid',
        creditsPerUnit: 100,
      },
      'Tokens and images, billed every month': {
        name: 'Studio',
        type: 'usage-based',
        billingModel: 'post-paid',
        billingCycle: 'monthly',
        charges: [
          {
            key: 'tokens',
            displayName: 'Tokens',
            meter: 'tokens',
            model: 'graduated',
            included: 100_000,
            tiers: [
              { upTo: 1_000_000, price: '0.0003' },
              { upTo: null, price: '0.0002' },
            ],
          },
          {
            key: 'images',
            displayName: 'Images',
            meter: 'images',
            model: 'matrix',
            price: '4',
            rows: [{ when: { model: 'large' }, price: '8' }],
          },
        ],
      },
    }),
    answer: examplesOf(planSchema, { 'A month for 49 dollars': proPlan }),
  },
  previewPrice: {
    body: examplesOf(pricePreviewRequestSchema, {
      'A month of tokens and images': {
        usage: [
          { meter: 'tokens', units: 1_600_000 },
          { meter: 'images', units: 20, dimensions: { model: 'large' } },
          { meter: 'images', units: 5 },
        ],
      },
    }),
    answer: examplesOf(pricePreviewSchema, {
      'Two charges': {
        currency: 'USD',
        lines: [
          {
            charge: 'tokens',
            displayName: 'Tokens',
            meterName: 'tokens',
            units: '1600000',
            pricedIn: 'minor',
            prices: [
              { units: '1000000', price: '0.0003' },
              { units: '500000', price: '0.0002' },
            ],
            amount: 400,
          },
          {
            charge: 'images',
            displayName: 'Images',
            meterName: 'images',
            units: '25',
            pricedIn: 'minor',
            prices: [
              { units: '20', price: '8' },
              { units: '5', price: '4' },
            ],
            amount: 180,
          },
        ],
        unpriced: [],
        total: 580,
      },
    }),
  },
  previewPriceCurve: {
    body: examplesOf(priceCurveRequestSchema, {
      'Tokens at a new price': {
        meter: 'tokens',
        units: [0, 1_000_000, 2_000_000],
        changes: {
          charges: [
            {
              ...{ meter: 'tokens', model: 'per_unit', price: '0.0002', included: 100_000 },
              per: 'period',
            },
          ],
        },
      },
    }),
    answer: examplesOf(priceCurveSchema, {
      'Three points': {
        currency: 'USD',
        price: 0,
        points: [
          { units: 0, usage: 0, total: 0 },
          { units: 1_000_000, usage: 180, total: 180 },
          { units: 2_000_000, usage: 380, total: 380 },
        ],
      },
    }),
  },
  getPlan: { answer: examplesOf(planSchema, { 'A month for 49 dollars': proPlan }) },
  updatePlan: {
    body: examplesOf(planUpdateSchema, {
      'Another price': { price: 5_900 },
      'Only by direct assignment': { hidden: true },
    }),
    answer: examplesOf(planSchema, {
      'Another price': { ...proPlan, price: 5_900, updatedAt: instants.changed },
    }),
  },
  deletePlan: { answer: examplesOf(deletedResponseSchema, { Deleted: { success: true } }) },
}
