import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { setTimeout as delay } from 'node:timers/promises'
import { idOf, isMessage, isResponse, type MessageId } from '../protocol/messages.ts'
import { parseJson } from '../protocol/parse-json.ts'
import { EventParser, type StreamEvent } from './event-parser.ts'
import type { Received } from './origin-answer.ts'

/** A stream of events while it is read. */
export type EventSource = {
  readonly body: Readable
  /** Called with each piece that arrives. */
  readonly heard: () => void
}

type Options = {
  /** Of the request that the stream answers; once the answer is there, the stream is not resumed. */
  readonly awaitedId: MessageId | undefined
  readonly charsMax: number
  /** Ends the wait until the stream is resumed. */
  readonly signal: AbortSignal
  /** Opens the stream again after an event; undefined where the server has none. */
  readonly resume: (lastEventId: string) => Promise<EventSource | undefined>
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
  first: EventSource,
  { awaitedId, charsMax, signal, resume }: Options,
): AsyncGenerator<Received, void> {
  let source: EventSource | undefined = first
  let waitMs = resumeAfterMs
  let isAnswered = false
  while (source !== undefined) {
    let lastEventId = ''
    for await (const { data, id, retryMs } of readEvents(source, charsMax)) {
      lastEventId = id ?? lastEventId
      waitMs = retryMs ?? waitMs
      const received = receivedOf(data)
      if (received === undefined) continue
      isAnswered ||= isAnswerTo(received, awaitedId)
      yield received
    }
    if (isAnswered || lastEventId === '') return
    await delay(Math.min(waitMs, resumeAfterMsMax), undefined, { signal })
    source = await resume(lastEventId)
  }
}

async function* readEvents(
  { body, heard }: EventSource,
  charsMax: number,
): AsyncGenerator<StreamEvent, void> {
  const parser = new EventParser(charsMax)
  const decoder = new StringDecoder('utf8')
  for await (const chunk of body as AsyncIterable<Buffer>) {
    heard()
    yield* parser.push(decoder.write(chunk))
  }
}

/** Returns undefined for what is no message, as an event without data. */
function receivedOf(text: string): Received | undefined {
  const message = parseJson(text)
  return isMessage(message) ? { message, text } : undefined
}

export function isAnswerTo({ message }: Received, id: MessageId | undefined): boolean {
  return id !== undefined && isResponse(message) && idOf(message) === id
}
