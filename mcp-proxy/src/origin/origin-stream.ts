import type { Readable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { setTimeout as delay } from 'node:timers/promises'
import { idOf, isMessage, isResponse, type MessageId } from '../protocol/messages.ts'
import { parseJson } from '../protocol/parse-json.ts'
import { EventParser, type StreamEvent } from './event-parser.ts'
import type { Received } from './origin-answer.ts'

/** A stream of events that is being read. */
export type EventSource = {
  readonly body: Readable
  /** Called for each piece of data that arrives. */
  readonly heard: () => void
}

type Options = {
  /** Id of the request that the stream answers. After its response, the stream is not resumed. */
  readonly awaitedId: MessageId | undefined
  readonly charsMax: number
  /** Aborts the wait before the stream is resumed. */
  readonly signal: AbortSignal
  /** Opens the stream again after the event `lastEventId`. Returns undefined if the server has no such stream. */
  readonly resume: (lastEventId: string) => Promise<EventSource | undefined>
}

/** Milliseconds before a stream is resumed if its server sent no retry time. */
const resumeAfterMs = 1_000
/** Maximum milliseconds before a stream is resumed, even if the server asks for more. */
const resumeAfterMsMax = 30_000

/**
 * Returns the messages of a stream in order. A server may end its stream after an event with an id, and expects the client to
 * resume from there. The proxy resumes it itself, because its own streams contain no event ids. Returns when a stream ends that
 * cannot be resumed.
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

/** Returns undefined for data that is not a message, for example an event without data. */
function receivedOf(text: string): Received | undefined {
  const message = parseJson(text)
  return isMessage(message) ? { message, text } : undefined
}

export function isAnswerTo({ message }: Received, id: MessageId | undefined): boolean {
  return id !== undefined && isResponse(message) && idOf(message) === id
}
