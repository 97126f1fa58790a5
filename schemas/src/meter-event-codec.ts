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

/** The id of the schema that the record says it was written with; undefined when it has no header. */
export function schemaIdOf(bytes: Uint8Array): number | undefined {
  if (bytes.length < wireHeaderBytes || bytes[0] !== 0) return undefined
  return ((bytes[1]! << 24) | (bytes[2]! << 16) | (bytes[3]! << 8) | bytes[4]!) >>> 0
}

/**
 * Reads the records of one log. Ids mean what that log says they mean: until it is told otherwise, our own numbers
 * (meter-event.ts).
 */
export class MeterEventDecoder {
  /**
   * By writer schema id, what makes events of its records; undefined where they are events as they stand. Compiled
   * once: decoding is on the path of every record.
   */
  readonly #resolvers = new Map<number, avro.Resolver | undefined>()

  /** Whether records with this id can be read. */
  knows(schemaId: number): boolean {
    return this.#resolvers.has(schemaId)
  }

  /**
   * From here on records with this id are read by this schema, whatever the id meant before: ids of a registry have
   * nothing to do with our own numbers. Throws when no meter event can be made of what the schema describes.
   */
  learn(schemaId: number, writer: avro.Type): void {
    const isCurrent = writer.equals(currentType)
    this.#resolvers.set(schemaId, isCurrent ? undefined : currentType.createResolver(writer))
  }

  /** Reads one whole record of the log. The result shares no memory with `bytes`. */
  decode(bytes: Uint8Array): MeterEvent {
    if (bytes.length < wireHeaderBytes || bytes[0] !== 0) {
      throw new MeterEventFormatError('The record does not start with a schema header')
    }
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    return decodeBody(this.#resolverOf(buffer.readUInt32BE(1)), buffer)
  }

  #resolverOf(schemaId: number): avro.Resolver | undefined {
    if (!this.#resolvers.has(schemaId)) {
      const schema = meterEventSchemas.get(schemaId)
      if (schema === undefined) {
        throw new MeterEventFormatError(`No meter event schema has the id ${schemaId}`)
      }
      this.learn(schemaId, meterEventType(schema))
    }
    return this.#resolvers.get(schemaId)
  }
}

/** Of the one log that a process works with. */
const ownLog = new MeterEventDecoder()

/** Whether this process can read records with this id. */
export function knowsMeterEventSchema(schemaId: number): boolean {
  return ownLog.knows(schemaId)
}

/** See `MeterEventDecoder.learn`. */
export function learnMeterEventSchema(schemaId: number, writer: avro.Type): void {
  ownLog.learn(schemaId, writer)
}

/** Reads one whole record of the log. The result shares no memory with `bytes`. */
export function decodeMeterEvent(bytes: Uint8Array): MeterEvent {
  return ownLog.decode(bytes)
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
