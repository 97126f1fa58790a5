import { z } from 'zod'
import { isStorableText } from '../json-object.ts'
import {
  bulkRecordsMax,
  correctionsPerRequestMax,
  dimensionCharsMax,
  filterValuesMax,
  propertiesMax,
} from '../limits.ts'
import { isProperty } from '../property-path.ts'
import {
  nameText,
  optionalReference,
  pageQuery,
  quantity,
  requiredReference,
  shortText,
  storedInstantText,
} from './fields.ts'

/* Schemas of `/v1/sdk/usage-corrections`. */

export const correctionActions = ['remove', 'set'] as const
export type CorrectionAction = (typeof correctionActions)[number]

export const correctionStatuses = ['requested', 'applying', 'applied', 'failed'] as const
export type CorrectionStatus = (typeof correctionStatuses)[number]

/** One record: by its reference, best with the customer, or by the customer and the idempotency key with which it was sent. */
const recordSchema = z
  .object({
    reference: requiredReference.optional(),
    customerRef: requiredReference.optional(),
    idempotencyKey: requiredReference.optional(),
  })
  .refine(
    ({ reference, customerRef, idempotencyKey }) =>
      reference === undefined
        ? customerRef !== undefined && idempotencyKey !== undefined
        : idempotencyKey === undefined,
    { error: 'Name a record by `reference`, or by `customerRef` and `idempotencyKey`' },
  )

const propertyValue = z.union([
  z.string().max(dimensionCharsMax).refine(isStorableText),
  z.number(),
  z.boolean(),
])

/** The values that a property may have, by its name or JSON pointer. */
const propertyFilter = z
  .record(
    z.string().refine((name) => isStorableText(name) && isProperty(name), {
      error: 'Expected the name of a property or a JSON pointer',
    }),
    z.array(propertyValue).min(1).max(filterValuesMax),
  )
  .refine((filter) => Object.keys(filter).length <= propertiesMax, {
    error: `At most ${propertiesMax} properties are allowed`,
  })

/** All records that match every given field. `from` is inclusive and `to` exclusive. */
const filterSchema = z
  .object({
    customerRef: requiredReference.optional(),
    productRef: requiredReference.optional(),
    meterName: requiredReference.optional(),
    from: storedInstantText,
    to: storedInstantText,
    /** Values of dimensions of meters. */
    dimensions: propertyFilter.optional(),
    /** Values in the `properties` or `metadata` of the call. */
    properties: propertyFilter.optional(),
  })
  .refine(({ from, to }) => Date.parse(from) < Date.parse(to), {
    error: '`to` must be later than `from`',
    path: ['to'],
  })

const correctionFields = {
  record: recordSchema.optional(),
  filter: filterSchema.optional(),
  /** `remove` takes away all that is left of a record, on all meters. `set` gives it another value on one meter. */
  action: z.enum(correctionActions),
  /** Units of each record after the correction. Only for `set`. */
  value: quantity.optional(),
  reason: nameText,
  /** The person who decided it. Default: the key or user of the request. */
  author: shortText.optional(),
  idempotencyKey: optionalReference.optional(),
}

type Fields = z.infer<z.ZodObject<typeof correctionFields>>

function refineCorrection(
  { record, filter, action, value }: Fields,
  context: z.core.$RefinementCtx,
): void {
  const issue = (path: string[], message: string): void => {
    context.addIssue({ code: 'custom', path, message })
  }
  if ((record === undefined) === (filter === undefined)) {
    issue(['record'], 'Exactly one of `record` and `filter` is required')
  }
  if ((action === 'set') !== (value !== undefined)) {
    issue(['value'], '`value` is required for `set`, and only for it')
  }
  if (action === 'set' && filter !== undefined && filter.meterName === undefined) {
    issue(['filter', 'meterName'], 'A filter that sets a value names a meter')
  }
}

const dryRun = z.boolean().optional()

/** With `dryRun`, the answer says what the correction would change, and nothing is changed. */
export const usageCorrectionCreateSchema = z
  .object({ ...correctionFields, dryRun })
  .superRefine(refineCorrection)

export type UsageCorrectionInput = Omit<z.infer<typeof usageCorrectionCreateSchema>, 'dryRun'>

export const usageCorrectionsBatchSchema = z.object({
  corrections: z
    .array(z.object(correctionFields).superRefine(refineCorrection))
    .min(1)
    .max(correctionsPerRequestMax),
  dryRun,
})

