import { z } from 'zod'
import { planStatuses, planTypes } from '../http/plan-terms.ts'
import { productStatuses } from '../http/products.ts'
import { currency, minorUnits, reference, unixSeconds, type EventDefinition } from './event.ts'

const product = z.strictObject({
  id: reference,
  reference,
  name: z.string(),
  status: z.enum(productStatuses),
  productType: z.string().nullable(),
  isManagedMcp: z.boolean(),
  isMcpPay: z.boolean().describe('Same value as `isManagedMcp`, under its former name'),
  created: unixSeconds,
})

const plan = z.strictObject({
  id: reference,
  reference,
  name: z.string(),
  status: z.enum(planStatuses),
  kind: z.enum(planTypes),
  price: minorUnits,
  currency,
  requiresPayment: z.boolean(),
  created: unixSeconds,
})

export const catalogEvents = {
  'product.created': { description: 'A product was created', object: product },
  'product.updated': { description: 'Fields of a product changed', object: product },
  'product.archived': { description: 'A product was archived', object: product },
  'plan.created': { description: 'A plan was created', object: plan },
  'plan.updated': { description: 'Fields of a plan changed', object: plan },
  'plan.archived': { description: 'A plan was archived', object: plan },
} as const satisfies Record<string, EventDefinition>
