import { z } from 'zod'
import type { JsonObject } from '../json-object.ts'
import {
  jsonObject,
  longText,
  optionalWebAddress,
  nameText,
  pageQuery,
  queryBoolean,
  requireJsonObject,
  shortText,
} from './fields.ts'
import { ignoring } from './known-names.ts'
import { planSchema } from './plans.ts'
import { taxBehaviors } from './plan-terms.ts'

/* Schemas of `/v1/sdk/products`. */

export const productStatuses = ['active', 'inactive', 'suspended'] as const
export type ProductStatus = (typeof productStatuses)[number]

/** Three fields have a meaning. All others are stored unchanged. */
const productConfig = z
  .looseObject({
    /** The value is free text, for example `api`. */
    deliveryMethod: shortText.optional(),
    /** The value is free text, for example `digital`. */
    fulfillmentType: shortText.optional(),
    /** The period is in days. */
    validityPeriod: z.number().optional(),
  })
  .superRefine(requireJsonObject) as unknown as z.ZodType<JsonObject>

const productFields = {
  description: longText.optional(),
  imageUrl: optionalWebAddress.optional(),
  productType: shortText.optional(),
  config: productConfig.optional(),
  metadata: jsonObject.optional(),
  taxBehavior: z.enum(taxBehaviors).optional(),
}

const ignoredFields = ['categories', 'capabilities']

export const productCreateSchema = ignoring(
  z.object({
    name: nameText,
    isMcpPay: z.boolean().optional(),
    ...productFields,
  }),
  ...ignoredFields,
)

export type ProductCreateInput = z.infer<typeof productCreateSchema>

/** Only the given fields change. */
export const productUpdateSchema = ignoring(
  z.object({
    name: nameText.optional(),
    status: z.enum(productStatuses).optional(),
    ...productFields,
  }),
  ...ignoredFields,
)

export type ProductUpdateInput = z.infer<typeof productUpdateSchema>

/** The body of a clone request may be missing. */
export const productCloneSchema = z.object({ name: nameText.optional() })

export type ProductCloneInput = z.infer<typeof productCloneSchema>

export const productsQuerySchema = z.object({
  ...pageQuery,
  search: shortText.optional(),
  status: z.enum(productStatuses).optional(),
  isMcpPay: queryBoolean.optional(),
})

export type ProductsQuery = z.infer<typeof productsQuerySchema>

const mcpSchema = z.object({
  mcpServerRef: z.string().optional(),
  mcpSubdomain: z.string().optional(),
  mcpProxyUrl: z.string().optional(),
  originUrl: z.string().optional(),
  defaultPlanRef: z.string().optional(),
  lastToolChange: z
    .object({ at: z.string(), added: z.array(z.string()), removed: z.array(z.string()) })
    .optional()
    .meta({
      description:
        'Time of the last detected change in the tools of the MCP server, with the added and removed tools. The event ' +
        '`product.updated` was sent then',
    }),
})

export const productSchema = z.object({
  ...productFields,
  reference: z.string(),
  name: z.string(),
  status: z.enum(productStatuses),
  balance: z.number(),
  totalTransactions: z.number(),
  isMcpPay: z.boolean(),
  mcp: mcpSchema.optional(),
  plans: z.array(planSchema).optional(),
  createdAt: z.string(),
  updatedAt: z.string(),
})

export type ProductBody = z.infer<typeof productSchema>

export const productsResponseSchema = z.object({
  products: z.array(productSchema),
  total: z.int(),
  limit: z.int(),
  offset: z.int(),
})

export const productDeletedResponseSchema = z.object({
  success: z.literal(true),
  action: z.enum(['deleted', 'deactivated', 'soft_deleted']),
})

export type ProductDeletedBody = z.infer<typeof productDeletedResponseSchema>
