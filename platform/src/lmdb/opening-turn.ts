import { randomBytes } from 'node:crypto'
import type { Server, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { CommitGate } from './commit-gate.ts'
import { TurnSockets } from './turn-sockets.ts'

/*
 * When lmdb-js opens an environment, it reads the number of the newest transaction and stores it a moment later in memory that all
 * processes share. If another process commits in between, that number goes back: readers no longer see the commit, and the next
 * writer overwrites it (LMDB ITS#9496, fixed there in 2021; lmdb-js has a copy without the fix). So processes open an environment
 * one after another, and no process commits meanwhile.
 *
 * Every process that may open or write listens on a socket in the folder before it lists the sockets of the others. So of two
 * processes at least one asks the other. A process that is asked answers when it holds its commits, and holds them until the
 * connection closes; the kernel closes it even if the other process is killed. Of two processes that want to open, the one with the
 * smaller token is first, so no two wait for each other. The other one then asks those that came and opened while it waited.
 */

export type OpeningTurnOptions = {
  readonly folder: string
  /** Milliseconds that another process may take to finish its commits. */
  readonly answerWithinMs: number
}

/** Another process that has the environment open did not answer in time. */
export class NoAnswerError extends Error {
  override readonly name = 'NoAnswerError'
}

export class OpeningTurn {
  /** Commits of this process must run in this gate from `end` on. */
  readonly gate = new CommitGate()
  readonly #token = randomBytes(8).toString('hex')
  readonly #sockets: TurnSockets
  #server: Server | undefined
  #phase: 'waiting' | 'opening' | 'open' = 'waiting'
  /** Connections of processes that open while this one holds its commits. */
  readonly #held = new Set<Socket>()
  #onReleased: (() => void) | undefined
  /** Connections of processes that open after this one. */
  #deferred: Socket[] = []
  /** Own connections to the processes that hold their commits. */
  #asked: Socket[] = []

  private constructor(folder: string) {
    this.#sockets = new TurnSockets(folder)
  }

  /** Resolves when this process may open the environment. Rejects with a NoAnswerError. */
  static async take({ folder, answerWithinMs }: OpeningTurnOptions): Promise<OpeningTurn> {
    const turn = new OpeningTurn(folder)
    try {
      await turn.#take(answerWithinMs)
      return turn
    } catch (error) {
      await turn.leave()
      throw error
    }
  }

  /** Lets the next process open the environment, and the others commit again. */
  end(): void {
    this.#phase = 'open'
    for (const socket of this.#asked.splice(0)) socket.destroy()
    for (const socket of this.#deferred.splice(0)) this.#grant(socket)
  }

  /** Call it when this process cannot commit any more. */
  async leave(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server === undefined) return this.#sockets.close(this.#token)
    const closed = new Promise((resolve) => server.close(resolve))
    for (const socket of [...this.#asked, ...this.#deferred, ...this.#held]) socket.destroy()
    this.#sockets.close(this.#token)
    await closed
  }

  async #take(answerWithinMs: number): Promise<void> {
    this.#server = await this.#sockets.listen(this.#token, (socket) => this.#accept(socket))
    const asked = new Set([this.#token])
    // A process that listens after the sockets were listed may open first and then commit, so they are listed again afterwards.
    for (;;) {
      const unasked = this.#sockets.list().filter((token) => !asked.has(token))
      if (unasked.length === 0 && this.#held.size === 0) break
      for (const token of unasked) asked.add(token)
      await Promise.all(unasked.map((token) => this.#ask(token, answerWithinMs)))
      if (this.#held.size > 0) await new Promise<void>((resolve) => (this.#onReleased = resolve))
    }
    this.#phase = 'opening'
    // From now on others may need this process, but it does not need them.
    this.#server.unref()
  }

  /** Resolves when another process holds its commits, or no longer exists. */
  async #ask(token: string, answerWithinMs: number): Promise<void> {
    const deadline = performance.now() + answerWithinMs
    for (;;) {
      const leftMs = deadline - performance.now()
      const isAnswered = await this.#askOnce(token, leftMs)
      if (isAnswered) return
      if (leftMs <= 0) {
        throw new NoAnswerError(`Another process did not answer within ${answerWithinMs} ms.`)
      }
      await sleep(askAgainAfterMs)
    }
  }

  /**
   * Returns false after `withinMs`, or if the connection ends without an answer. The process may have ended then, which the next
   * connection shows. But it may also commit, and have no file descriptor left for a connection.
   */
  #askOnce(token: string, withinMs: number): Promise<boolean> {
    const socket = this.#sockets.connect(token)
    this.#asked.push(socket)
    socket.write(this.#token)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => socket.destroy(), Math.max(withinMs, 0))
      socket.once('data', () => {
        clearTimeout(timer)
        resolve(true)
      })
      socket.once('close', () => {
        clearTimeout(timer)
        resolve(false)
      })
      socket.once('error', (error: NodeJS.ErrnoException) => {
        const code = error.code ?? ''
        if (goneCodes.includes(code)) {
          this.#sockets.removeOld(token)
          resolve(true)
        } else if (!endedCodes.includes(code)) reject(error)
      })
    })
  }

  #accept(socket: Socket): void {
    socket.on('error', () => socket.destroy())
    let token = ''
    socket.on('data', (bytes) => {
      token += bytes.toString('latin1')
      if (token.length < this.#token.length) return
      socket.removeAllListeners('data').resume()
      const isFirst = this.#phase === 'waiting' && token < this.#token
      if (this.#phase === 'open' || isFirst) this.#grant(socket)
      else this.#deferred.push(socket)
    })
  }

  #grant(socket: Socket): void {
    if (socket.destroyed) return
    this.#held.add(socket)
    socket.on('close', () => {
      this.#held.delete(socket)
      this.gate.release()
      this.#onReleased?.()
    })
    void this.gate.hold().then(() => {
      if (!socket.destroyed) socket.write(heldAnswer)
    })
  }
}

const heldAnswer = 'h'
/** Errors of a connection to a socket on which no process listens. */
const goneCodes = ['ECONNREFUSED', 'ENOENT']
/** Errors of a connection that the other process, or its end, has closed. */
const endedCodes = ['ECONNRESET', 'EPIPE']
const askAgainAfterMs = 5
