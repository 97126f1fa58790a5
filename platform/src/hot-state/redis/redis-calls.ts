import { Redis, ReplyError } from 'ioredis'
import type { RedisClient } from './connect.ts'
import { HangGuard } from './hang-guard.ts'
import { RedisUnavailableError } from './redis-unavailable-error.ts'
import type { Script } from './scripts/script.ts'

/**
 * Replies of a Redis that runs, and cannot do what is wanted until replicas, memory, a disk or another node are back. A script
 * that calls a refused command ends before its first write, as none of these changes while it runs.
 */
const passingRefusal =
  /^(?:NOREPLICAS|READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|OOM|MISCONF|BUSY) /

export type CallLimits = {
  /** Milliseconds after which a call has failed. */
  readonly callTimeoutMs: number
  /** Calls on their way at a time, reads that are sent together counted each; one more fails at once. */
  readonly callsInFlightMax: number
}

/**
 * Calls Redis within bounds: each call in time, and not too many at a time. While a server hangs, calls to it fail at
 * once: those who have another way would else wait in vain each time. Of a cluster that is not said, since the other
 * nodes answer, and one of them takes over.
 */
export class RedisCalls {
  readonly #client: RedisClient
  readonly #limits: CallLimits
  readonly #guard: HangGuard | undefined
  #inFlight = 0

  constructor(client: RedisClient, limits: CallLimits) {
    this.#client = client
    this.#limits = limits
    if (client instanceof Redis) {
      this.#guard = new HangGuard(() => isAnswered(client, limits.callTimeoutMs))
    }
  }

  /** Rejects with RedisUnavailableError, or with the error that Redis answered if a later call fails the same way. */
  async call<Result>(act: (client: RedisClient) => Promise<Result>, weight = 1): Promise<Result> {
    const { callTimeoutMs, callsInFlightMax } = this.#limits
    if (this.#guard?.isHanging === true) {
      throw new RedisUnavailableError('Redis hangs: a call got no answer, nor has a probe yet')
    }
    if (this.#inFlight + weight > callsInFlightMax) {
      throw new RedisUnavailableError(`${callsInFlightMax} calls wait for Redis already`)
    }
    this.#inFlight += weight
    sendTogether(this.#client)
    const answer = (async () => act(this.#client))()
    // Counted until Redis has answered or the connection is given up: a call that took too long still takes its room.
    const settled = () => void (this.#inFlight -= weight)
    answer.then(settled, settled)
    try {
      return await inTime(answer, callTimeoutMs)
    } catch (cause) {
      if (cause instanceof NoAnswerError) this.#guard?.noteTimeout()
      if (cause instanceof RedisUnavailableError) throw cause
      const reason = cause instanceof Error ? cause.message : String(cause)
      if (cause instanceof ReplyError) {
        if (!passingRefusal.test(reason)) throw cause
        throw new RedisUnavailableError(`Redis refuses the call now: ${reason}`, { cause })
      }
      throw new RedisUnavailableError(`No connection to Redis: ${reason}`, { cause })
    }
  }

  close(): void {
    this.#guard?.close()
    this.#client.disconnect()
  }

  /**
   * Redis keeps a script under its digest until it restarts or is told to forget it, and each node of a cluster for
   * itself. Where it is missing nothing was done, and the script is sent whole.
   */
  run(
    script: Script,
    keys: readonly string[],
    args: readonly (string | Buffer)[],
    weight?: number,
  ): Promise<unknown> {
    return this.call(async (client): Promise<unknown> => {
      try {
        return await client.evalsha(script.sha1, keys.length, ...keys, ...args)
      } catch (error) {
        if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
        return await client.eval(script.lua, keys.length, ...keys, ...args)
      }
    }, weight)
  }
}

/**
 * Lets all that is called in one turn of the event loop go out in one write, which costs less than the client's own
 * pipelining: that one also makes each turn wait for the answers of the turn before.
 */
function sendTogether(client: RedisClient): void {
  // There is no stream before the first connection; a cluster's client has one per node.
  const stream =
    client instanceof Redis ? (client.stream as Redis['stream'] | undefined) : undefined
  if (stream === undefined || stream.writableCorked > 0) return
  stream.cork()
  process.nextTick(() => stream.uncork())
}

class NoAnswerError extends RedisUnavailableError {}

/** Also by a refusal. */
async function isAnswered(client: Redis, timeoutMs: number): Promise<boolean> {
  try {
    await inTime(client.ping(), timeoutMs)
    return true
  } catch (error) {
    return error instanceof ReplyError
  }
}

async function inTime<Result>(answer: Promise<Result>, timeoutMs: number): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new NoAnswerError(`Redis has not answered within ${timeoutMs} ms`))
    }, timeoutMs)
  })
  try {
    return await Promise.race([answer, timeout])
  } finally {
    clearTimeout(timer)
  }
}
