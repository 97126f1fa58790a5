import { z } from 'zod'
import { urlText } from './fields.ts'

export const taxServicePolicies = ['hold', 'built_in'] as const

const onFailure = z.enum(taxServicePolicies)

export const taxServiceUpdateSchema = z.object({
  url: urlText.meta({ description: 'Public https address that gets the questions' }),
  onFailure: onFailure
    .default('hold')
    .describe(
      'While the service does not answer. `hold`: nothing is invoiced or sold until it does. `built_in`: the built-in rates are used',
    ),
  newSecret: z
    .boolean()
    .default(false)
    .describe(
      'Whether the signing secret is replaced at once. The first request always creates one',
    ),
})

export const taxServiceSchema = z.object({
  url: z.string(),
  onFailure,
  createdAt: z.string(),
  updatedAt: z.string(),
})

export const taxServiceResponseSchema = z.object({
  taxService: taxServiceSchema.nullable().describe('Null: the built-in rates are used'),
  secret: z
    .string()
    .optional()
    .describe('The signing secret, only in the response to the request that created it'),
})

export type TaxServiceResponseBody = z.infer<typeof taxServiceResponseSchema>
