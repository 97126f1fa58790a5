import type avro from 'avsc'
import {
  currentSchemaId,
  MeterEventFormatError,
  meterEventSchemas,
  meterEventType,
  wireHeaderBytes,
} from './meter-event.ts'
import type { MeterEvent } from './meter-event.ts'
import { MeterEventReader } from './read-meter-event.ts'
import { bodyBytesMax, writeMeterEvent } from './write-meter-event.ts'

const currentType = meterEventType(meterEventSchemas.get(currentSchemaId)!)

/**
 * Writes the event with its header at `position`. `schemaId` is the id of the current schema in this log. Returns the position
 * after the event. If the buffer may be too small, writes nothing and returns the negative number of missing bytes at most.
 */
export function encodeMeterEvent(
  event: MeterEvent,
  buffer: Buffer,
  position: number,
  schemaId = currentSchemaId,
): number {
  const bodyAt = position + wireHeaderBytes
  const missing = bodyAt + bodyBytesMax(event) - buffer.length
  if (missing > 0) return -missing
  buffer[position] = 0
  buffer.writeUInt32BE(schemaId, position + 1)
  return writeMeterEvent(event, buffer, bodyAt)
}

/** Returns the id of the writer schema in the header of the record, or undefined if it has no header. */
export function schemaIdOf(bytes: Uint8Array): number | undefined {
  if (bytes.length < wireHeaderBytes || bytes[0] !== 0) return undefined
  return ((bytes[1]! << 24) | (bytes[2]! << 16) | (bytes[3]! << 8) | bytes[4]!) >>> 0
}

/**
 * Decodes the records of one log. The log defines the meaning of schema ids. Until `learn` is called, the ids of meter-event.ts
 * apply.
 */
export class MeterEventDecoder {
  /**
   * Resolvers by writer schema id, or undefined for the current schema, which needs none. They are compiled once, because decoding
   * is on the path of every record.
   */
  readonly #resolvers = new Map<number, avro.Resolver | undefined>()
  readonly #reader = new MeterEventReader()

  /** Returns whether records with this schema id can be decoded. */
  knows(schemaId: number): boolean {
    return this.#resolvers.has(schemaId)
  }

  /**
   * Makes the decoder read records with this id by this schema from now on. Ids of a registry are independent of the ids of
   * meter-event.ts. Throws if the schema cannot be resolved to a meter event.
   */
  learn(schemaId: number, writer: avro.Type): void {
    const isCurrent = writer.equals(currentType)
    this.#resolvers.set(schemaId, isCurrent ? undefined : currentType.createResolver(writer))
  }

  /** Decodes one complete record of the log. The result shares no memory with `bytes`. */
  decode(bytes: Uint8Array): MeterEvent {
    if (bytes.length < wireHeaderBytes || bytes[0] !== 0) {
      throw new MeterEventFormatError('The record does not start with a schema header')
    }
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const resolver = this.#resolverOf(buffer.readUInt32BE(1))
    const event = resolver === undefined ? this.#reader.read(buffer, wireHeaderBytes) : undefined
    return event ?? decodeBody(resolver, buffer)
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

/** The decoder of the log that this process uses. A process uses only one. */
const processDecoder = new MeterEventDecoder()

/** Returns whether this process can decode records with this schema id. */
export function knowsMeterEventSchema(schemaId: number): boolean {
  return processDecoder.knows(schemaId)
}

/** Applies `MeterEventDecoder.learn` to the decoder of this process. */
export function learnMeterEventSchema(schemaId: number, writer: avro.Type): void {
  processDecoder.learn(schemaId, writer)
}

/** Decodes one complete record of the log. The result shares no memory with `bytes`. */
export function decodeMeterEvent(bytes: Uint8Array): MeterEvent {
  return processDecoder.decode(bytes)
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
