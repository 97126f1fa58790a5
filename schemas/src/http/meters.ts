import { z } from 'zod'
import { isPlainObject, isStorableText } from '../json-object.ts'
import {
  filterValuesMax,
  groupDimensionsMax,
  nameCharsMax,
  propertiesMax,
  referenceCharsMax,
} from '../limits.ts'
import { aggregations, type Aggregation, type FilterValue } from '../meter-reading.ts'
import { isPointer, isProperty } from '../property-path.ts'
import { faultsOfModelCost, modelCostSchema } from './model-costs.ts'
import {
  dateOrInstant,
  longText,
  optionalReference,
  requiredReference,
  shortText,
} from './fields.ts'
import {
  otherUsageSchema,
  usageBucketsSchema,
  usageGroupsSchema,
  usageQueryFields,
} from './usage-query.ts'

/* Schemas of `/v1/ui/meters` and `/ui/meters/{meterRef}/usage`. */

export const meterStatuses = ['active', 'archived'] as const
export type MeterStatus = (typeof meterStatuses)[number]

const property = z.string().refine((text) => isStorableText(text) && isProperty(text), {
  error: `Expected a property name or a JSON pointer of at most ${referenceCharsMax} characters`,
})

const pointer = z.string().refine((text) => isStorableText(text) && isPointer(text), {
  error: 'Expected a JSON pointer such as "/usage/tokens"',
})

const filterValues = z
  .array(z.union([z.string().max(nameCharsMax), z.number(), z.boolean()]))
  .min(1)
  .max(filterValuesMax)

/** Values by property. It is based on `unknown`, because zod's record drops a `__proto__` key before a check could refuse it. */
const eventFilter = z
  .unknown()
  .superRefine((value, context) => {
    if (!isPlainObject(value)) {
      context.addIssue({ code: 'custom', message: 'Expected an object' })
      return
    }
    const names = Object.keys(value)
    if (names.length > propertiesMax) {
      context.addIssue({
        code: 'custom',
        message: `At most ${propertiesMax} properties are allowed`,
      })
    }
    for (const name of names) {
      const issue =
        property.safeParse(name).error?.issues[0] ??
        filterValues.safeParse(value[name]).error?.issues[0]
      if (issue === undefined) continue
      context.addIssue({ code: 'custom', path: [name, ...issue.path], message: issue.message })
    }
  })
  .meta({
    type: 'object',
    maxProperties: propertiesMax,
    additionalProperties: {
      type: 'array',
      minItems: 1,
      maxItems: filterValuesMax,
      items: { type: ['string', 'number', 'boolean'] },
    },
  }) as unknown as z.ZodType<Readonly<Record<string, FilterValue[]>>>

/** Which events a meter reads: those of the type whose properties all have one of their values. */
const eventSelection = z.object({ type: requiredReference, where: eventFilter.optional() })

const reading = {
  event: eventSelection,
  /** JSON pointers into the event's properties. Several values are added. Default: the value of the call, which is 1 for an event. */
  value: z.union([pointer, z.array(pointer).min(1).max(propertiesMax)]),
  /** Properties that are stored with each record, so that charges and queries can distinguish records by them. */
  dimensions: z.array(property).max(propertiesMax),
}

export const meterCreateSchema = z
  .object({
    name: requiredReference,
    displayName: shortText.optional(),
    description: longText.optional(),
    aggregation: z.enum(aggregations).default('sum'),
    unit: shortText.optional(),
    event: reading.event.optional(),
    value: reading.value.optional(),
    dimensions: reading.dimensions.optional(),
    /** Counts what calls of language models cost the provider, in 10^-6 US dollars. */
    modelCost: modelCostSchema.optional(),
  })
  .superRefine((meter, context) => {
    const faults = [...faultsOfReading(meter, meter.aggregation), ...faultsOfModelCost(meter)]
    for (const { path, message } of faults) {
      context.addIssue({ code: 'custom', path: [...path], message })
    }
  })

type ReadingFields = {
  readonly event?: unknown
  readonly value?: string | readonly string[] | undefined
  readonly dimensions?: readonly string[] | undefined
}

