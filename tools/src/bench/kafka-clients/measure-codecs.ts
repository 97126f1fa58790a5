import {
  bestCodec,
  compressionOf,
  type WriterCodec,
} from '@tollgate/platform/event-log/kafka/wire/compress'
import { decodeRecordBatches } from '@tollgate/platform/event-log/kafka/wire/record-batch'
import { formatTable } from '@tollgate/platform/terminal/table'
import { UsageBatches } from './usage-batches.ts'

const codecs = ['none', 'gzip', 'lz4', 'zstd'] as const
const batchSizes = [1, 8, 16, 64, 256, 2_000] as const
const eventsPerSample = 4_000
const rounds = 5
const decompressedBytesMax = 64 * 1024 * 1024
const producer = { producerId: '1', producerEpoch: 0, firstSequence: 0 }

type CodecRates = {
  readonly codec: WriterCodec
  readonly records: number
  /** Bytes of a batch per event, with its header. */
  readonly bytes: number
  /** CPU time per event in microseconds, with the checksum: the best of several rounds. */
  readonly encodeUs: number
  readonly decodeUs: number
}

/** Measures what batches of usage cost with each codec that this version of Node can write. */
export function measureCodecs(): CodecRates[] {
  const usable = codecs.filter((codec) => codec !== 'zstd' || bestCodec() === 'zstd')
  return batchSizes.flatMap((records) => usable.map((codec) => measureCodec(codec, records)))
}

function measureCodec(codec: WriterCodec, records: number): CodecRates {
  const batches = new UsageBatches()
  const compression = compressionOf(codec)
  const count = Math.ceil(eventsPerSample / records)
  let [bytes, encodeUs, decodeUs] = [0, Infinity, Infinity]
  for (let round = 0; round < rounds; round++) {
    const builders = Array.from({ length: count }, () => batches.batch(records))
    const encoded: Buffer[] = []
    const encoding = processorUs(() => {
      for (const builder of builders) encoded.push(builder.finish(producer, compression))
    })
    const decoding = processorUs(() => {
      for (const batch of encoded) decodeRecordBatches(batch, 0, decompressedBytesMax)
    })
    const events = count * records
    bytes = encoded.reduce((sum, batch) => sum + batch.byteLength, 0) / events
    encodeUs = Math.min(encodeUs, encoding / events)
    decodeUs = Math.min(decodeUs, decoding / events)
  }
  return { codec, records, bytes, encodeUs, decodeUs }
}

function processorUs(act: () => void): number {
  const before = process.cpuUsage()
  act()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

export function codecsText(rates: readonly CodecRates[]): string {
  const header = ['records in a batch', 'codec', 'bytes/event', 'encode us', 'decode us']
  const rows = rates.map(({ records, codec, bytes, encodeUs, decodeUs }) => [
    String(records),
    codec,
    bytes.toFixed(0),
    encodeUs.toFixed(2),
    decodeUs.toFixed(2),
  ])
  return formatTable(header, rows)
}
