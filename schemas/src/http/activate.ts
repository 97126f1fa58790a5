import { z } from 'zod'
import { requiredReference } from './fields.ts'

/* Schemas of `POST /v1/sdk/activate`. */

export const activateRequestSchema = z.object({
  customerRef: requiredReference,
  productRef: requiredReference,
  planRef: requiredReference,
})

export type ActivateRequest = z.infer<typeof activateRequestSchema>

export const activateResponseSchema = z.object({
  status: z.enum(['activated', 'already_active', 'topup_required', 'payment_required', 'invalid']),
  purchaseRef: z.string().optional(),
  /**
   * Explains why the plan is invalid, what must be paid or saved before it starts, or what a change of plan charges or credits and
   * when.
   */
  message: z.string().optional(),
  creditBalance: z.number().optional(),
  creditsPerUnit: z.number().optional(),
  currency: z.string().optional(),
  checkoutUrl: z.string().optional(),
  checkoutSessionId: z.string().optional(),
})

export type ActivateResponse = z.infer<typeof activateResponseSchema>