type ReadingFault = { readonly path: readonly string[]; readonly message: string }

/** Returns what does not fit together in the definition of a meter. */
export function faultsOfReading(
  { event, value, dimensions }: ReadingFields,
  aggregation: Aggregation,
): ReadingFault[] {
  const faults: ReadingFault[] = []
  const add = (field: string, message: string): void => void faults.push({ path: [field], message })
  if (event === undefined) {
    if (value !== undefined) add('value', 'Only a meter with `event` reads values')
    if (dimensions !== undefined) add('dimensions', 'Only a meter with `event` has dimensions')
    if (aggregation === 'unique') add('event', 'A meter of distinct values needs `event`')
    return faults
  }
  if (aggregation === 'count' && value !== undefined) {
    add('value', 'A meter that counts events has no value. Use the aggregation sum')
  }
  if (aggregation === 'unique' && (value === undefined || pointersOf(value).length !== 1)) {
    add('value', 'A meter of distinct values needs one JSON pointer')
  }
  if (new Set(dimensions).size < (dimensions?.length ?? 0)) {
    add('dimensions', 'Each dimension may occur only once')
  }
  return faults
}

/** Returns the pointers of the field `value`. */
export function pointersOf(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return []
  return typeof value === 'string' ? [value] : value
}

export type MeterCreateInput = z.infer<typeof meterCreateSchema>

export const meterUpdateSchema = z.object({
  displayName: shortText.optional(),
  description: longText.optional(),
  unit: shortText.optional(),
  status: z.enum(meterStatuses).optional(),
  /** A meter that reads events can read others. A change applies to events that are received after it. */
  event: reading.event.optional(),
  /** Null removes the pointers. */
  value: reading.value.nullable().optional(),
  dimensions: reading.dimensions.optional(),
  /** Only for a meter that counts costs of models. Replaces the whole definition. */
  modelCost: modelCostSchema.optional(),
})

export type MeterUpdateInput = z.infer<typeof meterUpdateSchema>

export const meterSchema = z.object({
  reference: z.string(),
  name: z.string(),
  displayName: z.string(),
  description: z.string().optional(),
  aggregation: z.enum(aggregations),
  unit: z.string(),
  status: z.enum(meterStatuses),
  event: reading.event.optional(),
  value: reading.value.optional(),
  dimensions: z.array(z.string()).optional(),
  modelCost: modelCostSchema.optional(),
  /** Number of the definition of a meter that reads events. Each change of what it reads increases the number. */
  version: z.int().optional(),
  /** Time from which this version applies. */
  since: z.iso.datetime().optional(),
})

export type MeterBody = z.infer<typeof meterSchema>

export const metersResponseSchema = z.object({ meters: z.array(meterSchema) })

export const granularities = ['hour', 'day', 'week', 'month'] as const
export type Granularity = (typeof granularities)[number]

/** The range is half-open: [from, to). */
export const meterUsageQuerySchema = z.object({
  from: dateOrInstant,
  to: dateOrInstant,
  customerRef: optionalReference.optional(),
  granularity: z.enum(granularities).optional(),
  /** Default: the records that count for limits and billing. */
  outcome: z.enum(['success', 'paywall', 'fail', 'all']).optional(),
  /** Dimensions of the meter. The parameter may be repeated. */
  groupBy: z.union([property, z.array(property).min(1).max(groupDimensionsMax)]).optional(),
  ...usageQueryFields,
})

export type MeterUsageQuery = z.infer<typeof meterUsageQuerySchema>

export const meterUsageResponseSchema = z.object({
  meterRef: z.string(),
  meterName: z.string(),
  customerRef: z.string().optional(),
  from: z.string(),
  to: z.string(),
  total: z.number(),
  count: z.int(),
  granularity: z.enum(granularities).optional(),
  buckets: usageBucketsSchema.optional(),
  /**
   * Ordered by the values of the dimensions, or with `top` by usage, largest first. A record without a dimension has the empty text.
   */
  groups: usageGroupsSchema.optional(),
  /** Only with `top`, if there are more groups. */
  other: otherUsageSchema.optional(),
})

export type MeterUsageResponse = z.infer<typeof meterUsageResponseSchema>
