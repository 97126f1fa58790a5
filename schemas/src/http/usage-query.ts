import { z } from 'zod'
import { isPlainObject, isStorableText } from '../json-object.ts'
import {
  dimensionCharsMax,
  filterValuesMax,
  propertiesMax,
  usageFilterCharsMax,
  usageTopMax,
} from '../limits.ts'
import type { FilterValue } from '../meter-reading.ts'
import { isProperty } from '../property-path.ts'

/* Parameters with which a usage query selects and groups records, and chooses the form of its answer. */

const usageFormats = ['json', 'csv', 'parquet'] as const
export type UsageFormat = (typeof usageFormats)[number]

/** Values by property. A record must have one of the values of every property. */
export type UsageFilter = Readonly<Record<string, readonly FilterValue[]>>

const filterValue = z.union([z.string().max(dimensionCharsMax), z.number(), z.boolean()])
const filterValues = z.array(filterValue).min(1).max(filterValuesMax)

/**
 * Returns the filter of a query, or what is wrong with it. A single value is the same as a list of it. The text is JSON, so that
 * the number 1 and the text `1` differ, as in the filter of a meter.
 */
export function usageFilterOf(text: string): UsageFilter | { readonly fault: string } {
  const given = parse(text)
  if (!isPlainObject(given)) return { fault: 'Expected a JSON object such as {"model":["large"]}' }
  const entries = Object.entries(given)
  if (entries.length > propertiesMax) {
    return { fault: `At most ${propertiesMax} properties are allowed` }
  }
  const filter: Record<string, readonly FilterValue[]> = {}
  for (const [property, value] of entries) {
    if (!isStorableText(property) || !isProperty(property)) {
      return { fault: `${property.slice(0, 64)} is neither a property name nor a JSON pointer` }
    }
    const values = filterValues.safeParse(Array.isArray(value) ? value : [value])
    if (!values.success || !values.data.every(isStorable)) {
      return {
        fault: `${property} needs 1 to ${filterValuesMax} texts, numbers or booleans of at most ${dimensionCharsMax} characters`,
      }
    }
    filter[property] = values.data
  }
  return filter
}

/** Returns whether the result of `usageFilterOf` is a fault. A filter has only lists as values. */
export function isFilterFault(
  result: ReturnType<typeof usageFilterOf>,
): result is { readonly fault: string } {
  return typeof result['fault'] === 'string'
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isStorable(value: FilterValue): boolean {
  return typeof value !== 'string' || isStorableText(value)
}

const filterText = z
  .string()
  .max(usageFilterCharsMax)
  .superRefine((text, context) => {
    const result = usageFilterOf(text)
    if (isFilterFault(result)) context.addIssue({ code: 'custom', message: result.fault })
  })
  .describe(
    'JSON object with values by dimension, such as `{"model":["large","small"]}`. A record must have one of the values of every dimension. Meters that count calls can be filtered by any property of the call.',
  )

export const usageQueryFields = {
  filter: filterText.optional(),
  /** Number of groups with the largest values. All others are one group `other`. Only with `groupBy`. */
  top: z.coerce
    .number()
    .int()
    .min(1)
    .max(usageTopMax)
    .optional()
    .meta({
      type: 'integer',
      description: `Number of groups with the largest values, at most ${usageTopMax}. The rest is one group, \`other\`. Only with \`groupBy\`.`,
    }),
  /** Default: by the `Accept` header, otherwise `json`. */
  format: z
    .enum(usageFormats)
    .describe('Form of the answer. Default: by the `Accept` header, otherwise `json`.')
    .optional(),
}

const usageValue = { value: z.number(), count: z.int() }

export const usageBucketsSchema = z.array(
  z.object({ start: z.string(), end: z.string(), ...usageValue }),
)

export const usageGroupsSchema = z.array(
  z.object({
    dimensions: z.record(z.string(), z.string()),
    ...usageValue,
    /** Only with `granularity`. */
    buckets: usageBucketsSchema.optional(),
  }),
)

/** The usage of all groups that `top` leaves out. */
export const otherUsageSchema = z.object({
  /** Number of different groups. */
  groups: z.int(),
  ...usageValue,
  buckets: usageBucketsSchema.optional(),
})
