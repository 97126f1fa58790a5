import { z } from 'zod'
import { addressText, emailText, shortText } from './fields.ts'
import { strictBody } from './strict-body.ts'

/* Schemas of the tax details of a customer, and of what is known about its tax id. */

/** Types of tax ids, as the payment processor names them. */
export const taxIdTypes = [
  'eu_vat',
  'gb_vat',
  'us_ein',
  'ch_vat',
  'no_vat',
  'au_abn',
  'nz_gst',
  'ca_gst_hst',
] as const

/** Statuses that a person can give a tax id. */
export const decidedTaxIdStatuses = ['valid', 'invalid'] as const

const taxDetails = z.object({
  isBusiness: z.boolean(),
  businessName: z.string().nullable(),
  customerName: z.string().nullable(),
  /** ISO 3166-1 alpha-2. Null if it is unknown: the customer is then taxed in `defaultTaxCountry`, or in the seller's country without one. */
  country: z.string().nullable(),
  /** Province or territory of Canada, ISO 3166-2 without the country. Null elsewhere. */
  region: z.string().nullable(),
  taxId: z.string().nullable(),
  taxIdType: z.enum(taxIdTypes).nullable(),
  /** Lines separated by line feeds, without the country. */
  address: z.string().nullable(),
  /** Address for invoices. Null for the customer's own. */
  email: z.string().nullable(),
})

const taxIdCheck = z.object({
  /** `unknown`: the register has not answered yet, and the tax id counts as valid. */
  status: z.enum([...decidedTaxIdStatuses, 'unknown']),
  /** `person`: the provider decided, and the register is not asked any more. */
  source: z.enum(['register', 'person']),
  checkedAt: z.string(),
  registeredName: z.string().nullable(),
  registeredAddress: z.string().nullable(),
  /** Proof of the look-up by the register. */
  consultationNumber: z.string().nullable(),
  /** Why a person decided. */
  reason: z.string().nullable(),
})

export const taxDetailsResponseSchema = z.object({
  /** Null if the customer never gave any. */
  taxDetails: taxDetails.nullable(),
  /** Null if the customer has no tax id, or nothing is known about it beyond its format. */
  taxIdCheck: taxIdCheck.nullable(),
})

export type TaxDetailsResponseBody = z.infer<typeof taxDetailsResponseSchema>

/**
 * Replaces the business fields. A missing name, address or email stays as it is, and an empty one is removed. A missing country of a
 * consumer stays too.
 */
export const taxDetailsUpdateSchema = strictBody({
  isBusiness: z.boolean(),
  /** ISO 3166-1 alpha-2: a state of the EU, AU, CA, CH, GB, NO, NZ or US. Required for a business. */
  country: shortText.max(10).optional(),
  /** Required in Canada, such as ON for Ontario. Ignored elsewhere. */
  region: shortText.max(10).optional(),
  /** Only of a business. */
  businessName: shortText.optional(),
  /** Only of a business. It must have the format of the country. */
  taxId: shortText.max(50).optional(),
  customerName: shortText.max(100).optional(),
  address: addressText.optional(),
  email: z.union([emailText, z.literal('')]).optional(),
})

export const taxIdDecisionSchema = strictBody({
  /** The tax id that the decision is about. It must be the customer's. */
  taxId: shortText.max(50),
  status: z.enum(decidedTaxIdStatuses),
  /** Kept with the decision. */
  reason: shortText.min(1),
})
