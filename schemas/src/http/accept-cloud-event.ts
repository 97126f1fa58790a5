import { isPlainObject, isStorableText } from '../json-object.ts'
import { bulkRecordsMax, nameCharsMax, urlCharsMax } from '../limits.ts'
import { outcomes } from '../meter-event.ts'
import {
  isInstantText,
  isJsonObject,
  isOptionalReference,
  isRequiredReference,
  type Fields,
} from './accept-fields.ts'
import { jsonContentType, type CloudEventInput, type CloudEventsInput } from './cloud-events.ts'

const outcomeSet: ReadonlySet<unknown> = new Set(outcomes)

/** Returns the result of `cloudEventSchema` for an ordinary valid body, otherwise undefined: the schema decides. */
export function acceptCloudEvent(body: unknown): CloudEventInput | undefined {
  if (!isPlainObject(body) || !hasRequired(body) || !hasValidOptional(body)) return undefined
  if (Object.hasOwn(body, 'data_base64') || Object.hasOwn(body, '__proto__')) return undefined
  const { outcome } = body
  // The checks above are those of the schema, which keeps all other attributes as they are.
  if (outcome === undefined) return { ...body, outcome: 'success' } as CloudEventInput
  return outcomeSet.has(outcome) ? (body as CloudEventInput) : undefined
}

export function acceptCloudEvents(body: unknown): CloudEventsInput | undefined {
  if (!Array.isArray(body) || body.length === 0 || body.length > bulkRecordsMax) return undefined
  const events: CloudEventInput[] = []
  for (const candidate of body as unknown[]) {
    const event = acceptCloudEvent(candidate)
    if (event === undefined) return undefined
    events.push(event)
  }
  return events
}

function hasRequired({ specversion, id, source, type, subject }: Fields): boolean {
  return (
    specversion === '1.0' &&
    isAttribute(id, nameCharsMax) &&
    isAttribute(source, urlCharsMax) &&
    isRequiredReference(type) &&
    isRequiredReference(subject)
  )
}

function hasValidOptional(body: Fields): boolean {
  const { time, datacontenttype, data, productref, purchaseref, reservationid } = body
  const { reservationfinal } = body
  return (
    (reservationfinal === undefined || typeof reservationfinal === 'boolean') &&
    (time === undefined || isInstantText(time)) &&
    (datacontenttype === undefined || isJsonType(datacontenttype)) &&
    (data === undefined || isJsonObject(data)) &&
    (productref === undefined || isOptionalReference(productref)) &&
    (purchaseref === undefined || isOptionalReference(purchaseref)) &&
    (reservationid === undefined || isOptionalReference(reservationid))
  )
}

function isAttribute(value: unknown, charsMax: number): boolean {
  return (
    typeof value === 'string' &&
    value.length > 0 &&
    value.length <= charsMax &&
    isStorableText(value)
  )
}

function isJsonType(value: unknown): boolean {
  return typeof value === 'string' && jsonContentType.test(value)
}
