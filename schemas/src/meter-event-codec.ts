import type avro from 'avsc'
import {
  currentSchemaId,
  MeterEventFormatError,
  meterEventSchemas,
  meterEventType,
  wireHeaderBytes,
} from './meter-event.ts'
import type { MeterEvent } from './meter-event.ts'
import { bodyBytesMost, writeMeterEvent } from './write-meter-event.ts'

const currentType = meterEventType(meterEventSchemas.get(currentSchemaId)!)

/**
 * Writes the event with its header at `position`; `schemaId` is what this log calls the current schema. Returns the
 * position after it, or, when the buffer might be too small, minus the number of bytes that are missing at most; then
 * nothing is written.
 */
export function encodeMeterEvent(
  event: MeterEvent,
  buffer: Buffer,
  position: number,
  schemaId = currentSchemaId,
): number {
  const bodyAt = position + wireHeaderBytes
  const missing = bodyAt + bodyBytesMost(event) - buffer.length
  if (missing > 0) return -missing
  buffer[position] = 0
  buffer.writeUInt32BE(schemaId, position + 1)
  return writeMeterEvent(event, buffer, bodyAt)
}

/**
 * By writer schema id, what makes events of its records; undefined where they are events as they stand. Compiled once:
 * decoding is on the path of every record.
 */
const resolvers = new Map<number, avro.Resolver | undefined>()

/** The id of the schema that the record says it was written with; undefined when it has no header. */
export function schemaIdOf(bytes: Uint8Array): number | undefined {
  if (bytes.length < wireHeaderBytes || bytes[0] !== 0) return undefined
  return ((bytes[1]! << 24) | (bytes[2]! << 16) | (bytes[3]! << 8) | bytes[4]!) >>> 0
}

/** Whether records with this id can be read. */
export function knowsMeterEventSchema(schemaId: number): boolean {
  return resolvers.has(schemaId)
}

/**
 * From here on this process reads records with this id by this schema, whatever the id meant before: ids of a registry
 * have nothing to do with our own numbers. Throws when no meter event can be made of what the schema describes.
 */
export function learnMeterEventSchema(schemaId: number, writer: avro.Type): void {
  const isCurrent = writer.equals(currentType)
  resolvers.set(schemaId, isCurrent ? undefined : currentType.createResolver(writer))
}

/** Reads one whole record of the log. The result shares no memory with `bytes`. */
export function decodeMeterEvent(bytes: Uint8Array): MeterEvent {
  if (bytes.length < wireHeaderBytes || bytes[0] !== 0) {
    throw new MeterEventFormatError('The record does not start with a schema header')
  }
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return decodeBody(resolverOf(buffer.readUInt32BE(1)), buffer)
}

function decodeBody(resolver: avro.Resolver | undefined, buffer: Buffer): MeterEvent {
  let decoded: { value: MeterEvent; offset: number }
  try {
    decoded = currentType.decode(buffer, wireHeaderBytes, resolver)
  } catch (cause) {
    throw new MeterEventFormatError('The record is no meter event of its schema', { cause })
  }
  if (decoded.offset !== buffer.length) {
    const fault = decoded.offset < 0 ? 'ends too early' : 'has bytes left over'
    throw new MeterEventFormatError(`The record ${fault}`)
  }
  return decoded.value
}

function resolverOf(schemaId: number): avro.Resolver | undefined {
  if (!resolvers.has(schemaId)) {
    const schema = meterEventSchemas.get(schemaId)
    if (schema === undefined) {
      throw new MeterEventFormatError(`No meter event schema has the id ${schemaId}`)
    }
    learnMeterEventSchema(schemaId, meterEventType(schema))
  }
  return resolvers.get(schemaId)
}
