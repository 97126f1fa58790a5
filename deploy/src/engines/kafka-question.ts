import { askOverTcp } from './tcp-question.ts'

/** Metadata, version 1: every broker since 0.10 answers it. */
const metadataKey = 3
const metadataVersion = 1

/** No client name, and an empty list of topics: only the brokers are asked for. */
function metadataQuestion(): Buffer {
  const bytes = Buffer.alloc(4 + 14)
  bytes.writeInt32BE(14, 0)
  bytes.writeInt16BE(metadataKey, 4)
  bytes.writeInt16BE(metadataVersion, 6)
  bytes.writeInt32BE(1, 8)
  bytes.writeInt16BE(-1, 12)
  bytes.writeInt32BE(0, 14)
  return bytes
}

/** The numbers of the brokers that take part, as the broker on this port knows them; none while it does not answer. */
export async function brokersKnownTo(port: number): Promise<number[]> {
  const isWhole = (bytes: Buffer): boolean =>
    bytes.length >= 4 && bytes.length >= 4 + bytes.readInt32BE(0)
  const answer = await askOverTcp(port, metadataQuestion(), isWhole)
  return answer ? readBrokers(answer) : []
}

/** Size, correlation, then per broker its number, host, port and rack; texts have a length of two bytes, -1 for none. */
export function readBrokers(answer: Buffer): number[] {
  const brokers: number[] = []
  let at = 12
  const skipText = (): void => {
    at += 2 + Math.max(0, answer.readInt16BE(at))
  }
  for (let left = answer.readInt32BE(8); left > 0; left--) {
    brokers.push(answer.readInt32BE(at))
    at += 4
    skipText()
    at += 4
    skipText()
  }
  return brokers
}
