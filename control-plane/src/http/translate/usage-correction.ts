import type {
  CorrectedUsage,
  CorrectionSelection,
  NewCorrection,
  UsageCorrection,
} from '@tollgate/domain/usage-corrections/correction'
import type {
  CorrectionChangeBody,
  UsageCorrectionBody,
  UsageCorrectionInput,
} from '@tollgate/schemas/http/usage-corrections'
import type { Environment } from '@tollgate/schemas/environment'
import { decimalFromMicros, microsFromNumber, numberFromMicros } from '@tollgate/schemas/quantity'
import { keyedUsageReference } from '@tollgate/schemas/usage-reference'
import { definedFields } from '../../domain/defined-fields.ts'

type Scope = { readonly environment: Environment; readonly providerId: string }

/** `defaults` are used where the input has none. */
export function correctionFromHttp(
  input: UsageCorrectionInput,
  scope: Scope,
  defaults: { readonly author: string; readonly idempotencyKey: string | null },
): NewCorrection {
  const { action, value, reason, author, idempotencyKey } = input
  return {
    selection: selectionOf(input, scope),
    action,
    // The schema accepts only numbers that are an exact number of micros.
    valueMicros: value === undefined ? undefined : BigInt(microsFromNumber(value)!),
    reason,
    author: author || defaults.author,
    idempotencyKey: idempotencyKey || defaults.idempotencyKey,
  }
}

function selectionOf(
  { record, filter }: UsageCorrectionInput,
  { environment, providerId }: Scope,
): CorrectionSelection {
  if (filter !== undefined) {
    const { from, to, dimensions = {}, properties = {}, ...references } = filter
    return {
      kind: 'filter',
      ...references,
      fromMs: Date.parse(from),
      toMs: Date.parse(to),
      dimensions,
      properties,
    }
  }
  const { reference, customerRef, idempotencyKey } = record!
  const id =
    reference ?? keyedUsageReference(environment, providerId, customerRef!, idempotencyKey!)
  return { kind: 'record', id, ...definedFields({ customerRef }) }
}

export function correctionToHttp(
  correction: UsageCorrection,
  changes: readonly CorrectedUsage[],
): UsageCorrectionBody {
  const { reference, status, failure, createdAt, appliedAt } = correction
  const { recordsCorrected, recordsSkipped } = correction
  return {
    ...{ reference, status },
    ...definedFields({ failure }),
    ...requestToHttp(correction),
    ...{ recordsCorrected, recordsSkipped },
    changes: changes.map(changeToHttp),
    createdAt: createdAt.toISOString(),
    ...definedFields({ appliedAt: appliedAt?.toISOString() }),
  }
}

/** Returns what was requested. */
export function requestToHttp({
  selection,
  action,
  valueMicros,
  reason,
  author,
}: NewCorrection): Pick<
  UsageCorrectionBody,
  'record' | 'filter' | 'action' | 'value' | 'reason' | 'author'
> {
  return {
    ...selectionToHttp(selection),
    action,
    ...definedFields({
      value: valueMicros === undefined ? undefined : numberFromMicros(valueMicros),
    }),
    ...{ reason, author },
  }
}

function selectionToHttp(
  selection: CorrectionSelection,
): Pick<UsageCorrectionBody, 'record' | 'filter'> {
  if (selection.kind === 'record') return { record: { reference: selection.id } }
  const { customerRef, productRef, meterName, fromMs, toMs, dimensions, properties } = selection
  return {
    filter: {
      ...definedFields({ customerRef, productRef, meterName }),
      from: new Date(fromMs).toISOString(),
      to: new Date(toMs).toISOString(),
      ...valuesToHttp('dimensions', dimensions),
      ...valuesToHttp('properties', properties),
    },
  }
}

function valuesToHttp<Name extends 'dimensions' | 'properties'>(
  name: Name,
  values: Readonly<Record<string, readonly (string | number | boolean)[]>>,
): Partial<Record<Name, Record<string, (string | number | boolean)[]>>> {
  const entries = Object.entries(values).map(([key, list]) => [key, [...list]] as const)
  if (entries.length === 0) return {}
  return { [name]: Object.fromEntries(entries) } as Record<
    Name,
    Record<string, (string | number | boolean)[]>
  >
}

export function changeToHttp({
  customerRef,
  productRef,
  meterName,
  records,
  micros,
  returnedMicros,
}: CorrectedUsage): CorrectionChangeBody {
  return {
    customerRef,
    ...definedFields({ productRef: productRef || undefined }),
    meterName,
    records,
    units: numberFromMicros(micros),
    ...definedFields({
      creditsReturned: returnedMicros === 0n ? undefined : decimalFromMicros(returnedMicros),
    }),
  }
}
