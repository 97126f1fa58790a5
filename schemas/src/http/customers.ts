import { z } from 'zod'
import { emailText, jsonObject, optionalReference, requiredReference, shortText } from './fields.ts'
import { purchaseBriefSchema } from './purchases.ts'

/* `/v1/sdk/customers`. */

/** Exactly one must be given; that refusal has a text of its own, so it is no part of the schema. */
export const customerQuerySchema = z.object({
  reference: optionalReference.optional(),
  externalRef: optionalReference.optional(),
  email: shortText.optional(),
})

export type CustomerQuery = z.infer<typeof customerQuerySchema>

export const customerCreateSchema = z.object({
  /** Clients expect an answer of its own for a bad address: see `invalidEmailMessage`. */
  email: emailText,
  name: shortText.optional(),
  telephone: shortText.optional(),
  externalRef: requiredReference.optional(),
  metadata: jsonObject.optional(),
})

export type CustomerCreateInput = z.infer<typeof customerCreateSchema>

/** Only supplied fields change. */
export const customerUpdateSchema = customerCreateSchema.partial()

export type CustomerUpdateInput = z.infer<typeof customerUpdateSchema>

export const customerSchema = z.object({
  reference: z.string(),
  name: z.string(),
  email: z.string(),
  externalRef: z.string().optional(),
  telephone: z.string().optional(),
  status: z.string(),
  created: z.string(),
  metadata: jsonObject.optional(),
  /** The ones that give access. */
  purchases: z.array(purchaseBriefSchema).optional(),
})

export type CustomerBody = z.infer<typeof customerSchema>
