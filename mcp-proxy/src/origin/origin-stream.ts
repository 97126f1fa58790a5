import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { setTimeout as delay } from 'node:timers/promises'
import { idOf, isMessage, isResponse, type MessageId } from '../protocol/messages.ts'
import { EventParser } from './event-parser.ts'
import type { OriginAnswer, Received } from './origin-answer.ts'
import { parseJson } from '../protocol/parse-json.ts'

type Options = {
  /** Of the request that the stream answers; once the answer is there, the stream is not resumed. */
  readonly awaitedId: MessageId | undefined
  readonly charsMax: number
  /** Called with each piece that arrives. */
  readonly heard: () => void
  readonly resume: (lastEventId: string) => Promise<OriginAnswer>
}

/** Milliseconds until a stream is resumed whose server did not say how long to wait. */
const resumeAfterMs = 1_000
/** A server that asks for more is not waited for. */
const resumeAfterMsMax = 30_000

/**
 * Returns the messages of a stream in order. A server may end its stream after an event with an id, and expects that it is
 * resumed from there: that is done here, since our own streams carry no ids. Returns when a stream ends that cannot be resumed.
 */
export async function* readOriginStream(
  first: Readable,
  { awaitedId, charsMax, heard, resume }: Options,
): AsyncGenerator<Received, void> {
  let lastEventId: string | undefined
  let waitMs = resumeAfterMs
  let isAnswered = false
  const parser = new EventParser(charsMax)
  const decoder = new StringDecoder('utf8')
  for await (const chunk of first as AsyncIterable<Buffer>) {
    heard()
    for (const { data, id, retryMs } of parser.push(decoder.write(chunk))) {
      lastEventId = id ?? lastEventId
      waitMs = retryMs ?? waitMs
      const received = data === '' ? undefined : receivedOf(data)
      if (received === undefined) continue
      isAnswered ||= isAnswerTo(received, awaitedId)
      yield received
    }
  }
  if (isAnswered || lastEventId === undefined || lastEventId === '') return
  await delay(Math.min(waitMs, resumeAfterMsMax))
  const answer = await resume(lastEventId)
  // Resumed streams are resumed in the same way.
  if (answer.kind === 'stream') yield* answer.messages
}

function receivedOf(text: string): Received | undefined {
  const message = parseJson(text)
  return isMessage(message) ? { message, text } : undefined
}

export function isAnswerTo({ message }: Received, id: MessageId | undefined): boolean {
  return id !== undefined && isResponse(message) && idOf(message) === id
}
