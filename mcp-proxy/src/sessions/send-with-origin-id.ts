import type { OriginAnswer, Received } from '../origin/origin-answer.ts'
import { otherAnswer } from '../origin/origin-answer.ts'
import { isAnswerTo } from '../origin/origin-stream.ts'
import { isResponse, type MessageId } from '../protocol/messages.ts'
import { withId } from '../protocol/raw-json.ts'

/** Sends a request with another id than the client's. Returns the answer with the client's id. */
export async function sendWithOriginId(
  body: string,
  id: MessageId,
  originId: MessageId,
  send: (body: string, id: MessageId) => Promise<OriginAnswer>,
): Promise<OriginAnswer> {
  const answer = await send(withId(body, originId), originId)
  switch (answer.kind) {
    case 'message':
      return isAnswerTo(answer.received, originId)
        ? { ...answer, received: withClientId(answer.received, id) }
        : otherAnswer
    case 'stream':
      return { ...answer, messages: withClientIds(answer.messages, id, originId) }
    case 'accepted':
    case 'refused':
    case 'failed':
      return answer
  }
}

/**
 * Renames responses in a stream. A response to another request is dropped: its id may equal the client's id while it answers a
 * request of another process.
 */
async function* withClientIds(
  messages: AsyncGenerator<Received, void>,
  id: MessageId,
  originId: MessageId,
): AsyncGenerator<Received, void> {
  for await (const received of messages) {
    if (isAnswerTo(received, originId)) yield withClientId(received, id)
    else if (!isResponse(received.message)) yield received
  }
}

function withClientId({ message, text }: Received, id: MessageId): Received {
  return { message: { ...message, id }, text: withId(text, id) }
}
