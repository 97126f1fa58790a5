import { parseUrl } from '../parse-url.ts'
import { z } from 'zod'
import type { JsonObject } from '../json-object.ts'
import { faultOfJsonObject, isStorableText } from '../json-object.ts'
import {
  addressCharsMax,
  addressLinesMax,
  amountMinorMax,
  emailCharsMax,
  nameCharsMax,
  pageItemsMax,
  pageOffsetMax,
  quantityMax,
  referenceCharsMax,
  textCharsMax,
  urlCharsMax,
} from '../limits.ts'
import { microsFromNumber } from '../quantity.ts'

/*
 * Building blocks of the request schemas. They contain no transforms, so that validation, TypeScript types and the API description
 * agree. Unknown fields are dropped, never refused.
 */

const storable = 'Text must be well-formed Unicode without U+0000'

function text(charsMax: number) {
  return z.string().max(charsMax).refine(isStorableText, { error: storable })
}

/** A required reference: one of Tollgate or, for customers, the provider's own user id. */
export const requiredReference = z.string().min(1).max(referenceCharsMax).refine(isStorableText, {
  error: storable,
})

/** An optional reference. An empty one means the same as a missing one. */
export const optionalReference = text(referenceCharsMax)

export const nameText = z.string().min(1).max(nameCharsMax).refine(isStorableText, {
  error: storable,
})

export const shortText = text(nameCharsMax)

/** A name that pages, emails and their subjects show. */
export const oneLineName = shortText
  .refine((name) => name.trim() !== '', { error: 'The name must not be empty' })
  .refine((name) => !/[\p{Cc}\u2028\u2029]/u.test(name), {
    error: 'The name must be one line without control characters',
  })

/** A postal address as printed: lines separated by line feeds, without the name and the country. */
export const addressText = text(addressCharsMax).refine(isAddress, {
  error: `Expected at most ${addressLinesMax} lines without control characters`,
})

function isAddress(value: string): boolean {
  const lines = value.split(/\r?\n/)
  return lines.length <= addressLinesMax && !lines.some((line) => /\p{Cc}/u.test(line))
}

export const longText = text(textCharsMax)

/** The code that sends requests to a URL decides which ones are allowed. */
export const urlText = text(urlCharsMax).min(1)

/**
 * An address that people open, such as a link on a page: absolute, http or https, without spaces, control characters and
 * credentials. Addresses that Tollgate calls are checked further by the code that calls them.
 */
export const webAddress = text(textCharsMax).refine(isWebAddress, {
  error: 'Expected an absolute http or https URL without spaces and credentials',
})

/** An optional address. An empty one means the same as a missing one. */
export const optionalWebAddress = text(textCharsMax).refine(
  (value) => value === '' || isWebAddress(value),
  { error: 'Expected an absolute http or https URL without spaces and credentials' },
)

