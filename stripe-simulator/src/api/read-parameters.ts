import { parse } from 'qs'
import { z } from 'zod'
import { invalidParameter, type StripeApiError } from '../errors.ts'

/** Parsed form values before validation. */
export type Form = Readonly<Record<string, unknown>>

/** Parses a query or a body. `a[b]=1` is a nested value, `a[0]=1` and `a[]=1` are lists. */
export function parseForm(text: string): Form {
  return parse(text, { depth: 10, parameterLimit: 1_000, arrayLimit: 100, allowPrototypes: false })
}

/** Validates parameters. Throws Stripe's error for a missing, invalid or unknown parameter. */
export function readParameters<Parameters>(schema: z.ZodType<Parameters>, form: Form): Parameters {
  const result = schema.safeParse(form)
  if (result.success) return result.data
  throw toStripeError(result.error.issues[0]!)
}

function toStripeError(issue: z.core.$ZodIssue): StripeApiError {
  const name = parameterName(issue.path)
  if (issue.code === 'unrecognized_keys') {
    const unknown = parameterName([...issue.path, issue.keys[0]!])
    return invalidParameter(`Received unknown parameter: ${unknown}`, {
      code: 'parameter_unknown',
      param: unknown,
    })
  }
  if (issue.code === 'invalid_type' && issue.input === undefined) {
    return invalidParameter(`Missing required param: ${name}.`, {
      code: 'parameter_missing',
      param: name,
    })
  }
  const code = issue.message === integerMessage ? { code: 'parameter_invalid_integer' } : {}
  return invalidParameter(`Invalid ${name}: ${issue.message}`, { ...code, param: name })
}

function parameterName(path: readonly PropertyKey[]): string {
  const [first = '', ...others] = path.map(String)
  return first + others.map((each) => `[${each}]`).join('')
}

const integerMessage = 'Invalid integer'

export const integer = z
  .string()
  .regex(/^-?\d{1,15}$/, integerMessage)
  .transform(Number)
export const flag = z.enum(['true', 'false']).transform((text) => text === 'true')
export const text = z.string().max(5_000)
/** An empty string removes all metadata. */
export const metadata = z.union([
  z.literal(''),
  z.record(z.string().max(40), z.string().max(500)).refine((all) => Object.keys(all).length <= 50),
])
export const expand = z.array(text).max(20)
export const currency = z
  .string()
  .regex(/^[a-zA-Z]{3}$/)
  .transform((code) => code.toLowerCase())

/** A Unix time in seconds, or bounds of it. */
export const timeRange = z.union([
  integer,
  z.strictObject({
    gt: integer.optional(),
    gte: integer.optional(),
    lt: integer.optional(),
    lte: integer.optional(),
  }),
])

export const page = {
  limit: integer.refine((count) => count >= 1 && count <= 100, 'must be 1 to 100').optional(),
  starting_after: text.optional(),
  expand: expand.optional(),
}
