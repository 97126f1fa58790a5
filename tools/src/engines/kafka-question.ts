import { askOverTcp } from './tcp-question.ts'

/** Metadata, version 1: every broker since 0.10 answers it. */
const metadataKey = 3
const metadataVersion = 1

/** In place of a list of topics. */
const noTopics = 0
const allTopics = -1

/** Without a client's name. */
function metadataQuestion(topics: number): Buffer {
  const bytes = Buffer.alloc(4 + 14)
  bytes.writeInt32BE(14, 0)
  bytes.writeInt16BE(metadataKey, 4)
  bytes.writeInt16BE(metadataVersion, 6)
  bytes.writeInt32BE(1, 8)
  bytes.writeInt16BE(-1, 12)
  bytes.writeInt32BE(topics, 14)
  return bytes
}

function askMetadata(port: number, topics: number): Promise<Buffer | undefined> {
  const isWhole = (bytes: Buffer): boolean =>
    bytes.length >= 4 && bytes.length >= 4 + bytes.readInt32BE(0)
  return askOverTcp(port, metadataQuestion(topics), isWhole)
}

/** The numbers of the brokers that take part, as the broker on this port knows them; none while it does not answer. */
export async function brokersKnownTo(port: number): Promise<number[]> {
  const answer = await askMetadata(port, noTopics)
  return answer ? readBrokers(answer) : []
}

/** How many partitions lack a copy that is in sync, as the broker on this port knows; undefined when it does not answer. */
export async function partitionsShort(port: number): Promise<number | undefined> {
  const answer = await askMetadata(port, allTopics)
  return answer && readPartitionsShort(answer)
}

export function readBrokers(answer: Buffer): number[] {
  return readBrokersFrom(new Cursor(answer, headBytes))
}

/** After the brokers the controller; then per topic an error, name, whether it is internal, and its partitions. */
export function readPartitionsShort(answer: Buffer): number {
  const at = new Cursor(answer, headBytes)
  readBrokersFrom(at)
  at.skip(4)
  const topics = at.list(() => {
    at.skip(2)
    at.skipText()
    at.skip(1)
    // Each with an error, its number and leader; then the brokers of all its copies, and of those in sync.
    return at.list(() => {
      at.skip(2 + 4 + 4)
      const copies = at.list(() => at.int32()).length
      return at.list(() => at.int32()).length < copies
    })
  })
  return topics.flat().filter(Boolean).length
}

/** Size and correlation. */
const headBytes = 8

/** Per broker its number, host, port and rack. */
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

  /** Texts have a length of two bytes, -1 for none. */
  skipText(): void {
    this.#at += 2 + Math.max(0, this.#bytes.readInt16BE(this.#at))
  }

  list<Item>(read: () => Item): Item[] {
    return Array.from({ length: this.int32() }, read)
  }
}
