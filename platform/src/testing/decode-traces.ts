/** A received span. */
export type CollectedSpan = {
  /** `service.name` of the process that sent it. */
  readonly service: string
  readonly name: string
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer' | 'unspecified'
  readonly traceId: string
  readonly spanId: string
  /** Id of the parent; '' for the root of a trace. */
  readonly parentSpanId: string
  readonly traceState: string
  readonly attributes: Readonly<Record<string, string | number>>
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  readonly isError: boolean
  readonly durationMs: number
}

const kinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const
const statusError = 2

/** Decodes an ExportTraceServiceRequest of opentelemetry-proto, without any code of the exporter. */
export function decodeTraces(body: Uint8Array): CollectedSpan[] {
  return messages(fieldsOf(body), 1).flatMap((resourceSpans) => {
    const [resource] = messages(resourceSpans, 1)
    const service = resource === undefined ? '' : String(attributesOf(resource, 1)['service.name'])
    return messages(resourceSpans, 2)
      .flatMap((scopeSpans) => messages(scopeSpans, 2))
      .map((span) => toSpan(span, service))
  })
}

function toSpan(span: Fields, service: string): CollectedSpan {
  const [status] = messages(span, 15)
  return {
    service,
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    traceState: text(span, 3),
    parentSpanId: hex(span, 4),
    name: text(span, 5),
    kind: kinds[Number(scalar(span, 6))] ?? 'unspecified',
    durationMs: Number(scalar(span, 8) - scalar(span, 7)) / 1e6,
    attributes: attributesOf(span, 9),
    links: messages(span, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
    isError: status !== undefined && Number(scalar(status, 3)) === statusError,
  }
}

function attributesOf(fields: Fields, number: number): Record<string, string | number> {
  return Object.fromEntries(
    messages(fields, number).map((pair) => {
      const [value] = messages(pair, 2)
      return [text(pair, 1), value === undefined ? '' : scalarOrText(value)]
    }),
  )
}

/** Returns the value of an AnyValue: a string, an integer or a double. */
function scalarOrText(value: Fields): string | number {
  if (value.has(1)) return text(value, 1)
  if (value.has(3)) return Number(BigInt.asIntN(64, scalar(value, 3)))
  if (!value.has(4)) return ''
  return new Float64Array(BigUint64Array.of(scalar(value, 4)).buffer)[0]!
}

/** The fields of a protobuf message by number: integers of any size, and bytes. */
type Fields = ReadonlyMap<number, readonly (bigint | Buffer)[]>

function fieldsOf(bytes: Uint8Array): Fields {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const fields = new Map<number, (bigint | Buffer)[]>()
  let at = 0
  const varint = (): bigint => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = buffer[at++]!
      value |= BigInt(byte & 127) << shift
      if (byte < 128) return value
    }
  }
  const take = (length: number): Buffer => buffer.subarray(at, (at += length))
  const valueOf = (wireType: number): bigint | Buffer => {
    switch (wireType) {
      case 0:
        return varint()
      case 1:
        return take(8).readBigUInt64LE()
      case 2:
        return take(Number(varint()))
      case 5:
        return BigInt(take(4).readUInt32LE())
      default:
        throw new Error(`No protobuf has wire type ${wireType}`)
    }
  }
  while (at < buffer.length) {
    const tag = Number(varint())
    const values = fields.get(tag >> 3) ?? []
    values.push(valueOf(tag & 7))
    fields.set(tag >> 3, values)
  }
  return fields
}

function messages(fields: Fields, number: number): Fields[] {
  return (fields.get(number) ?? []).map((value) => fieldsOf(value as Buffer))
}

function bytesOf(fields: Fields, number: number): Buffer {
  return (fields.get(number)?.[0] as Buffer | undefined) ?? Buffer.alloc(0)
}

function text(fields: Fields, number: number): string {
  return bytesOf(fields, number).toString('utf8')
}

function hex(fields: Fields, number: number): string {
  return bytesOf(fields, number).toString('hex')
}

function scalar(fields: Fields, number: number): bigint {
  return (fields.get(number)?.[0] as bigint | undefined) ?? 0n
}
