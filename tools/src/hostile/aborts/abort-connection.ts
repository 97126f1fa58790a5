import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SeededRandom } from '../../client/seeded-random.ts'
import { AnswerReader, type HttpAnswer } from '../requests/answer-reader.ts'
import type { AbortRequest } from './abort-request.ts'

/** Stages of a request at which a client disconnects. */
export const abortStages = [
  'connected',
  'in the head',
  'in the body',
  'sent',
  'waiting',
  'in the answer',
  'half closed',
] as const
export type AbortStage = (typeof abortStages)[number]

export type AbortOutcome = {
  /** Whether enough of the request was sent for the server to process it. */
  readonly isComplete: boolean
  /** The answer, or undefined if none was received completely. */
  readonly answer: HttpAnswer | undefined
}

const waitMsMax = 4
const answerTimeoutMs = 10_000

/** Sends the request up to the stage and disconnects, normally or with a reset. */
export async function sendAndAbort(
  target: { readonly host: string; readonly port: number },
  request: AbortRequest,
  stage: AbortStage,
  random: SeededRandom,
): Promise<AbortOutcome> {
  const socket = connect({ ...target, allowHalfOpen: true })
  const reader = new AnswerReader()
  const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  const answered = new Promise<void>((resolve) => socket.once('data', () => resolve()))
  let answer: HttpAnswer | undefined
  const whole = new Promise<void>((resolve) => {
    socket.on('data', (bytes: Buffer) => {
      reader.push(bytes)
      answer ??= reader.next(false)
      if (answer) resolve()
    })
  })
  socket.on('error', () => socket.destroy())
  socket.on('end', () => socket.end())
  const sentBytes = cutAt(request, stage, random)
  const write = (bytes: Buffer): Promise<void> =>
    new Promise((resolve) => {
      socket.once('close', () => resolve())
      socket.write(bytes, () => resolve())
    })

  await Promise.race([new Promise((resolve) => socket.once('connect', resolve)), ended])
  if (sentBytes > 0) await write(request.bytes.subarray(0, sentBytes))
  const timeout = new AbortController()
  const late = sleep(answerTimeoutMs, undefined, timeout).catch(() => undefined)
  if (stage === 'waiting') await sleep(random.integer(0, waitMsMax))
  if (stage === 'in the answer') await Promise.race([answered, ended, late])
  if (stage === 'half closed') {
    socket.end()
    await Promise.race([whole, ended, late])
  }
  timeout.abort()
  if (random.chance(0.5)) socket.resetAndDestroy()
  else socket.destroy()
  await ended
  return { isComplete: sentBytes >= request.completeOffset, answer }
}

function cutAt(
  { bytes, bodyOffset }: AbortRequest,
  stage: AbortStage,
  random: SeededRandom,
): number {
  if (stage === 'connected') return 0
  if (stage === 'in the head') return random.integer(1, bodyOffset - 1)
  // A request without a body is cut in its head.
  if (stage === 'in the body')
    return random.integer(Math.min(bodyOffset, bytes.length - 1), bytes.length - 1)
  return bytes.length
}
