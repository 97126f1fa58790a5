import { Redis, ReplyError } from 'ioredis'
import type { RedisClient } from './connect.ts'
import { HangGuard } from './hang-guard.ts'
import { RedisUnavailableError } from './redis-unavailable-error.ts'
import type { Script } from './scripts/script.ts'

/**
 * Temporary refusals of a running Redis, which waits for replicas, memory, a disk or another node. A script that calls a refused
 * command ends before its first write, because none of these conditions changes while it runs.
 */
const temporaryRefusal =
  /^(?:NOREPLICAS|READONLY|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|OOM|MISCONF|BUSY) /

export type CallLimits = {
  /** Timeout of a call, in milliseconds. */
  readonly callTimeoutMs: number
  /** Maximum concurrent calls, where each of the reads that are sent together counts. Further calls fail at once. */
  readonly callsInFlightMax: number
}

/**
 * Calls Redis with a timeout and a limit of concurrent calls. While a server hangs, calls fail at once, so that callers with a
 * fallback do not wait each time. That does not apply to a cluster, because other nodes answer and one of them takes over.
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

  /**
   * Makes a call. Rejects with a RedisUnavailableError if a later call may succeed, otherwise with the error that Redis returned.
   */
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
    // The call counts until Redis answers or the connection is dropped, even after its timeout.
    const settled = () => void (this.#inFlight -= weight)
    answer.then(settled, settled)
    try {
      return await inTime(answer, callTimeoutMs)
    } catch (cause) {
      if (cause instanceof NoAnswerError) this.#guard?.noteTimeout()
      if (cause instanceof RedisUnavailableError) throw cause
      const reason = cause instanceof Error ? cause.message : String(cause)
      if (cause instanceof ReplyError) {
        if (!temporaryRefusal.test(reason)) throw cause
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
   * Runs a script by its digest. Redis, and each node of a cluster, forgets scripts at a restart. If it is missing, nothing was
   * executed, and the full script is sent.
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
 * Sends all calls of one turn of the event loop in one write. That costs less than the client's own pipelining, which also makes
 * each turn wait for the answers of the previous one.
 */
function sendTogether(client: RedisClient): void {
  // There is no stream before the first connection; a cluster client has one per node.
  const stream =
    client instanceof Redis ? (client.stream as Redis['stream'] | undefined) : undefined
  if (stream === undefined || stream.writableCorked > 0) return
  stream.cork()
  process.nextTick(() => stream.uncork())
}

class NoAnswerError extends RedisUnavailableError {}

/** Returns whether the server answers; a refusal is an answer too. */
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