/** What a correction changes for one customer, product and meter. */
const changeSchema = z.object({
  customerRef: z.string(),
  productRef: z.string().optional(),
  meterName: z.string(),
  records: z.int(),
  /** Added to the usage. Negative if usage is taken away. */
  units: z.number(),
  /** Credits that go back to the wallet, as decimal text. Missing if no wallet paid. */
  creditsReturned: z.string().optional(),
})

export type CorrectionChangeBody = z.infer<typeof changeSchema>

/** A period of a purchase whose usage changes. */
const periodSchema = z.object({
  purchaseRef: z.string(),
  customerRef: z.string(),
  periodStart: z.string(),
  /** Missing for a period without an end. */
  periodEnd: z.string().optional(),
  /** `open`: its bill will have the corrected usage. `billed`: the next bill has a line for the difference. */
  state: z.enum(['open', 'billed']),
  currency: z.string(),
  /** How much more the period costs, in minor units without tax. Negative for a credit. */
  amountMinor: z.int(),
})

export type CorrectedPeriodBody = z.infer<typeof periodSchema>

export const usageCorrectionSchema = z.object({
  /** Missing in the answer to a dry run. */
  reference: z.string().optional(),
  /** Missing in the answer to a dry run. */
  status: z.enum(correctionStatuses).optional(),
  /** The error of the last try. A `failed` correction is tried again later, and the corrections after it do not wait for it. */
  failure: z.string().optional(),
  record: z.object({ reference: z.string() }).optional(),
  filter: filterSchema.optional(),
  action: z.enum(correctionActions),
  value: z.number().optional(),
  reason: z.string(),
  author: z.string(),
  /** Records that were changed so far, or would be by a dry run. */
  recordsCorrected: z.int(),
  /** Records that `set` left alone because they count on several meters. */
  recordsSkipped: z.int(),
  /** The largest changes. */
  changes: z.array(changeSchema),
  /** Only in the answer to a dry run. */
  periods: z.array(periodSchema).optional(),
  createdAt: z.string().optional(),
  appliedAt: z.string().optional(),
})

export type UsageCorrectionBody = z.infer<typeof usageCorrectionSchema>

export const usageCorrectionsBatchResponseSchema = z.object({
  corrections: z.array(usageCorrectionSchema),
})

export const usageCorrectionsQuery = z.object(pageQuery)

/** Newest first, without their changes. */
export const usageCorrectionsResponseSchema = z.object({
  corrections: z.array(usageCorrectionSchema.omit({ changes: true, periods: true })),
  total: z.int(),
})

/**
 * Path with which the control plane appends the records of a correction to the log. Only services of the installation may use it.
 */
export const appendCorrectionsPath = '/internal/usage-corrections'

/** Path on which ingest announces a backfill, with the key of its client, before the records are in the log. */
export const backfillsPath = '/v1/sdk/usage-corrections/backfills'

export const backfillSchema = z.object({
  usages: z
    .array(
      z.object({
        customerRef: requiredReference,
        /** Empty for usage without a product. */
        productRef: optionalReference,
        /** Unix milliseconds. Years have 4 digits in PostgreSQL. */
        timestamp: z
          .int()
          .min(0)
          .max(Date.UTC(9999, 11, 31)),
      }),
    )
    .min(1)
    .max(bulkRecordsMax),
})

export type BackfillInput = z.infer<typeof backfillSchema>

export const backfillNotedSchema = z.object({ success: z.literal(true) })

/**
 * Milliseconds after the announcement in which the records of a backfill must be in the log. Bills look at its periods again until twice
 * that time has passed.
 */
export const backfillAppendMsMax = 300_000

const micros = z.int()

/** The records of one page of a correction. Values and debits are the differences to the originals. */
export const appendCorrectionsSchema = z.object({
  records: z
    .array(
      z.object({
        id: z.string(),
        idempotencyKey: z.string(),
        customerRef: z.string(),
        meterName: z.string(),
        /** 10^-6 units. */
        value: micros,
        timestamp: z.int(),
        productRef: z.string().nullable(),
        purchaseRef: z.string().nullable(),
        properties: z.string(),
        /** 10^-6 credits as decimal text; null for none. */
        debit: z.string().nullable(),
        eventType: z.string().nullable(),
        dimensions: z.record(z.string(), z.string()),
        counts: z.array(
          z.object({ meterName: z.string(), value: micros, text: z.string().nullable() }),
        ),
      }),
    )
    .min(1)
    .max(bulkRecordsMax),
})

export type AppendCorrectionsInput = z.infer<typeof appendCorrectionsSchema>
export type CorrectionRecord = AppendCorrectionsInput['records'][number]
