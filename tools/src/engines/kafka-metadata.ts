import { requestOverTcp } from './probes.ts'

/** Metadata request, version 1. Every broker since 0.10 supports it. */
const metadataKey = 3
const metadataVersion = 1

/** Values sent instead of a list of topics. */
const noTopics = 0
const allTopics = -1

/** Encodes a metadata request without a client id. */
function encodeMetadataRequest(topics: number): Buffer {
  const bytes = Buffer.alloc(4 + 14)
  bytes.writeInt32BE(14, 0)
  bytes.writeInt16BE(metadataKey, 4)
  bytes.writeInt16BE(metadataVersion, 6)
  bytes.writeInt32BE(1, 8)
  bytes.writeInt16BE(-1, 12)
  bytes.writeInt32BE(topics, 14)
  return bytes
}

function requestMetadata(port: number, topics: number): Promise<Buffer | undefined> {
  const isComplete = (bytes: Buffer): boolean =>
    bytes.length >= 4 && bytes.length >= 4 + bytes.readInt32BE(0)
  return requestOverTcp(port, encodeMetadataRequest(topics), isComplete)
}

/** Returns the ids of the active brokers as known by the broker on this port. Returns an empty list if it does not answer. */
export async function brokersKnownTo(port: number): Promise<number[]> {
  const answer = await requestMetadata(port, noTopics)
  return answer ? readBrokers(answer) : []
}

/**
 * Returns how many partitions lack an in-sync replica, as known by the broker on this port. Returns undefined if it does not
 * answer.
 */
export async function countUnderReplicated(port: number): Promise<number | undefined> {
  const answer = await requestMetadata(port, allTopics)
  return answer && readUnderReplicated(answer)
}

export function readBrokers(answer: Buffer): number[] {
  return readBrokersFrom(new Cursor(answer, headBytes))
}

/** Reads the controller after the brokers, then for each topic its error, name, internal flag and partitions. */
export function readUnderReplicated(answer: Buffer): number {
  const at = new Cursor(answer, headBytes)
  readBrokersFrom(at)
  at.skip(4)
  const topics = at.list(() => {
    at.skip(2)
    at.skipText()
    at.skip(1)
    // Each partition has an error, its number and its leader, then the brokers of all replicas and of the in-sync replicas.
    return at.list(() => {
      at.skip(2 + 4 + 4)
      const copies = at.list(() => at.int32()).length
      return at.list(() => at.int32()).length < copies
    })
  })
  return topics.flat().filter(Boolean).length
}

/** Bytes of the size and the correlation id. */
const headBytes = 8

/** Reads for each broker its id, host, port and rack. */
function readBrokersFrom(at: Cursor): number[] {
  return at.list(() => {
    const broker = at.int32()
    at.skipText()
    at.skip(4)
    at.skipText()
    return broker
  })
}

class Cursor {
  readonly #bytes: Buffer
  #at: number

  constructor(bytes: Buffer, at: number) {
    this.#bytes = bytes
    this.#at = at
  }

  int32(): number {
    this.#at += 4
    return this.#bytes.readInt32BE(this.#at - 4)
  }

  skip(bytes: number): void {
    this.#at += bytes
  }

  /** Skips a string. Its length is stored in 2 bytes, with -1 for null. */
  skipText(): void {
    this.#at += 2 + Math.max(0, this.#bytes.readInt16BE(this.#at))
  }

  list<Item>(read: () => Item): Item[] {
    return Array.from({ length: this.int32() }, read)
  }
}