function isWebAddress(value: string): boolean {
  // URL parsing drops these characters, so the opened address would differ from the displayed one.
  if (/[\s\p{Cc}\\]/u.test(value) || !/^https?:\/\//i.test(value)) return false
  const url = parseUrl(value)
  return url?.username === '' && url.password === ''
}

export const invalidEmailMessage = 'Invalid email format'

/**
 * The check is deliberately loose: clients create addresses of the form `<their user id>-<ms>@auto-created.local`, and a user id
 * may contain anything, even another address or a name with spaces. Only a message shows whether an address works.
 */
export const emailText = z
  .string()
  .max(emailCharsMax)
  .regex(/^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$|^[\s\S]+@auto-created\.local$/, {
    error: invalidEmailMessage,
  })
  .refine(isStorableText, { error: storable })

/** ISO 4217 in any case. */
export const currencyCode = z
  .string()
  .regex(/^[A-Za-z]{3}$/, { error: 'Expected an ISO 4217 code' })

/** An amount in whole minor units. */
export const amountMinor = z.int().min(0).max(amountMinorMax)

/** A number of units in a plan. */
export const unitCount = z.number().min(0).max(quantityMax).refine(isQuantity, {
  error: 'At most 6 decimals are allowed',
})

/** Date and time with a zone. Without the zone, the instant would be ambiguous. */
export const instantText = z.iso.datetime({ offset: true })

/** An instant that PostgreSQL stores or compares with stored ones. */
export const storedInstantText = instantText.refine(isOfFourDigitYear, {
  error: 'Must be from the year 1 to 9999, in UTC',
})

/** PostgreSQL has no year 0 and reads no year of more than 4 digits. */
function isOfFourDigitYear(text: string): boolean {
  const year = new Date(text).getUTCFullYear()
  return year >= 1 && year <= 9_999
}

/** Returns whether `from` is earlier than `to`, or one of them is missing. The end is exclusive. */
export function isTimeRange({ from, to }: { from?: string | undefined; to?: string | undefined }) {
  return from === undefined || to === undefined || new Date(from) < new Date(to)
}

export const invalidTimeRange = { error: 'Must be later than from', path: ['to'] }

/** A date means midnight of that day, in UTC unless the operation has a time zone. */
export const dateOrInstant = z.union([z.iso.date(), instantText], {
  error: 'Expected an ISO date or date-time',
})

/** Usage of one record with at most 6 decimals, since amounts are exact integers of 10^-6 units. */
export const quantity = z.number().min(0).max(quantityMax).refine(isQuantity, {
  error: 'At most 6 decimals are allowed',
})

/** An amount to reserve, which must be greater than 0. */
export const positiveQuantity = z.number().gt(0).max(quantityMax).refine(isQuantity, {
  error: 'At most 6 decimals are allowed',
})

export function isQuantity(value: number): boolean {
  return microsFromNumber(value) !== undefined
}

/** A free-form object. It is based on `unknown`, because zod's record drops a `__proto__` key before a check could refuse it. */
export const jsonObject = z
  .unknown()
  .superRefine(requireJsonObject)
  .meta({ type: 'object', additionalProperties: true }) as unknown as z.ZodType<JsonObject>

export function requireJsonObject(value: unknown, context: z.core.$RefinementCtx): void {
  const fault = faultOfJsonObject(value)
  if (fault !== undefined) context.addIssue({ code: 'custom', message: fault })
}

/** Query strings contain text, so compare with 'true'. */
export const queryBoolean = z.enum(['true', 'false'])

export const pageItemsDefault = 50

/** Paging of a list. `clampPage` clamps numbers out of bounds instead of refusing them, because clients rely on it. */
export const pageQuery = {
  limit: pageNumber(pageItemsDefault, `Clamped to 1..${pageItemsMax}`),
  offset: pageNumber(0, 'Rows to skip'),
}

function pageNumber(missing: number, description: string) {
  return z.coerce.number().optional().meta({ type: 'integer', default: missing, description })
}

export function clampPage(query: { limit?: number | undefined; offset?: number | undefined }): {
  limit: number
  offset: number
} {
  return {
    limit: clamp(query.limit ?? pageItemsDefault, 1, pageItemsMax),
    offset: clamp(query.offset ?? 0, 0, pageOffsetMax),
  }
}

function clamp(value: number, min: number, max: number): number {
  return Math.trunc(Math.min(Math.max(value, min), max))
}

/** Name of a time zone, such as `Europe/Paris`. */
export const timeZoneName = z.string().min(1).max(64).refine(isTimeZone, {
  error: 'Expected the name of a time zone, for example Europe/Paris',
})

function isTimeZone(name: string): boolean {
  // Names only: the database reads abbreviations and offsets in another way.
  if (!/^(UTC|[A-Za-z_]+\/[A-Za-z0-9_+\-/]+)$/.test(name)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: name })
    return true
  } catch {
    return false
  }
}
