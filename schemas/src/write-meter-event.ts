import { outcomes, type EventCount, type MeterEvent, type Outcome } from './meter-event.ts'

/*
 * Writes the Avro body of a meter event field by field. Every recorded event uses this code, and a generic codec takes twice as
 * long. A property test compares its bytes with those of avsc.
 */

const outcomeIndexes = Object.fromEntries(
  outcomes.map((outcome, index) => [outcome, index]),
) as Record<Outcome, number>

/** Returns an upper bound of the bytes of the body: at most 3 bytes of UTF-8 per character, and 128 for all other fields. */
export function bodyBytesMax(event: MeterEvent): number {
  const chars =
    event.id.length +
    event.providerId.length +
    event.customerRef.length +
    event.meterName.length +
    (event.productRef?.length ?? 0) +
    (event.purchaseRef?.length ?? 0) +
    event.source.length +
    (event.idempotencyKey?.length ?? 0) +
    event.properties.length +
    (event.reservationId?.length ?? 0) +
    (event.traceParent?.length ?? 0) +
    (event.debit?.length ?? 0)
  return chars * 3 + 128 + countedBytesMax(event)
}

/** Bytes of dimensions and counts: each text has a length, each value at most 10 bytes, each list a start and an end. */
function countedBytesMax({ eventType, dimensions, counts }: MeterEvent): number {
  let bytes = eventType === null ? 0 : eventType.length * 3
  for (const name in dimensions) bytes += (name.length + dimensions[name]!.length) * 3 + 8
  for (const { meterName, text } of counts) {
    bytes += (meterName.length + (text?.length ?? 0)) * 3 + 24
  }
  return bytes
}

/** Writes the body at `at`, where `bodyBytesMax` bytes must be free. Returns the position after it. */
export function writeMeterEvent(event: MeterEvent, buffer: Buffer, at: number): number {
  at = writeText(event.id, buffer, at)
  at = writeText(event.providerId, buffer, at)
  at = writeText(event.customerRef, buffer, at)
  at = writeText(event.meterName, buffer, at)
  at = writeLong(event.value, buffer, at)
  at = writeLong(event.timestamp, buffer, at)
  at = writeLong(event.receivedAt, buffer, at)
  at = writeOptionalText(event.productRef, buffer, at)
  at = writeOptionalText(event.purchaseRef, buffer, at)
  at = writeLong(outcomeIndexes[event.outcome], buffer, at)
  at = writeText(event.source, buffer, at)
  at = writeOptionalText(event.idempotencyKey, buffer, at)
  at = writeText(event.properties, buffer, at)
  at = writeOptionalText(event.reservationId, buffer, at)
  at = writeOptionalText(event.traceParent, buffer, at)
  at = writeOptionalText(event.debit, buffer, at)
  at = writeOptionalText(event.eventType, buffer, at)
  at = writeDimensions(event.dimensions, buffer, at)
  return writeCounts(event.counts, buffer, at)
}

/** Writes a map as one block: the number of its entries, the entries, and 0 as the end. An empty map is only the end. */
function writeDimensions(dimensions: MeterEvent['dimensions'], buffer: Buffer, at: number): number {
  const names = Object.keys(dimensions)
  if (names.length > 0) {
    at = writeLong(names.length, buffer, at)
    for (const name of names) {
      at = writeText(name, buffer, at)
      at = writeText(dimensions[name]!, buffer, at)
    }
  }
  buffer[at] = 0
  return at + 1
}

/** Writes an array as one block, like `writeDimensions`. */
function writeCounts(counts: readonly EventCount[], buffer: Buffer, at: number): number {
  if (counts.length > 0) {
    at = writeLong(counts.length, buffer, at)
    for (const { meterName, value, text } of counts) {
      at = writeText(meterName, buffer, at)
      at = writeLong(value, buffer, at)
      at = writeOptionalText(text, buffer, at)
    }
  }
  buffer[at] = 0
  return at + 1
}

/** Writes a union of null and string, which starts with the index of its branch. */
function writeOptionalText(text: string | null, buffer: Buffer, at: number): number {
  if (text === null) {
    buffer[at] = 0
    return at + 1
  }
  buffer[at] = 2
  return writeText(text, buffer, at + 1)
}

/** The engine writes longer texts. For shorter ones its call would cost more than this loop. */
const shortTextChars = 48

function writeText(text: string, buffer: Buffer, at: number): number {
  const { length } = text
  if (length > shortTextChars) return writeLongText(text, buffer, at)
  buffer[at] = length * 2
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index)
    if (code > 127) return writeLongText(text, buffer, at)
    buffer[at + 1 + index] = code
  }
  return at + 1 + length
}

function writeLongText(text: string, buffer: Buffer, at: number): number {
  // The length in bytes precedes the text and is known only afterwards. For plain ASCII, the guess is correct.
  const textAt = at + lengthBytes(text.length)
  const bytes = buffer.write(text, textAt)
  const rightAt = at + lengthBytes(bytes)
  if (rightAt !== textAt) buffer.copyWithin(rightAt, textAt, textAt + bytes)
  return writeLong(bytes, buffer, at) + bytes
}

/** Returns the number of bytes of an encoded length. */
function lengthBytes(length: number): number {
  let bytes = 1
  for (let rest = Math.floor(length / 64); rest > 0; rest = Math.floor(rest / 128)) bytes += 1
  return bytes
}

/**
 * Writes a zigzag varint of any safe integer. It uses halves and remainders, since the zigzag form itself reaches 2^54, where
 * doubles represent only every second integer.
 */
function writeLong(value: number, buffer: Buffer, at: number): number {
  const isNegative = value < 0
  const magnitude = isNegative ? -(value + 1) : value
  let byte = (magnitude % 64) * 2 + (isNegative ? 1 : 0)
  let rest = Math.floor(magnitude / 64)
  while (rest > 0) {
    buffer[at++] = byte | 128
    byte = rest % 128
    rest = Math.floor(rest / 128)
  }
  buffer[at++] = byte
  return at
}
