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
 * Writes the event with its header at `position`. Returns the position after it, or, when the buffer might be too
 * small, minus the number of bytes that are missing at most; then nothing is written.
 */
export function encodeMeterEvent(event: MeterEvent, buffer: Buffer, position: number): number {
  const bodyAt = position + wireHeaderBytes
  const missing = bodyAt + bodyBytesMost(event) - buffer.length
  if (missing > 0) return -missing
  buffer[position] = 0
  buffer.writeUInt32BE(currentSchemaId, position + 1)
  return writeMeterEvent(event, buffer, bodyAt)
}

type Reader = {
  readonly writer: avro.Type
  readonly resolver: avro.Resolver | undefined
}

/** By writer schema id; resolvers are compiled once, decoding is on the path of every record. */
const readers = new Map<number, Reader>()

/** Reads one whole record of the log. The result shares no memory with `bytes`. */
export function decodeMeterEvent(bytes: Uint8Array): MeterEvent {
  if (bytes.length < wireHeaderBytes || bytes[0] !== 0) {
    throw new MeterEventFormatError('The record does not start with a schema header')
  }
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const reader = readerOf(buffer.readUInt32BE(1))
  return decodeBody(reader, buffer)
}

function decodeBody(reader: Reader, buffer: Buffer): MeterEvent {
  let decoded: { value: MeterEvent; offset: number }
  try {
    decoded = reader.writer.decode(buffer, wireHeaderBytes, reader.resolver)
  } catch (cause) {
    throw new MeterEventFormatError('The record is no meter event of its schema', { cause })
  }
  if (decoded.offset !== buffer.length) {
    const fault = decoded.offset < 0 ? 'ends too early' : 'has bytes left over'
    throw new MeterEventFormatError(`The record ${fault}`)
  }
  return decoded.value
}

function readerOf(schemaId: number): Reader {
  const known = readers.get(schemaId)
  if (known !== undefined) return known
  const schema = meterEventSchemas.get(schemaId)
  if (schema === undefined) {
    throw new MeterEventFormatError(`No meter event schema has the id ${schemaId}`)
  }
  const writer = meterEventType(schema)
  const resolver = schemaId === currentSchemaId ? undefined : currentType.createResolver(writer)
  const reader = { writer, resolver }
  readers.set(schemaId, reader)
  return reader
}
